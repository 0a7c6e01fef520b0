"""The one version of verl that the plug-ins fit."""

import importlib.metadata

from torl.errors import TrainerError

VERL_VERSION = "0.9.1"


def require_verl() -> None:
    """Refuse a verl that the plug-ins were not written for; nothing of it is imported.

    Raises:
        TrainerError: verl is absent or of another version.
    """
    try:
        found = importlib.metadata.version("verl")
    except importlib.metadata.PackageNotFoundError:
        found = "absent"
    if found != VERL_VERSION:
        raise TrainerError(f"verl is {found}, the plug-in fits {VERL_VERSION} only; pip install verl=={VERL_VERSION}.")
