"""The server behind this one: one process, for one model, started anew for another."""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from socket import create_server
from threading import Lock
from typing import TYPE_CHECKING

import httpx

from conductor_trainer.http_answers import ApiError
from conductor_trainer.restarting_server.guarded_process import GuardedProcess

if TYPE_CHECKING:
    # What it imports is missing where this runs in the environment of vLLM alone.
    from conductor_trainer.locate import Locate

_BETWEEN_LOOKS = 0.2
"""Seconds; nothing beside what a server takes to start."""

_END_AFTER = 5.0
"""Seconds that a process may take to end after its connections have broken."""


@dataclass(frozen=True, eq=False)
class WholeModel:
    """A folder by a name. Loaded again it is another one, since the folder may hold another."""

    name: str
    folder: Path


@dataclass(frozen=True)
class _Running:
    model: WholeModel
    url: str
    process: GuardedProcess


class InnerServer:
    """Starts the command for one model after the other, never two at a time."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        start_limit: float,
        grace: float,
        locate: "Locate" = nullcontext,
    ) -> None:
        """`command` has `{model}`, `{folder}` and `{port}` in it; both times are in seconds.

        `locate` has a model's folder lie in one while the command starts, which reads it then.
        """
        self._command = command
        self.locate = locate
        self._start_limit = start_limit
        self._grace = grace
        self._turn = Lock()
        self._running: _Running | None = None
        self._starts = 0
        self._failure: ApiError | None = None
        self._is_closed = False

    def serve(self, model: WholeModel) -> str:
        """The URL at which the model is served, now that it is. Raises `ApiError` 503.

        Who waited while a start failed shares in its failure; whoever comes later tries again.
        """
        starts_seen = self._starts
        with self._turn:
            running = self._running
            if (
                running is not None
                and running.model is model
                and not running.process.ends_within(0)
            ):
                return running.url
            if self._starts > starts_seen and self._failure is not None:
                raise self._failure
            self._starts += 1
            self._failure = None
            self._stop()
            try:
                return self._start(model)
            except ApiError as error:
                self._failure = error
                raise

    def has_ended(self, url: str) -> bool:
        """Whether what served at a URL is gone; a broken connection may be seen before the end."""
        running = self._running
        return running is None or running.url != url or running.process.ends_within(_END_AFTER)

    def close(self) -> None:
        """Stops what runs, also in the midst of its start, for good."""
        self._is_closed = True
        with self._turn:
            self._stop()

    def _start(self, model: WholeModel) -> str:
        with self.locate(model.folder) as folder:
            return self._start_on(folder, model)

    def _start_on(self, folder: Path, model: WholeModel) -> str:
        port = _free_port()
        fields = {"{model}": model.name, "{folder}": str(folder), "{port}": str(port)}
        process = GuardedProcess([_fill(word, fields) for word in self._command], self._grace)
        self._running = _Running(model, f"http://127.0.0.1:{port}", process)
        problem = self._wait_until_ready(self._running)
        if problem is None:
            return self._running.url
        self._stop()
        raise ApiError(
            503,
            "ServiceUnavailableError",
            f"The server for `{model.name}` {problem}. The next request starts it again. It said "
            f"last: {process.last_words() or 'nothing'}",
        )

    def _wait_until_ready(self, running: _Running) -> str | None:
        """What went wrong, if anything did."""
        deadline = time.monotonic() + self._start_limit
        with httpx.Client(trust_env=False) as client:
            while not _is_healthy(client, running.url):
                if running.process.ends_within(_BETWEEN_LOOKS):
                    return f"ended with status {running.process.status()}"
                if time.monotonic() > deadline:
                    return f"was not ready after {self._start_limit:g} s"
                if self._is_closed:
                    return "is not wanted any more: this program is being stopped"
        return None

    def _stop(self) -> None:
        if self._running is not None:
            self._running.process.stop()
        self._running = None


def _fill(word: str, fields: dict[str, str]) -> str:
    """By plain replacement: a command may hold JSON, whose braces mean something else."""
    for name, value in fields.items():
        word = word.replace(name, value)
    return word


def _free_port() -> int:
    with create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def _is_healthy(client: httpx.Client, url: str) -> bool:
    try:
        return client.get(f"{url}/health").is_success
    except httpx.TransportError:
        return False
