"""How many rows each reason took out: what ``funnel.json`` holds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from torl.problems.reasons import DropReason


@dataclass(frozen=True, kw_only=True)
class FilterSettings:
    """What a user may choose about the filter."""

    max_prompt_tokens: int | None = None
    """Token budget of the prompt; ``None`` leaves the rule out."""
    keep_overlap: bool = False
    """Keep problems that overlap with a benchmark; the hits are listed all the same."""


@dataclass(frozen=True, kw_only=True)
class Funnel:
    """Where the rows went."""

    counts_N_S: np.ndarray
    """Rows by reason, in the order of ``DropReason``, and by source; the last line is what was kept."""
    sources: Sequence[str]
    hits: Sequence[Mapping[str, object]]
    """Rows of ``OVERLAP_SCHEMA``."""
    settings: FilterSettings

    @property
    def rows(self) -> int:
        """Rows read."""
        return int(self.counts_N_S.sum())

    @property
    def kept(self) -> int:
        """Problems in the pool."""
        return int(self.counts_N_S[-1].sum())

    def to_json(self) -> dict[str, Any]:
        """Counts by source and reason, in the order of the reasons; each step says how many rows it left."""
        left, steps = self.rows, []
        for reason, counts_S in zip(DropReason, self.counts_N_S, strict=False):
            left -= int(counts_S.sum())
            steps.append(
                {
                    "reason": str(reason),
                    "sentence": reason.sentence,
                    "dropped": int(counts_S.sum()),
                    "dropped_by_source": self._by_source(counts_S),
                    "left": left,
                }
            )
        overlap = Counter((str(hit["benchmark"]), str(hit["kind"])) for hit in self.hits)
        return {
            "rows": self.rows,
            "rows_by_source": self._by_source(self.counts_N_S.sum(axis=0)),
            "steps": steps,
            "kept": self.kept,
            "kept_by_source": self._by_source(self.counts_N_S[-1]),
            "overlap": [
                {"benchmark": benchmark, "kind": kind, "problems": count}
                for (benchmark, kind), count in sorted(overlap.items())
            ],
            "settings": asdict(self.settings),
        }

    def text(self) -> str:
        """Lines of text: rows read, rows dropped for each reason with what is left, rows kept."""
        funnel = self.to_json()
        lines = [f"{'rows read':<22}{funnel['rows']:>9,}"]
        for step in funnel["steps"]:
            if step["dropped"]:
                lines.append(f"{step['reason']:<22}{-step['dropped']:>9,}{step['left']:>12,} left   {step['sentence']}")
        return "\n".join([*lines, f"{'kept':<22}{funnel['kept']:>9,}"])

    def _by_source(self, counts_S: np.ndarray) -> dict[str, int]:
        return {name: int(count) for name, count in zip(self.sources, counts_S, strict=True) if count}
