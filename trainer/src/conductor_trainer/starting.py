"""Starts and ends programs; one that cannot start says why, and what to do, in one sentence.

A program must therefore import packages that may be missing only within `start`.
"""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from conductor_trainer.errors import TrainerError


class CannotStart(Exception):
    """The reason why a program cannot start, and the remedy."""


def start(name: str, main: Callable[[], None]) -> None:
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except ModuleNotFoundError as error:
        sys.exit(f"{name} cannot start: {explain_missing(error)}")
    except (CannotStart, TrainerError, OSError, RuntimeError, ValueError) as error:
        # Messages of libraries can have several paragraphs.
        sentence = str(error).strip().partition("\n")[0]
        sys.exit(f"{name} cannot start: {sentence or type(error).__name__}")


def explain_missing(error: ModuleNotFoundError) -> str:
    """Says which package is not installed, and how to install it."""
    package = (error.name or "").partition(".")[0]
    prepare = Path(__file__).parents[3] / "scripts" / "prepare-trainer.mjs"
    if prepare.exists():
        remedy = f'run "node {prepare}" once, and use the Python whose path it prints'
    else:
        remedy = f'run "{sys.executable} -m pip install temporal-conductor-trainer" again, with'
        remedy += " the packages that it needs"
    return f"the Python package {package} is not installed for {sys.executable}: {remedy}"


def listen(host: str, port: int) -> socket.socket:
    """Binds a server's address before imports that take seconds. Raises `CannotStart`."""
    try:
        # A cycle begins with a burst of connections.
        return socket.create_server((host, port), backlog=256)
    except OSError as error:
        # Python appends the address in brackets.
        why = (error.strerror or str(error)).partition(" (while")[0]
        raise CannotStart(
            f"it cannot listen at {host}:{port} ({why}): stop the program that does, or choose "
            "another address with --host and --port"
        ) from error


def free_port() -> int:
    """Returns a free port, for a program that must be told its port when it starts."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def end_with_stdin() -> None:
    """Sends this process SIGTERM when stdin ends, as it does when its parent process ends."""

    def wait() -> None:
        # A read from a socket fails if the other end closed with unread data.
        with suppress(ConnectionResetError):
            while os.read(0, 1024):
                pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
