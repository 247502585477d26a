"""Runs a command that must not outlive the process that started it, even if that is killed.

`python -m conductor_trainer.restarting_server.guard GRACE COMMAND…`: when stdin ends, as it does
when the process at its other end ends, the command's process group gets SIGTERM, and GRACE seconds
later SIGKILL. PR_SET_PDEATHSIG does not suffice: it fires when a thread ends, and only for a child.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

_LINES_TOLD = 6

_ERROR = re.compile(r"^(?:\(.*?\) )?(?:ERROR .*?\] )?([\w.]+(?:Error|Exception): .+)")
"""The end of a traceback in Python, perhaps behind what vLLM's log puts before it."""

_LAST_LINES = 5.0
"""Seconds to wait for the last lines if a process that left the group holds the pipe open."""


class GuardedProcess:
    """A command that runs under a guard; its output is forwarded to stderr."""

    def __init__(self, command: Sequence[str], grace: float, label: str = "") -> None:
        """`grace` is the seconds from SIGTERM to SIGKILL; `label` precedes each forwarded line."""
        self._label = label
        self._guard = subprocess.Popen(
            [sys.executable, "-m", __name__, str(grace), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            # Keeps Ctrl-C to the foreground program, which then stops the guard itself.
            start_new_session=True,
        )
        self._said: deque[str] = deque(maxlen=_LINES_TOLD)
        self._first_error: str | None = None
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def status(self) -> int | None:
        """Returns its exit status (128 plus the signal if one killed it), or None while it runs."""
        return self._guard.poll()

    def wait(self) -> int:
        """Waits until it has ended, and returns its exit status."""
        return self._guard.wait()

    def stop(self) -> str:
        """Ends the command and all that it started. Blocks.

        Returns the first error that it told, since later ones follow from it, else its last lines.
        """
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        self._guard.wait()
        self._listener.join(_LAST_LINES)
        return self._first_error or " | ".join(self._said)

    def _listen(self) -> None:
        for line in self._guard.stdout or ():
            tell(self._label + line.rstrip("\n"))
            if self._first_error is None and (found := _ERROR.match(line)) is not None:
                self._first_error = found[1]
            if line.strip():
                self._said.append(line.strip())


def tell(line: str) -> None:
    """Writes a line to stderr. Whoever read there may have ended, which must stop no server."""
    with suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def main() -> None:
    grace, *command = sys.argv[1:]
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
    except OSError as error:
        sys.exit(f"{command[0]} cannot be started: {error}")
    threading.Thread(target=_end_with, args=(process,)).start()
    os.read(0, 1)
    _signal_group(process, signal.SIGTERM)
    time.sleep(float(grace))
    _signal_group(process, signal.SIGKILL)


def _end_with(process: "subprocess.Popen[bytes]") -> None:
    """Exits with the command's status when it ends, and kills the rest of its process group."""
    status = process.wait()
    _signal_group(process, signal.SIGKILL)
    os._exit(status if status >= 0 else 128 - status)


def _signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


if __name__ == "__main__":
    main()
