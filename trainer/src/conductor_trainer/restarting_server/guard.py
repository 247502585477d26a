"""Runs a command that must not outlive whoever started it, not even where that was killed.

`python -m conductor_trainer.restarting_server.guard GRACE COMMAND…`: when stdin ends, which it does
with the process at its other end, the command and all it started get SIGTERM, and GRACE seconds
later SIGKILL. PR_SET_PDEATHSIG would not do: it comes when a thread ends, and to nobody below.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

_LINES_TOLD = 6

_LAST_LINES = 5.0
"""Seconds to wait for them, where a process that has left its group holds on to the pipe."""


class GuardedProcess:
    """A command below a guard, whose output is passed on to stderr."""

    def __init__(self, command: Sequence[str], grace: float) -> None:
        """`grace` is the seconds from SIGTERM to SIGKILL."""
        self._guard = subprocess.Popen(
            [sys.executable, "-m", __name__, str(grace), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            # A Ctrl-C is for the program in front, which then stops the guard in its own way.
            start_new_session=True,
        )
        self._said: deque[str] = deque(maxlen=_LINES_TOLD)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def status(self) -> int | None:
        """Its exit status when it has ended; 128 and the signal where one killed it."""
        return self._guard.poll()

    def stop(self) -> str:
        """Ends it and all that it started, and returns what it said last. Blocks."""
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        self._guard.wait()
        self._listener.join(_LAST_LINES)
        return " | ".join(self._said)

    def _listen(self) -> None:
        for line in self._guard.stdout or ():
            print(line, end="", file=sys.stderr, flush=True)
            if line.strip():
                self._said.append(line.strip())


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
    """Ends when the command does, and leaves nothing of it behind."""
    status = process.wait()
    _signal_group(process, signal.SIGKILL)
    os._exit(status if status >= 0 else 128 - status)


def _signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


if __name__ == "__main__":
    main()
