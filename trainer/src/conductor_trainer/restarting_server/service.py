"""HTTP service that loads whole models by name, and relays requests to the server behind it."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

import httpx
from starlette.requests import Request
from starlette.responses import Response

from conductor_trainer import http_answers as answers
from conductor_trainer.http_answers import ApiError, Body, Handler, Relay, read_text
from conductor_trainer.restarting_server.inner_server import InnerServer, WholeModel
from conductor_trainer.restarting_server.turns import Turns


class RestartingService:
    def __init__(self, inner: InnerServer) -> None:
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
            try:
                return await self._relay.send(await self._inner.serve(model), request)
            except httpx.TransportError as error:
                raise ApiError(
                    503,
                    f"The server for `{name}` broke off {request.url.path} "
                    f"({type(error).__name__}): see its output on stderr. The next request "
                    "restarts it if it has ended.",
                ) from error
