"""HTTP for policy servers, by Starlette and uvicorn: who is answered, and refusals as vLLM's."""

import asyncio
import json
import os
import signal
import socket
from asyncio import TimerHandle
from collections.abc import Awaitable, Callable, Iterable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

import h11
import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

LONGEST_BODY = 8 * 1024 * 1024
"""Bytes: the ids of a prompt of a million tokens."""

LONGEST_HEAD = 128 * 1024

REQUEST_SECONDS = 60
"""For a client to send a whole request, however slowly, and to read the answer before it."""

MOST_CONNECTIONS = 512
"""At a time: nights, their probes and users open far fewer."""

Body = Mapping[str, object]
Handler = Callable[[Body, Request], Awaitable[Body | Response]]
"""From the JSON object that was sent, `{}` where nothing was; may raise `ApiError`."""


class ApiError(HTTPException):
    """A request that cannot be answered: HTTP status, and what to do."""


def unknown_model(name: str, known: Iterable[str]) -> ApiError:
    """No model of that name is loaded: a client that knows its folder loads it and asks again."""
    there = ", ".join(known) or "none"
    return ApiError(
        404,
        f"The model `{name}` does not exist (there is: {there}): it was never loaded, or not since "
        "the server started; POST /v1/load_lora_adapter loads it.",
    )


def loaded_already(name: str, folder: Path) -> ApiError:
    """A name means one folder until it is unloaded."""
    return ApiError(400, f"The lora adapter '{name}' has already been loaded from {folder}.")


def never_loaded(name: str) -> ApiError:
    return ApiError(404, f"The lora adapter '{name}' cannot be found.")


def model_list(names: Iterable[str]) -> Body:
    data = [{"id": name, "object": "model", "owned_by": "conductor"} for name in names]
    return {"object": "list", "data": data}


def done(name: str, what: str) -> Body:
    return {"message": f"Success: LoRA adapter '{name}' {what} successfully."}


def read_text(body: Body, name: str) -> str:
    value = body.get(name)
    if isinstance(value, str):
        return value
    raise ApiError(400, f"`{name}` = {value!r} is refused: expected a string")


def application(routes: Mapping[str, Handler]) -> Starlette:
    """Answers each `METHOD /path`, and `GET /health` at once, whatever other requests wait for."""
    answers = {**routes, "GET /health": _be_healthy}
    return Starlette(
        routes=[
            Route(path, _endpoint(handler), methods=[method])
            for method, path, handler in ((*name.split(), each) for name, each in answers.items())
        ],
        exception_handlers={HTTPException: _refuse},
    )


async def _be_healthy(_body: Body, _request: Request) -> Body:
    return {}


def _endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            answered = await handler(await _read_body(request), request)
        except HTTPException:
            raise
        except Exception as error:
            raise ApiError(500, f"{type(error).__name__}: {error}") from error
        return answered if isinstance(answered, Response) else JSONResponse(answered)

    return answer


async def _refuse(_request: Request, error: Any) -> Response:
    """As vLLM does: a sentence, a word for its kind, and the status."""
    kind = HTTPStatus(error.status_code).phrase.removesuffix(" Error").replace(" ", "") + "Error"
    said = {"message": error.detail, "type": kind, "code": error.status_code}
    return JSONResponse({"error": said}, error.status_code, error.headers)


async def _read_body(request: Request) -> Body:
    """Refuses what a browser could send for a page. The connection ends with an unread body."""
    headers, has_body = request.headers, request.method == "POST"
    length = int(headers.get("Content-Length", 0))
    media_type = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    end = {"Connection": "close"}
    if "Origin" in headers:
        raise ApiError(403, "This server does not answer web pages.", end)
    if has_body and media_type != "application/json":
        raise ApiError(415, "A body must be sent as Content-Type: application/json.", end)
    if "Transfer-Encoding" in headers or (has_body and "Content-Length" not in headers):
        raise ApiError(411, "A body must have a Content-Length.", end)
    if length > LONGEST_BODY:
        raise ApiError(413, f"A body of {length} bytes is over the limit of {LONGEST_BODY}.", end)
    try:
        body = json.loads(await request.body() or b"{}")
    except ValueError as error:
        raise ApiError(400, f"The body is not JSON: {error}.") from error
    if not isinstance(body, dict):
        raise ApiError(400, "The body is not a JSON object.")
    return body


class Relay:
    def __init__(self) -> None:
        # A connection for each request: one kept open may have been closed at the other end.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        self._client = httpx.AsyncClient(timeout=None, limits=limits, trust_env=False)

    async def send(self, url: str, request: Request, body: Body | None = None) -> Response:
        """The answer as it is, to another body if one is given. Raises `httpx.TransportError`."""
        content = await request.body() if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        answer = await self._client.request(
            request.method, url + request.url.path, content=content, headers=headers
        )
        content_type = answer.headers.get("Content-Type", "text/plain")
        return Response(answer.content, answer.status_code, {"Content-Type": content_type})


class _InTime(H11Protocol):
    """uvicorn's own, which hangs up where a request is not whole in time."""

    _deadline: TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_watching()

    def _watch(self) -> None:
        is_answering = self.conn.our_state in (h11.SEND_RESPONSE, h11.SEND_BODY)
        if is_answering and self.conn.their_state is not h11.SEND_BODY:
            self._stop_watching()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def _stop_watching(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None


def server_of(app: Starlette, most: int = MOST_CONNECTIONS) -> uvicorn.Server:
    """Silent about requests: they hold questions, and logs outlive them."""
    config = uvicorn.Config(
        app,
        http=_InTime,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        # Those that are there, with the one that asks.
        limit_concurrency=most + 1,
        timeout_keep_alive=REQUEST_SECONDS,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=LONGEST_HEAD,
    )
    return uvicorn.Server(config)


def serve(
    routes: Mapping[str, Handler],
    listening: socket.socket,
    close: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Prints its URL in one line on stdout, and serves until SIGTERM or SIGINT."""
    host, port = listening.getsockname()[:2]
    print(json.dumps({"url": f"http://{host}:{port}"}), flush=True)
    # uvicorn sends itself such a signal again when it has stopped for it.
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: None)

    async def run() -> None:
        await server_of(application(routes)).serve(sockets=[listening])
        if close is not None:
            await close()
        # At once: nobody waits any more for what threads still fetch or sample.
        os._exit(0)

    asyncio.run(run())
