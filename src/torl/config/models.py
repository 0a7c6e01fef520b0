"""What may be configured: one frozen model a section, one sentence a field.

A ``RunConfig`` is what one experiment at one scale runs with. Unknown keys, wrong types and impossible combinations are errors.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from torl.errors import ConfigError
from torl.quirks import GradingQuirk, RewardQuirk, RolloutQuirk
from torl.rollout.protocol import Protocol

Positive = Annotated[int, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """Base of every section: frozen, no unknown keys, field docstrings as descriptions."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, strict=True, allow_inf_nan=False
    )


class ModelConfig(Section):
    """The policy that training starts from."""

    base: str
    """Hub id or folder of the base model; "scale-model" is the small one that the workflow trains itself."""
    revision: str | None = None
    """Commit, tag or branch of the base on the hub; null is its default branch."""
    pretrain_documents: Positive | None = None
    """Documents in the corpus of the scale model, of no effect on other bases; null is its recipe's number."""
    pretrain_steps: Positive | None = None
    """Optimizer steps of the scale model's own training, of no effect on other bases; null is one pass over the corpus."""

    @property
    def is_scale_model(self) -> bool:
        """Whether the base is the small model that the workflow trains."""
        return self.base == "scale-model"


class DataConfig(Section):
    """Which problems are trained on."""

    sources: Annotated[list[str], Field(min_length=1)]
    """Names in config/sources.yaml that the pool is made of."""
    generate: Positive | None = None
    """Problems to generate from each generated source; null for sources that are read."""
    overlap_with: list[str] = []
    """Names in config/sources.yaml of benchmarks that problems are compared with, besides those that are evaluated."""
    selection: Literal["lim", "pass_rate", "random", "all"]
    """How the pool becomes the training set: learning impact, a band of pass rates, a random subset, or all of it."""
    scores: str | None = None
    """File of published learning-impact scores, relative to data_dir; null takes those of the experiment `probe`."""
    pass_rates: str | None = None
    """File of passes and samples of each problem, or of graded responses, relative to data_dir; null samples the base."""
    pass_rate_samples: Positive = 8
    """Responses of the base model to each problem of the pool, from which its pass rate is taken."""
    pass_rate_band: Annotated[list[Share], Field(min_length=2, max_length=2)] = [0.125, 0.875]
    """Lowest and highest pass rate that 'pass_rate' keeps, both included."""
    minimum_score: float | None = None
    """Keep problems with at least this learning impact (the release: 0.6)."""
    count: Positive | None = None
    """Keep this many problems (the paper: 28,740), or at most so many of those that minimum_score or the band keeps."""
    keep_overlap: bool = False
    """Keep problems that also occur in a benchmark; the paper does not say what it did."""

    @model_validator(mode="after")
    def _selection_is_complete(self) -> Self:
        if self.selection == "lim" and self.minimum_score is None and self.count is None:
            raise ValueError("selection 'lim' needs minimum_score or count; set one of them")
        if self.selection == "random" and self.count is None:
            raise ValueError("selection 'random' needs count; set how many problems to draw")
        if self.pass_rate_band[0] > self.pass_rate_band[1]:
            raise ValueError(f"pass_rate_band {self.pass_rate_band} is empty; write the lower rate first")
        return self


class RolloutConfig(Section):
    """How a response is made."""

    prompt: str
    """Name of the prompt (torl.rollout.prompts)."""
    protocol: Protocol
    """How the model calls the tool: the name of a file in config/protocols, the path of one, or its content; default torl."""
    max_tool_calls: Annotated[int, Field(ge=0, le=16)]
    """C of the paper: how often a response may have code executed; 0 is training without a tool."""
    max_prompt_tokens: Positive
    """Longest prompt; problems over this minus 10 are left out, as in the release."""
    max_response_tokens: Positive
    """Longest response, observations included."""
    max_observation_characters: Annotated[int, Field(ge=16)] = 256
    """Observations of this length or more keep their first and last 128 characters."""
    mask_observations: bool = True
    """Whether observation tokens are left out of the loss."""
    temperature: Annotated[float, Field(ge=0)] = 1.0
    """Sampling temperature in training."""
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Nucleus sampling in training; 1 is off."""
    quirks: list[Annotated[RolloutQuirk, Field(strict=False)]] = []
    """Oddities of the release's tool loop to switch on (torl.quirks)."""

    @model_validator(mode="after")
    def _quirks_fit(self) -> Self:
        if RolloutQuirk.SILENT_MARKER in self.quirks and RolloutQuirk.RETOKENISATION not in self.quirks:
            raise ValueError(
                "quirk 'silent_marker' takes the marker out of the text; it needs quirk 'retokenisation', add that too"
            )
        return self


