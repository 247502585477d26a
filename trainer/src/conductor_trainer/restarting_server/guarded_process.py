"""A command whose processes end when they are told to, or when this one does, whichever way."""

import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread

_GUARD = (sys.executable, "-m", "conductor_trainer.restarting_server.guard")

_LINES_TOLD = 6
"""The last lines of a failed program; a Python error ends with what went wrong."""

_LAST_LINES = 5.0
"""Seconds to wait for them, where a process that has left its group holds on to the pipe."""


class GuardedProcess:
    """A command below `guard`, whose output is passed on to stderr."""

    def __init__(self, command: Sequence[str], grace: float) -> None:
        """`grace` is the seconds from SIGTERM to SIGKILL."""
        self._guard = subprocess.Popen(
            [*_GUARD, str(grace), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            # A Ctrl-C is for the program in front, which then stops the guard in its own way.
            start_new_session=True,
        )
        self._said: deque[str] = deque(maxlen=_LINES_TOLD)
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    def ends_within(self, seconds: float) -> bool:
        """Waits that long at most."""
        with suppress(subprocess.TimeoutExpired):
            self._guard.wait(seconds)
        return self._guard.returncode is not None

    def status(self) -> int | None:
        """Its exit status when it has ended; 128 and the signal where one killed it."""
        return self._guard.returncode

    def stop(self) -> None:
        """Ends it and all that it started, and waits until they are gone."""
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        self._guard.wait()

    def last_words(self) -> str:
        """The end of what it said, once it has ended."""
        self._listener.join(_LAST_LINES)
        return " | ".join(self._said)

    def _listen(self) -> None:
        for line in self._guard.stdout or ():
            print(line, end="", file=sys.stderr, flush=True)
            if line.strip():
                self._said.append(line.strip())
