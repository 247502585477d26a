"""Relays requests to a vLLM on this machine, and fetches adapters before vLLM loads them."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from conductor_trainer.http_answers import Body, Handler, Locate, Relay, read_text


class FetchingService:
    def __init__(self, upstream: str, locate: Locate) -> None:
        self._upstream = upstream.rstrip("/")
        self._locate = locate
        self._relay = Relay()
        self._held: dict[str, ExitStack] = {}
        self.routes: dict[str, Handler] = {
            "GET /v1/models": self._pass_on,
            "POST /tokenize": self._pass_on,
            "GET /is_sleeping": self._pass_on,
            "POST /sleep": self._pass_on,
            "POST /wake_up": self._pass_on,
            "POST /v1/completions": self._pass_on,
            "POST /v1/load_lora_adapter": self._load,
            "POST /v1/unload_lora_adapter": self._unload,
        }

    async def _load(self, body: Body, request: Request) -> Response:
        name, place = read_text(body, "lora_name"), Path(read_text(body, "lora_path"))
        with ExitStack() as stack:
            folder = await asyncio.to_thread(stack.enter_context, self._locate(place))
            found = {"lora_name": name, "lora_path": str(folder)}
            reply = await self._pass_on(body, request, found)
            if reply.status_code == 200:
                # vLLM rereads an adapter that it evicted: the folder must stay until unloading.
                await self._let_go(name)
                self._held[name] = stack.pop_all()
            return reply

    async def _unload(self, body: Body, request: Request) -> Response:
        reply = await self._pass_on(body, request)
        await self._let_go(read_text(body, "lora_name"))
        return reply

    async def _let_go(self, name: str) -> None:
        await asyncio.to_thread(self._held.pop(name, ExitStack()).close)

    async def _pass_on(self, _: Body, request: Request, changed: Body | None = None) -> Response:
        return await self._relay.send(self._upstream, request, changed)
