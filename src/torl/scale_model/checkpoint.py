"""Where an interrupted pretraining goes on, with the same weights in the end as one that was never interrupted."""

import hashlib
import json
from array import array
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from torl.files import atomic_path
from torl.scale_model.packing import Example
from torl.scale_model.settings import Settings

State = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """The file of one training; a file of another one is not read."""

    path: Path
    key: str
    """What the training depends on (``fingerprint``)."""

    def load(self) -> State | None:
        """The state that was saved last; None where there is none of this training."""
        if not self.path.exists():
            return None
        state = torch.load(self.path, weights_only=True)
        return state if state["key"] == self.key else None

    def save(self, state: State) -> None:
        """Keep ``state`` in place of the one before."""
        with atomic_path(self.path) as temporary:
            torch.save(state | {"key": self.key}, temporary)

    def remove(self) -> None:
        """Forget the training: it has ended."""
        self.path.unlink(missing_ok=True)


def fingerprint(rows: Sequence[Sequence[Example]], settings: Settings) -> str:
    """A hash of what decides the weights: the settings, every token in its row, and the version of torch."""
    digest = hashlib.sha256(json.dumps([asdict(settings), torch.__version__], sort_keys=True).encode())
    for row in rows:
        for example in row:
            digest.update(array("i", example.ids).tobytes() + bytes(example.learned))
        digest.update(b"|")
    return digest.hexdigest()
