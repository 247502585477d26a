"""Serves whole models by name: the server behind this one holds one, and changes to another.

vLLM takes other weights while it runs, if it was started with VLLM_SERVER_DEV_MODE=1. A server that
does not, or fails to, is restarted.
"""

import asyncio
import json
from asyncio import Event
from collections import OrderedDict
from collections.abc import AsyncIterator, Hashable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from conductor_trainer import http_answers as answers
from conductor_trainer.http_answers import ApiError, Body, Handler, Relay, read_text
from conductor_trainer.restarting_server.inner import InnerServer, WholeModel


class RestartingService:
    def __init__(self, inner: InnerServer) -> None:
        self._inner = inner
        self._turns = Turns()
        self._models: dict[str, WholeModel] = {}
        self._relay = Relay()
        self._sleeping: Event | None = None
        self.routes: dict[str, Handler] = {
            "GET /v1/models": self._list,
            "POST /tokenize": self._pass_on,
            "GET /is_sleeping": self._tell_sleep,
            "POST /sleep": self._sleep,
            "POST /wake_up": self._wake,
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
            url, own = await self._inner.serve(model)
            reply = await self._relay.send(url, request, {**body, "model": own})
            return _renamed(reply, own, name)

    async def _tell_sleep(self, _body: Body, _request: Request) -> Body:
        return {"is_sleeping": self._sleeping is not None}

    async def _sleep(self, _body: Body, _request: Request) -> Body:
        """Ends the server behind, which frees its GPU; requests wait until this one is woken."""
        self._sleeping = self._sleeping or self._turns.ask(self)
        await self._sleeping.wait()
        await self._inner.close()
        return {"status": "sleeping"}

    async def _wake(self, _body: Body, _request: Request) -> Body:
        sleeping, self._sleeping = self._sleeping, None
        if sleeping is not None:
            await sleeping.wait()
            self._turns.leave()
        return {"status": "awake"}


def _renamed(reply: Response, own: str, asked: str) -> Response:
    """Returns a reply under the name that was asked for, since the server behind knows one name."""
    if own == asked:
        return reply
    try:
        said = json.loads(bytes(reply.body))
    except ValueError:
        return reply
    is_own = isinstance(said, dict) and said.get("model") == own
    return JSONResponse({**said, "model": asked}, reply.status_code) if is_own else reply


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
