"""What policy servers share: HTTP on Starlette and uvicorn, errors like vLLM's, model folders."""

import argparse
import asyncio
import json
import os
import signal
import socket
from asyncio import TimerHandle
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h11
import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from conductor_trainer.errors import TrainerError
from conductor_trainer.options import open_cache
from conductor_trainer.starting import CannotStart

if TYPE_CHECKING:
    # Needs packages that an environment with only vLLM lacks.
    from conductor_trainer.checkpoint_cache import CheckpointCache

LONGEST_BODY = 8 * 1024 * 1024
"""Bytes; enough for the ids of a prompt of a million tokens."""

LONGEST_HEAD = 128 * 1024

REQUEST_SECONDS = 60
"""Seconds for a client to read the previous response and send its whole next request."""

MOST_CONNECTIONS = 512
"""Concurrent connections; nights, their probes and users open far fewer."""

Body = Mapping[str, object]
Handler = Callable[[Body, Request], Awaitable[Body | Response]]
"""Answers a request given its JSON body, `{}` if it has none; may raise `ApiError`."""


class ApiError(HTTPException):
    """Refusal of a request: HTTP status, and what is wrong or what to do."""


def unknown_model(name: str, known: Iterable[str]) -> ApiError:
    """Returns a 404, on which a client that knows the model's folder loads it and retries."""
    there = ", ".join(known) or "none"
    return ApiError(
        404,
        f"The model `{name}` does not exist (there is: {there}): it was never loaded, or not since "
        "the server started; POST /v1/load_lora_adapter loads it.",
    )


def loaded_already(name: str, folder: Path) -> ApiError:
    """Returns the error for a name in use: it means one folder until it is unloaded."""
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


Locate = Callable[[Path], AbstractContextManager[Path]]
"""Resolves a requested path to a local folder, which stays in place until the context exits."""


def locate_of(options: argparse.Namespace) -> Locate:
    """Reads a server's options; without `--artifacts`, paths are local. Raises `CannotStart`."""
    if (options.artifacts is None) != (options.checkpoints is None):
        raise CannotStart("--artifacts and --checkpoints belong together: give both or neither")
    return nullcontext if options.artifacts is None else locate_in(open_cache(options))


def locate_in(cache: "CheckpointCache") -> Locate:
    """Locates folders through a cache. Raises `ApiError`: 503 if a retry may succeed, else 404."""

    @contextmanager
    def locate(place: Path) -> Iterator[Path]:
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(cache.located(place))
            except TrainerError as error:
                raise ApiError(404, str(error)) from error
            except Exception as error:
                said = f"{place} cannot be fetched now ({type(error).__name__}: {error})."
                raise ApiError(503, said) from error
            yield folder

    return locate


def application(routes: Mapping[str, Handler]) -> Starlette:
    """Serves each `METHOD /path`, and `GET /health`, which waits for no other request."""
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
        except asyncio.CancelledError as end:
            # uvicorn would say 500, which tells nobody to try again.
            raise ApiError(503, "This server is ending: try again once it runs.") from end
        except Exception as error:
            raise ApiError(500, f"{type(error).__name__}: {error}") from error
        return answered if isinstance(answered, Response) else JSONResponse(answered)

    return answer


async def _refuse(_request: Request, error: Any) -> Response:
    """Returns an error in vLLM's format: message, type and status."""
    kind = HTTPStatus(error.status_code).phrase.removesuffix(" Error").replace(" ", "") + "Error"
    said = {"message": error.detail, "type": kind, "code": error.status_code}
    return JSONResponse({"error": said}, error.status_code, error.headers)


async def _read_body(request: Request) -> Body:
    """Refuses requests that a web page could send. Closes the connection if a body is unread."""
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
        # Opens a connection per request, since the server may have closed an idle one.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        self._client = httpx.AsyncClient(timeout=None, limits=limits, trust_env=False)

    async def send(self, url: str, request: Request, body: Body | None = None) -> Response:
        """Forwards a request, or `body` instead of its own. Raises `ApiError` 503 if it fails."""
        content = await request.body() if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        path, query = request.url.path, request.url.query
        try:
            answer = await self._client.request(
                request.method,
                f"{url}{path}?{query}" if query else url + path,
                content=content,
                headers=headers,
            )
        except httpx.TransportError as error:
            raise ApiError(
                503,
                f"The server behind this one, {url}, broke off {path} ({type(error).__name__}): "
                "see its output, and try again once it runs.",
            ) from error
        content_type = answer.headers.get("Content-Type", "text/plain")
        return Response(answer.content, answer.status_code, {"Content-Type": content_type})


class _InTime(H11Protocol):
    """uvicorn's protocol, which also aborts a connection if a request is not complete in time."""

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
    """Returns a server that logs no requests: they contain questions, which logs would keep."""
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
        # uvicorn refuses a request once this many connections, its own included, are open.
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
    """Prints its URL as a line of JSON on stdout, and serves until SIGTERM or SIGINT."""
    server = server_of(application(routes))

    def stop(*_: object) -> None:
        server.should_exit = True

    # One may come before uvicorn listens to signals. After its shutdown, it raises it once more.
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, stop)
    host, port = listening.getsockname()[:2]
    print(json.dumps({"url": f"http://{host}:{port}"}), flush=True)

    async def run() -> None:
        await server.serve(sockets=[listening])
        if close is not None:
            await close()
        # Does not wait for threads that still fetch or sample: no client needs their results.
        os._exit(0)

    asyncio.run(run())
