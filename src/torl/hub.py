"""The Hugging Face hub: what is fetched from it, and its errors with their cures.

HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE are respected; a broken download goes on where it stopped.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from huggingface_hub import snapshot_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from torl.errors import DataError
from torl.files import write_json

MODEL_FILES = ["*.json", "*.safetensors", "*.txt", "tokenizer*"]


@contextmanager
def hub_errors(what: str) -> Iterator[None]:
    """Turn every way in which the hub can refuse ``what`` into a ``DataError`` with its cure."""
    try:
        yield
    except GatedRepoError as error:
        raise DataError(
            f"{what}: access is gated. Accept its terms on its page of the hub, then set HF_TOKEN to a token of that account."
        ) from error
    except RepositoryNotFoundError as error:
        raise DataError(f"{what}: does not exist, or is private. Correct its name, or set HF_TOKEN.") from error
    except RevisionNotFoundError as error:
        raise DataError(
            f"{what}: no such revision; it was moved or deleted. Look up the commits on the hub and set one of them."
        ) from error
    except (LocalEntryNotFoundError, OfflineModeIsEnabled) as error:
        raise DataError(
            f"{what}: not in the cache and the hub cannot be reached ({_first_line(error)}). Run once with a network and "
            "HF_HUB_OFFLINE unset, check HF_ENDPOINT, or use a copy on this machine."
        ) from error
    except EntryNotFoundError as error:
        raise DataError(f"{what}: there is no such file. Correct its path.") from error
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
        raise DataError(
            f"{what}: the hub cannot be reached ({_first_line(error)}). Check the network, its proxy and HF_ENDPOINT."
        ) from error
    except (HfHubHTTPError, httpx.HTTPError, OSError) as error:
        raise DataError(
            f"{what}: the download broke off ({_first_line(error)}). Run again: it goes on where it stopped."
        ) from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def fetch_model(model: str, revision: str | None, folder: Path) -> None:
    """Fill ``folder`` with the files of a model; ``base.json``, written last, says which commit they are.

    Raises:
        DataError: the model cannot be had.
    """
    with hub_errors(f"{model} at revision {revision or 'default'}"):
        snapshot = Path(snapshot_download(model, revision=revision, allow_patterns=MODEL_FILES))
        snapshot_download(model, revision=snapshot.name, allow_patterns=MODEL_FILES, local_dir=folder)
    write_json(folder / "base.json", {"model": model, "revision": snapshot.name})
