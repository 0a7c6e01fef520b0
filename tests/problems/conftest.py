"""Fixtures of the tests about problems."""

from collections.abc import Iterator

import pytest
from huggingface_hub import constants

from tests.problems.hub import LINE, LONG, Hub, serve


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with a small file, a long one and a gated data set; huggingface_hub talks to it."""
    files = {
        ("me/set", "main", "a.jsonl"): LINE,
        ("me/set", "main", "data/long.jsonl"): LONG,
        ("me/gated", "main", "a.jsonl"): LINE,
    }
    with serve(Hub(files=files, gated={"me/gated"})) as running:
        template = running.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "ENDPOINT", running.url)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        yield running
