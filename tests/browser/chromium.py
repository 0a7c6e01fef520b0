"""A headless Chromium that is spoken to through a pipe: no port, no driver, no network."""

import base64
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking "
    "--host-resolver-rules=MAP\\ *\\ ~NOTFOUND --remote-debugging-pipe"
)


class Browser:
    """One tab. ``events`` holds everything that the browser reported meanwhile."""

    def __init__(self, commands: int, answers: int) -> None:
        self._out = os.fdopen(commands, "wb", buffering=0)
        self._in = os.fdopen(answers, "rb")
        self._number = 0
        self._session: str | None = None
        self._rest = b""
        self.events: list[dict[str, Any]] = []

    def open_tab(self) -> None:
        """Attach to a fresh tab and listen to its requests and messages."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its result; events that come first are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def show(self, page: Path, width: int = 1280, scheme: str = "light") -> None:
        """Load a file at a window width and wait until it is there."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.call("Page.navigate", url=page.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def pdf(self) -> bytes:
        """The page as it prints."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])

    def screenshot(self) -> bytes:
        """The whole page as PNG."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def requests(self) -> list[str]:
        """Addresses that the page asked for."""
        sent = [event["params"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [parameters["request"]["url"] for parameters in sent]

    def complaints(self) -> list[str]:
        """Errors and warnings of the console, policy violations and uncaught exceptions."""
        found = []
        for event in self.events:
            if event.get("method") == "Log.entryAdded":
                found.append(event["params"]["entry"]["text"])
            elif event.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                found.append(json.dumps(event["params"]))
        return found

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            block = self._in.read1(65_536)
            assert block, "the browser has gone"
            self._rest += block
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Start Chromium with an empty profile, and end it afterwards."""
    command_read, command_write = os.pipe()
    answer_read, answer_write = os.pipe()
    line = f"exec {shlex.quote(str(PROGRAM))} {FLAGS} --user-data-dir={shlex.quote(str(profile))} about:blank"
    process = subprocess.Popen(
        ["bash", "-c", f"{line} 3<&{command_read} 4>&{answer_write}"],
        pass_fds=(command_read, answer_write),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(command_read)
    os.close(answer_write)
    try:
        tab = Browser(command_write, answer_read)
        tab.open_tab()
        yield tab
    finally:
        process.terminate()
        process.wait(timeout=30)