class RewardConfig(Section):
    """What a response earns."""

    penalty: Literal["none", "paper", "release"] = "none"
    """Penalty on code: none; paper = a response with a failed call; release = no successful call, code or not."""
    penalty_value: Annotated[float, Field(le=0)] = -0.5
    """Added to the reward of a penalised response."""
    type: Literal["default", "v2.wformat"] = "default"
    """Reward of an answer, by the release's names: default = +1 or -1; v2.wformat = -0.5 for a wrong answer in a box."""
    quirks: list[Annotated[RewardQuirk, Field(strict=False)]] = []
    """Oddities of the release's reward to switch on (torl.quirks); of effect with penalty 'release' alone."""


class GradingConfig(Section):
    """How an answer is judged."""

    quirks: list[Annotated[GradingQuirk, Field(strict=False)]] = []
    """Oddities of the release's grading to switch on (torl.quirks)."""
    rules_off: list[str] = []
    """Rules of the grading policy to switch off (docs/grading.md)."""

    @model_validator(mode="after")
    def _rules_are_known(self) -> Self:
        if not self.rules_off:
            return self
        if GradingQuirk.UNDELIMITED in self.quirks:
            raise ValueError(
                "rules_off has no effect on the release's grader; leave out rules_off or quirk 'undelimited'"
            )
        from torl.grading.rules import Policy  # brings mpmath, which few configurations need

        try:
            Policy.from_names(self.rules_off)
        except ConfigError as error:
            raise ValueError(str(error)) from error
        return self


class TrainConfig(Section):
    """GRPO through verl."""

    steps: Positive
    """Optimizer steps; one step is one batch of rollouts and one update."""
    epochs: Positive | None = None
    """Whole passes over the selected problems, in place of `steps`, which follows once it is known how many there are."""
    prompts_per_step: Positive
    """Problems in a batch."""
    responses_per_prompt: Annotated[int, Field(ge=2)]
    """Group size n of GRPO."""
    learning_rate: Annotated[float, Field(gt=0)]
    """Learning rate of AdamW."""
    learning_rate_end: Share = 1.0
    """Share of the learning rate that is left at the last step of a cosine decay; 1 keeps it constant."""
    save_every: Positive
    """A checkpoint is saved after this many steps and after the last."""
    keep_checkpoints: Positive = 2
    """Checkpoints with optimizer state that are kept for resuming; the weights of evaluated steps stay in any case."""


class ComputeConfig(Section):
    """What the jobs run on."""

    platform: Literal["cpu", "cuda"]
    """Device of the trainer."""
    engine: Literal["transformers", "vllm"]
    """Model server of rollout and evaluation."""
    nodes: Positive = 1
    """Machines of one training job; above 1 the job joins the Ray cluster at RAY_ADDRESS."""
    gpus_per_node: Positive = 1
    """GPUs of each machine; on the CPU platform the number of trainer processes."""
    threads: Positive = 1
    """CPU threads of each trainer and server process, and cores that Snakemake counts for a training job."""
    max_tokens_per_gpu: Positive = 16_384
    """Tokens in a micro-batch of the update."""
    rollout_memory: Share = 0.85
    """Share of GPU memory for vLLM."""
    tensor_parallel: Positive = 1
    """GPUs that share one copy of the rollout model."""
    problem_shards: Positive = 1
    """Jobs that the rows of the problem sets are shared among while each is checked; any number gives the same pool."""
    agent_workers: Positive = 8
    """Processes that run tool loops."""
    stop_margin_seconds: Annotated[float, Field(ge=0)] = 900.0
    """A training job stops and saves this long before its time limit; more than one step and one checkpoint take."""

    @model_validator(mode="after")
    def _engine_fits_platform(self) -> Self:
        if self.platform == "cuda" and self.engine == "transformers":
            raise ValueError("platform 'cuda' needs engine 'vllm'; 'transformers' serves the CPU platform only")
        return self


class SandboxConfig(Section):
    """Where code runs."""

    url: str | None = None
    """Address of a running sandbox (SandboxFusion's contract), or folder:PATH for all that are announced there; null starts
    one inside each job."""
    workers: Positive = 2
    """Snippets that a started sandbox runs at once."""
    timeout_seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    """Time-out of one snippet, counted from the start of its execution."""
    allow_unsafe: bool = False
    """Run snippets with resource limits only where the machine offers no isolation."""


