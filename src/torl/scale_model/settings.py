"""What the weights of the scale model depend on."""

from dataclasses import dataclass, field

from torl.scale_model.corpus import CorpusMix


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that the weights depend on, besides the versions of the libraries and the machine."""

    seed: int = 1
    """Of the corpus, the first weights and the order of the documents."""
    threads: int = 2
    """Threads of matrix products; another count gives other weights."""
    documents: int = 40_000
    """Documents in the corpus; each is seen once."""
    steps: int | None = None
    """Optimizer steps at most; None for as many as the documents fill."""
    mix: CorpusMix = field(default_factory=CorpusMix)
    """Shares of the kinds of documents."""
    entries: int = 704
    """Entries of the vocabulary: enough that every frequent word of the problems is one token."""
    tokenizer_documents: int = 8_000
    """Documents that the tokenizer is learned on."""
    hidden: int = 128
    """Width of the model."""
    intermediate: int = 384
    """Width of the feed-forward layers."""
    layers: int = 4
    """Decoder layers."""
    heads: int = 4
    """Attention heads of a layer."""
    row_tokens: int = 192
    """Length of a row of packed documents."""
    rows: int = 8
    """Rows of one optimizer step."""
    matrix_rate: float = 0.02
    """Muon's learning rate, for the matrices inside the layers."""
    other_rate: float = 3e-3
    """AdamW's learning rate, for embeddings, biases and norms."""
    warmup_steps: int = 60
    """Steps of linear warm-up; the rate then falls linearly to zero."""
    clip: float = 1.0
    """Largest norm of the gradient."""
