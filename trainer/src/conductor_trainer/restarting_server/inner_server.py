"""The server behind this one: one process for one model, restarted for another."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx

from conductor_trainer.http_answers import ApiError
from conductor_trainer.locate import Locate
from conductor_trainer.restarting_server.guard import GuardedProcess
from conductor_trainer.starting import free_port

_BETWEEN_LOOKS = 0.2
"""Seconds between health checks; negligible next to the time a server takes to start."""


@dataclass(frozen=True, eq=False)
class WholeModel:
    """A named folder. Each load makes a new instance, since the folder's model may have changed."""

    name: str
    folder: Path


class InnerServer:
    """Runs the command for one model at a time."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        start_limit: float,
        grace: float,
        locate: Locate,
    ) -> None:
        """`command` contains `{model}`, `{folder}` and `{port}`; both times are in seconds."""
        self._command = command
        self.locate = locate
        self._start_limit = start_limit
        self._grace = grace
        self._process: GuardedProcess | None = None
        self._model: WholeModel | None = None
        self._start: asyncio.Task[str] | None = None

    async def serve(self, model: WholeModel) -> str:
        """Returns the model's URL once it is served. Raises `ApiError`, 503 if the start fails.

        Concurrent callers must ask for the same model. All that wait for a start get its failure; a
        later caller starts it again.
        """
        is_over = self._start is None or (self._start.done() and not self._is_running())
        if self._model is not model or is_over:
            self._model = model
            self._start = asyncio.create_task(self._start_anew(model))
        assert self._start is not None
        return await asyncio.shield(self._start)

    async def close(self) -> None:
        """Stops the server, even while it is starting."""
        if self._start is not None:
            self._start.cancel()
        await self._stop()

    def _is_running(self) -> bool:
        return self._process is not None and self._process.status() is None

    async def _start_anew(self, model: WholeModel) -> str:
        await self._stop()
        with ExitStack() as stack:
            folder = await asyncio.to_thread(stack.enter_context, self.locate(model.folder))
            port = free_port()
            fields = {"{model}": model.name, "{folder}": str(folder), "{port}": str(port)}
            command = [_fill(word, fields) for word in self._command]
            self._process = GuardedProcess(command, self._grace)
            url = f"http://127.0.0.1:{port}"
            problem = await self._wait_until_ready(self._process, url)
        if problem is None:
            return url
        last_words = await self._stop()
        raise ApiError(
            503,
            f"The server for `{model.name}` {problem}. The next request restarts it. Its last "
            f"output: {last_words or 'none'}",
        )

    async def _wait_until_ready(self, process: GuardedProcess, url: str) -> str | None:
        try:
            async with asyncio.timeout(self._start_limit), httpx.AsyncClient(trust_env=False) as it:
                while not await _is_healthy(it, url):
                    status = process.status()
                    if status is not None:
                        return f"ended with status {status}"
                    await asyncio.sleep(_BETWEEN_LOOKS)
        except TimeoutError:
            return f"was not ready after {self._start_limit:g} s"
        return None

    async def _stop(self) -> str:
        process, self._process = self._process, None
        return "" if process is None else await asyncio.to_thread(process.stop)


def _fill(word: str, fields: dict[str, str]) -> str:
    """Replaces fields as plain text, since a command may hold JSON, which has braces of its own."""
    for name, value in fields.items():
        word = word.replace(name, value)
    return word


async def _is_healthy(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(f"{url}/health")).is_success
    except httpx.TransportError:
        return False