class EvaluationConfig(Section):
    """How checkpoints are measured."""

    benchmarks: Annotated[list[str], Field(min_length=1)]
    """Names in config/sources.yaml."""
    generate: Positive | None = None
    """Problems to generate for a generated benchmark."""
    every: Positive
    """A checkpoint is evaluated after each multiple of this many steps; a multiple of train.save_every. Step 0 always is."""
    samples: Positive = 1
    """Responses per question."""
    temperature: Annotated[float, Field(ge=0)] = 0.0
    """Sampling temperature; 0 is greedy, the paper's protocol."""
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Nucleus sampling; 1 is off."""
    max_prompt_tokens: Positive = 1024
    """Longest prompt; questions over this minus 10, the release's bound, are not asked and count as wrong."""
    limit: Positive | None = None
    """Questions taken from each benchmark, in its own order; null is all."""
    concurrency: Positive = 256
    """Trajectories in flight at once."""

    @model_validator(mode="after")
    def _greedy_once(self) -> Self:
        if self.temperature == 0 and self.samples > 1:
            raise ValueError(
                "temperature 0 gives the same response every time; set samples to 1 or temperature above 0"
            )
        return self


class RunConfig(Section):
    """Everything one experiment at one scale runs with."""

    scale: str
    """Name of the scale (config/scales)."""
    experiment: str
    """Name of the experiment (config/experiments.yaml)."""
    description: str
    """One sentence: what the experiment changes and why."""
    seed: Annotated[int, Field(ge=0, lt=2**31)]
    """Seed of everything random: generated problems, the scale model, rollouts, evaluation."""
    model: ModelConfig
    data: DataConfig
    rollout: RolloutConfig
    reward: RewardConfig = RewardConfig()
    grading: GradingConfig = GradingConfig()
    train: TrainConfig
    compute: ComputeConfig
    sandbox: SandboxConfig = SandboxConfig()
    evaluation: EvaluationConfig

    @model_validator(mode="after")
    def _sections_fit(self) -> Self:
        if self.rollout.max_tool_calls == 0 and self.reward.penalty != "none":
            raise ValueError(
                f"reward.penalty is {self.reward.penalty!r} with rollout.max_tool_calls 0: without calls no code can fail; "
                "set reward.penalty to none or max_tool_calls above 0"
            )
        if self.train.save_every > self.train.steps:
            raise ValueError(
                f"train.save_every {self.train.save_every} is above train.steps {self.train.steps}; set it to at most that"
            )
        if self.compute.nodes > 1 and self.sandbox.url is None:
            raise ValueError(
                f"compute.nodes is {self.compute.nodes} with sandbox.url null: a sandbox started by the job is on one machine; "
                "start one that all nodes reach, or one on each with slurm/sandboxes.sh, and set sandbox.url"
            )
        if self.evaluation.every % self.train.save_every:
            raise ValueError(
                f"evaluation.every {self.evaluation.every} is no multiple of train.save_every {self.train.save_every}; "
                "only saved checkpoints can be evaluated"
            )
        return self

    @property
    def evaluated_steps(self) -> list[int]:
        """Steps whose policy is exported and evaluated, in order: 0, each multiple of ``evaluation.every``, and the last.

        Only 0 where epochs are counted: the last step is not known before the problems are selected.
        """
        if self.train.epochs:
            return [0]
        return sorted({*range(0, self.train.steps + 1, self.evaluation.every), self.train.steps})

    @property
    def kept_steps(self) -> list[int]:
        """Steps whose weights are kept, in order: those that are evaluated, and the last."""
        return sorted({*self.evaluated_steps, self.train.steps})

    def for_problems(self, problems: int) -> Self:
        """This configuration with the number of steps that ``train.epochs`` passes over so many problems take.

        Raises:
            ValueError: one batch needs more problems than there are.
        """
        if problems < self.train.prompts_per_step:
            raise ValueError(
                f"{problems} problems make no batch of train.prompts_per_step {self.train.prompts_per_step}; lower that, or "
                "select more problems"
            )
        if self.train.epochs is None:
            return self
        steps = self.train.epochs * (problems // self.train.prompts_per_step)
        train = self.train.model_copy(update={"steps": steps, "save_every": min(self.train.save_every, steps)})
        return self.model_copy(update={"train": train})


class Settings(Section):
    """config/config.yaml: what this invocation of the workflow is to do."""

    scale: str = "demo"
    """Name of the scale (config/scales)."""
    experiments: Annotated[list[str], Field(min_length=1)] = ["torl", "no_tool"]
    """Experiments that `all` runs and its report compares."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 1
    """Seed of everything random."""
    data_dir: str | None = None
    """Folder that the files of local sources are relative to; null where no source is local."""
    overrides: dict[str, object] = {}
    """Values laid over scale and experiment last, in the same shape; for trying something once."""
