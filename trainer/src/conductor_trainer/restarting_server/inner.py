"""The server behind a restarting server: one command, which serves one whole model at a time."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import httpx

from conductor_trainer.http_answers import ApiError, Locate
from conductor_trainer.restarting_server.guard import GuardedProcess, tell
from conductor_trainer.starting import free_port

_BETWEEN_LOOKS = 0.2
"""Seconds between health checks; negligible next to the time a server takes to start."""

_RELOAD_ROUTES = {"/collective_rpc", "/reset_prefix_cache"}
"""Routes by which vLLM takes other weights from a folder; it has them in its developer mode."""


@dataclass(frozen=True, eq=False)
class WholeModel:
    """A named folder. Each load makes a new instance, since the folder's model may have changed."""

    name: str
    folder: Path


@dataclass(frozen=True)
class Running:
    """A ready process: its address, and the model that it serves, with its name there."""

    process: GuardedProcess
    url: str
    name: str
    folder: Path
    surroundings: str
    """Digest of all in the folder but the weights."""


class InnerServer:
    """The server behind this one: the command, run for one model at a time."""

    def __init__(
        self, command: Sequence[str], *, start_limit: float, grace: float, locate: Locate
    ) -> None:
        """`command` contains `{model}`, `{folder}` and `{port}`; both times are in seconds."""
        self._command = command
        self.locate = locate
        self._start_limit = start_limit
        self._grace = grace
        self._process: GuardedProcess | None = None
        self._model: WholeModel | None = None
        self._change: asyncio.Task[Running] | None = None
        self._takes_weights = True

    async def serve(self, model: WholeModel) -> tuple[str, str]:
        """Returns the URL and the name there of a model once it is served.

        Raises `ApiError`, 503 if the start fails. Concurrent callers must ask for the same model.
        All that wait for a start get its failure; a later caller starts it again.
        """
        running = self._running()
        is_over = self._change is None or (self._change.done() and running is None)
        if self._model is not model or is_over:
            self._model = model
            self._change = asyncio.create_task(self._change_to(model, running))
        assert self._change is not None
        served = await asyncio.shield(self._change)
        return served.url, served.name

    async def close(self) -> None:
        """Stops the server, even while it is starting."""
        if self._change is not None:
            self._change.cancel()
        await self._stop()

    def _running(self) -> Running | None:
        """Returns the server if it has become ready and still runs."""
        change = self._change
        if change is None or not change.done() or change.cancelled() or change.exception():
            return None
        return change.result() if change.result().process.status() is None else None

    async def _change_to(self, model: WholeModel, running: Running | None) -> Running:
        with ExitStack() as stack:
            folder = await asyncio.to_thread(stack.enter_context, self.locate(model.folder))
            surroundings = await asyncio.to_thread(_all_but_weights, folder)
            if running is not None and running.surroundings == surroundings:
                problem = await self._reload(running, folder)
                if problem is None:
                    return replace(running, folder=folder)
                tell(f"The server behind this one is restarted for `{model.name}`: {problem}.")
            await self._stop()
            port = free_port()
            fields = {"{model}": model.name, "{folder}": str(folder), "{port}": str(port)}
            command = [_fill(word, fields) for word in self._command]
            process = self._process = GuardedProcess(command, self._grace)
            url = f"http://127.0.0.1:{port}"
            problem = await self._wait_until_ready(process, url)
        if problem is None:
            return Running(process, url, model.name, folder, surroundings)
        last_words = await self._stop()
        raise ApiError(
            503,
            f"The server for `{model.name}` {problem}. The next request restarts it. Its last "
            f"output: {last_words or 'none'}",
        )

    async def _reload(self, running: Running, folder: Path) -> str | None:
        """Has a running vLLM take a folder's weights; returns why it must be restarted instead."""
        if running.folder == folder:
            # Nobody asks twice for weights that came out right.
            self._takes_weights = False
        if not self._takes_weights:
            return "weights that it took while it ran were to be loaded anew"
        asked = {"method": "reload_weights", "kwargs": {"weights_path": str(folder)}}
        limit = self._start_limit
        try:
            async with httpx.AsyncClient(
                base_url=running.url, timeout=limit, trust_env=False
            ) as client:
                described = await client.get("/openapi.json")
                offered = described.json()["paths"] if described.is_success else {}
                missing = sorted(_RELOAD_ROUTES - set(offered))
                if missing:
                    return (
                        f"it has no {' and no '.join(missing)}, by which a vLLM that is started "
                        "with VLLM_SERVER_DEV_MODE=1 takes weights while it runs"
                    )
                reloaded = await client.post("/collective_rpc", json=asked)
                if reloaded.is_error:
                    return f"/collective_rpc answers {reloaded.status_code}: {reloaded.text[:300]}"
                # The cache holds what the old weights computed.
                cleared = await client.post("/reset_prefix_cache", json={})
                if cleared.is_error or cleared.json()["success"] is not True:
                    return f"/reset_prefix_cache answers {cleared.text[:300]}"
        except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
            return f"it did not take the weights ({type(error).__name__}: {error})"
        return None

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


def _all_but_weights(folder: Path) -> str:
    """Returns a digest of a model's configuration and tokenizer, which are read only at a start."""
    files = sorted(each for each in folder.iterdir() if each.is_file())
    rest = [each for each in files if ".safetensors" not in each.name]
    digests = [f"{each.name} {sha256(each.read_bytes()).hexdigest()}" for each in rest]
    return sha256("\n".join(digests).encode()).hexdigest()
