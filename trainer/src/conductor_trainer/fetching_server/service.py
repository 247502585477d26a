"""What is answered: whatever the server behind says, of adapters that are fetched for it."""

import json
from contextlib import ExitStack
from pathlib import Path
from threading import Lock

import httpx

from conductor_trainer.http_answers import (
    ApiError,
    IsWanted,
    Reply,
    not_found,
    read_body,
    read_text,
)
from conductor_trainer.locate import Locate
from conductor_trainer.relay import Relay

_LOAD = "POST /v1/load_lora_adapter"
_UNLOAD = "POST /v1/unload_lora_adapter"
_PASSED_ON = {_UNLOAD, "GET /v1/models", "POST /tokenize", "POST /v1/completions"}


class FetchingService:
    """The routes of a policy server, answered by another one."""

    def __init__(self, upstream: str, locate: Locate) -> None:
        """`upstream` is its URL, without `/v1`."""
        self._upstream = upstream.rstrip("/")
        self._locate = locate
        self._relay = Relay()
        self._lock = Lock()
        self._held: dict[str, ExitStack] = {}

    def respond(self, route: str, sent: bytes, _is_wanted: IsWanted) -> Reply:
        """Answers one request. Raises `ApiError`."""
        if route == _LOAD:
            body = read_body(sent)
            return self._load(read_text(body, "lora_name"), Path(read_text(body, "lora_path")))
        if route not in _PASSED_ON:
            raise not_found(f"There is no {route}.")
        reply = self._send(route, sent)
        if route == _UNLOAD:
            self._hold(read_text(read_body(sent), "lora_name"), ExitStack())
        return reply

    def _load(self, name: str, place: Path) -> Reply:
        with ExitStack() as stack:
            folder = stack.enter_context(self._locate(place))
            body = {"lora_name": name, "lora_path": str(folder)}
            reply = self._send(_LOAD, json.dumps(body).encode())
            if reply.status == 200:
                # The server behind reads it once more whenever it had to make room.
                self._hold(name, stack.pop_all())
            return reply

    def _hold(self, name: str, stack: ExitStack) -> None:
        """Has a folder stay in place of the one before."""
        with self._lock:
            before = self._held.get(name)
            self._held[name] = stack
        if before is not None:
            before.close()

    def _send(self, route: str, sent: bytes) -> Reply:
        try:
            return self._relay.send(self._upstream, route, sent)
        except httpx.TransportError as error:
            raise ApiError(
                503,
                "ServiceUnavailableError",
                f"The server behind, {self._upstream}, broke off {route} "
                f"({type(error).__name__}): see whether it runs, and what it says.",
            ) from error
