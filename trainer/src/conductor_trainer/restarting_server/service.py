"""Serves whole models by name: the server behind this one holds one, and restarts for another."""

import asyncio
from asyncio import Event
from collections import OrderedDict
from collections.abc import AsyncIterator, Hashable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from starlette.requests import Request
from starlette.responses import Response

from conductor_trainer import http_answers as answers
from conductor_trainer.http_answers import ApiError, Body, Handler, Locate, Relay, read_text
from conductor_trainer.restarting_server.guard import GuardedProcess
from conductor_trainer.starting import free_port

_BETWEEN_LOOKS = 0.2
"""Seconds between health checks; negligible next to the time a server takes to start."""


@dataclass(frozen=True, eq=False)
class WholeModel:
    """A named folder. Each load makes a new instance, since the folder's model may have changed."""

    name: str
    folder: Path


class RestartingService:
    def __init__(self, inner: "InnerServer") -> None:
        self._inner = inner
        self._turns = Turns()
        self._models: dict[str, WholeModel] = {}
        self._relay = Relay()
        self.routes: dict[str, Handler] = {
            "GET /v1/models": self._list,
            "POST /tokenize": self._pass_on,
            "POST /v1/completions": self._pass_on,
            "POST /v1/load_lora_adapter": self._load,
            "POST /v1/unload_lora_adapter": self._unload,
        }

    async def _list(self, _body: Body, _request: Request) -> Body:
        return answers.model_list(self._models)

    async def _load(self, body: Body, request: Request) -> Body:
        name, folder = read_text(body, "lora_name"), Path(read_text(body, "lora_path"))
        with ExitStack() as stack:
            # Fetches the model while another one still runs.
            place = await asyncio.to_thread(stack.enter_context, self._inner.locate(folder))
            if not (place / "config.json").exists():
                raise ApiError(
                    404,
                    f"No whole model found for '{name}' in {folder}. This server serves only "
                    "whole models; adapters need a vLLM with --enable-lora.",
                )
            if name in self._models:
                raise answers.loaded_already(name, self._models[name].folder)
            model = self._models[name] = WholeModel(name, folder)
            try:
                async with self._turns.turn(model):
                    if not await request.is_disconnected():
                        await self._inner.serve(model)
            except ApiError:
                self._forget(model)
                raise
        return answers.done(name, "added")

    async def _unload(self, body: Body, _request: Request) -> Body:
        """Forgets a name. Its server keeps running until another model is requested."""
        name = read_text(body, "lora_name")
        known = self._models.get(name)
        if known is None:
            raise answers.never_loaded(name)
        self._forget(known)
        return answers.done(name, "removed")

    def _forget(self, model: WholeModel) -> None:
        """Forgets the model unless another one has taken its name since."""
        if self._models.get(model.name) is model:
            del self._models[model.name]

    async def _pass_on(self, body: Body, request: Request) -> Body | Response:
        name = read_text(body, "model")
        model = self._models.get(name)
        if model is None:
            raise answers.unknown_model(name, self._models)
        async with self._turns.turn(model):
            if await request.is_disconnected():
                # A request whose client has gone must not restart the server.
                return {}
            return await self._relay.send(await self._inner.serve(model), request)


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


class Turns:
    """A lock that callers share while they want the same resource.

    1. All holders at any one time want the same resource.
    2. Once a caller waits, none overtakes it: those that want the current resource wait as well.
    3. When the last holder leaves, the group that has waited longest enters together.
    4. Callers wait only while there is a holder, whose leaving admits the next group.
    """

    def __init__(self) -> None:
        self._current: Hashable = None
        self._inside = 0
        self._waiting: OrderedDict[Hashable, list[Event]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, wanted: Hashable) -> AsyncIterator[None]:
        """Waits for a turn, and leaves at the end of the block."""
        own = self.ask(wanted)
        try:
            await own.wait()
            yield
        finally:
            if own.is_set():
                self.leave()
            else:
                self._withdraw(wanted, own)

    def ask(self, wanted: Hashable) -> Event:
        """Joins the queue. The returned event is set once the turn has come, possibly at once."""
        turn = Event()
        if not self._waiting and (self._inside == 0 or self._current == wanted):
            self._current = wanted
            self._inside += 1
            turn.set()
        else:
            self._waiting.setdefault(wanted, []).append(turn)
        return turn

    def _withdraw(self, wanted: Hashable, turn: Event) -> None:
        group = self._waiting[wanted]
        group.remove(turn)
        if not group:
            del self._waiting[wanted]

    def leave(self) -> None:
        self._inside -= 1
        if self._inside == 0 and self._waiting:
            self._current, group = self._waiting.popitem(last=False)
            self._inside = len(group)
            for turn in group:
                turn.set()
