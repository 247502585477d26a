"""What is answered: names of whole models, and whatever the server behind says of one."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock

import httpx

from conductor_trainer.http_answers import (
    ApiError,
    Body,
    IsWanted,
    Reply,
    as_json,
    loaded_already,
    never_loaded,
    not_found,
    read_body,
    unknown_model,
)
from conductor_trainer.policy_server.completion_request import read_text
from conductor_trainer.relay import Relay
from conductor_trainer.restarting_server.inner_server import InnerServer, WholeModel
from conductor_trainer.restarting_server.turns import Turns

_RELAYED = ("POST /tokenize", "POST /v1/completions")


class RestartingService:
    """The routes of a policy server, of which one model at a time is answered for."""

    def __init__(self, inner: InnerServer) -> None:
        self._inner = inner
        self._turns = Turns()
        self._models: dict[str, WholeModel] = {}
        self._naming = Lock()
        self._relay = Relay()
        self._routes: dict[str, Callable[[Body, IsWanted], Body]] = {
            "GET /v1/models": self._list,
            "POST /v1/load_lora_adapter": self._load,
            "POST /v1/unload_lora_adapter": self._unload,
        }

    def respond(self, route: str, sent: bytes, is_wanted: IsWanted) -> Reply:
        """Answers one request, when its model's turn has come. Raises `ApiError`."""
        if route in _RELAYED:
            model = self._find(read_text(read_body(sent), "model"))
            return self._pass_on(route, sent, model, is_wanted)
        work = self._routes.get(route)
        if work is None:
            raise not_found(f"There is no {route}.")
        return as_json(work(read_body(sent), is_wanted))

    def _list(self, _body: Body, _is_wanted: IsWanted) -> Body:
        data = [
            {"id": name, "object": "model", "owned_by": "conductor"} for name in [*self._models]
        ]
        return {"object": "list", "data": data}

    def _load(self, body: Body, is_wanted: IsWanted) -> Body:
        """Names a folder, and starts the server on it to be sure that it can be served."""
        name, folder = read_text(body, "lora_name"), Path(read_text(body, "lora_path"))
        # Fetched while another model still runs.
        with self._inner.locate(folder) as place:
            if not (place / "config.json").exists():
                raise not_found(
                    f"No whole model found for '{name}' in {folder}. This server is started anew "
                    "for each whole model; adapters are for a vLLM with --enable-lora."
                )
            model = self._name(name, folder)
            try:
                with self._turns.turn(model):
                    if is_wanted():
                        self._inner.serve(model)
            except ApiError:
                self._forget(model)
                raise
        return {"message": f"Success: LoRA adapter '{name}' added successfully."}

    def _name(self, name: str, folder: Path) -> WholeModel:
        with self._naming:
            known = self._models.get(name)
            if known is not None:
                raise loaded_already(name, known.folder)
            self._models[name] = WholeModel(name, folder)
            return self._models[name]

    def _unload(self, body: Body, _is_wanted: IsWanted) -> Body:
        """Forgets a name. Its server runs on until another model is asked for."""
        name = read_text(body, "lora_name")
        known = self._models.get(name)
        if known is None:
            raise never_loaded(name)
        self._forget(known)
        return {"message": f"Success: LoRA adapter '{name}' removed successfully."}

    def _forget(self, model: WholeModel) -> None:
        with self._naming:
            if self._models.get(model.name) is model:
                del self._models[model.name]

    def _find(self, name: str) -> WholeModel:
        model = self._models.get(name)
        if model is None:
            raise unknown_model(name, self._models)
        return model

    def _pass_on(self, route: str, sent: bytes, model: WholeModel, is_wanted: IsWanted) -> Reply:
        with self._turns.turn(model):
            if not is_wanted():
                # What nobody waits for any more must not have the server started anew.
                return as_json({})
            try:
                return self._ask(route, sent, model)
            except httpx.TransportError as error:
                raise ApiError(
                    503,
                    "ServiceUnavailableError",
                    f"The server for `{model.name}` broke off {route} ({type(error).__name__}): "
                    "see what it says on stderr. The next request starts it again if it has ended.",
                ) from error

    def _ask(self, route: str, sent: bytes, model: WholeModel) -> Reply:
        url = self._inner.serve(model)
        try:
            return self._relay.send(url, route, sent)
        except httpx.TransportError:
            # A reply that nobody got may be sampled again.
            if not self._inner.has_ended(url):
                raise
            return self._relay.send(self._inner.serve(model), route, sent)
