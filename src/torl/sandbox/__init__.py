"""The tool of tool-integrated RL: a server that runs Python snippets in isolation, a client, and a launcher.

Speaks SandboxFusion's HTTP contract, so that either side can be exchanged for the original. Knows nothing of
mathematics.

Differs from ToRL: comes up by itself instead of at an address edited into the source, isolates every snippet, and tells
a snippet that failed (data, shown to the model) from a sandbox that failed (never shown, never rewarded).
"""

from torl.rollout.trajectory import CallOutcome
from torl.sandbox.client import Execution, FailureAlarm, SandboxClient
from torl.sandbox.launcher import running_sandbox, sandboxes
from torl.sandbox.observation import observation_text

__all__ = [
    "CallOutcome",
    "Execution",
    "FailureAlarm",
    "SandboxClient",
    "observation_text",
    "running_sandbox",
    "sandboxes",
]
