"""HTTP for policy servers: a thread for each connection, and refusals as vLLM gives them."""

import io
import json
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http.client import LineTooLong
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from select import select
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LONGEST_BODY = 8 * 1024 * 1024
"""Bytes: the ids of a prompt of a million tokens."""

LONGEST_HEAD = 128 * 1024
"""Bytes of a request's line and headers, with what is read ahead."""

PATIENCE = 60.0
"""Seconds for a client to send the head of a request; as many for its body and for the answer."""

MOST_CONNECTIONS = 512
"""At a time, each with a thread: nights, their probes and users open far fewer."""

Body = Mapping[str, object]


@dataclass(frozen=True)
class Reply:
    """What goes back to a client."""

    status: int
    body: bytes
    content_type: str = "application/json"


IsWanted = Callable[[], bool]
"""Whether the client still waits for the answer."""

Respond = Callable[[str, bytes, IsWanted], Reply]
"""From `METHOD /path` and a body to a reply; may raise `ApiError`."""


def as_json(body: Body, status: int = 200) -> Reply:
    """A reply of JSON."""
    return Reply(status, json.dumps(body).encode())


def read_body(sent: bytes) -> Body:
    """The JSON object that was sent; an empty body is an empty object."""
    try:
        body = json.loads(sent or b"{}")
    except ValueError as error:
        raise bad_request(f"The body is not JSON: {error}.") from error
    if not isinstance(body, dict):
        raise bad_request("The body is no JSON object.")
    return body


def read_text(body: Mapping[str, object], name: str) -> str:
    """A field that must be a text."""
    value = body.get(name)
    if isinstance(value, str):
        return value
    raise bad_request(f"`{name}` = {value!r} is refused: expected a text")


class ApiError(Exception):
    """A request that cannot be answered: HTTP status, vLLM's word for the kind, what to do."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message

    def body(self) -> dict[str, object]:
        """The response body."""
        return {"error": {"message": self.message, "type": self.kind, "code": self.status}}


def bad_request(message: str) -> ApiError:
    """The request itself is wrong; sending it again cannot help."""
    return ApiError(400, "BadRequestError", message)


def not_found(message: str) -> ApiError:
    """What the request names is not there."""
    return ApiError(404, "NotFoundError", message)


def unknown_model(name: str, known: Iterable[str]) -> ApiError:
    """No model of that name is loaded: a client that knows its folder loads it and asks again."""
    there = ", ".join(known) or "none"
    return not_found(
        f"The model `{name}` does not exist (there is: {there}): it was never loaded, or not since "
        "the server was started; POST /v1/load_lora_adapter loads it."
    )


def loaded_already(name: str, folder: Path) -> ApiError:
    """A name means one folder until it is unloaded."""
    said = f"The lora adapter '{name}' has already been loaded from {folder}."
    return ApiError(400, "InvalidUserInput", said)


def never_loaded(name: str) -> ApiError:
    """There is nothing of that name to unload."""
    return not_found(f"The lora adapter '{name}' cannot be found.")


class AnsweringServer(ThreadingHTTPServer):
    """Replies to each request. `server_address` has the port, also where 0 was asked for."""

    daemon_threads = True
    # A cycle begins with a burst of connections; the library's own five would turn some away.
    request_queue_size = 256

    def __init__(
        self,
        address: tuple[str, int],
        respond: Respond,
        *,
        patience: float = PATIENCE,
        most: int = MOST_CONNECTIONS,
    ) -> None:
        super().__init__(address, partial(_Handler, respond, patience))
        self._places = threading.BoundedSemaphore(most)

    def process_request(self, request: Any, client_address: Any) -> None:
        """One connection too many is told so at once: clients ask again."""
        if self._places.acquire(blocking=False):
            try:
                super().process_request(request, client_address)
            except BaseException:
                self._places.release()
                raise
        else:
            with suppress(OSError):
                request.settimeout(0)
                request.send(_BUSY)
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def serve_until_stopped(self) -> None:
        """Prints its URL in one line on stdout, and serves until SIGTERM or SIGINT."""
        host, port = self.server_address[:2]
        print(json.dumps({"url": f"http://{host}:{port}"}), flush=True)

        # `shutdown` waits for the loop that the handler interrupts, so another thread must call it.
        def stop(*_signal: object) -> None:
            threading.Thread(target=self.shutdown).start()

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        self.serve_forever(poll_interval=0.1)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Silent about clients that hung up, as cancelled ones do."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
    b"Content-Length: 0\r\n\r\n"
)


class _Incoming(io.RawIOBase):
    """What a client sends until a deadline, however slowly; each part of a request has its own."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self._connection = connection
        self._deadline = 0.0
        self._room = 0

    def expect(self, most: int, seconds: float) -> None:
        """So many bytes are read from now on, within so many seconds."""
        self._deadline = time.monotonic() + seconds
        self._room = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        if self._room <= 0:
            raise LineTooLong("request")
        self._connection.settimeout(max(0.001, self._deadline - time.monotonic()))
        count = self._connection.recv_into(buffer)
        self._room -= count
        return count


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __init__(self, respond: Respond, patience: float, *connection: Any) -> None:
        self._respond = respond
        self._patience = patience
        super().__init__(*connection)

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._incoming = _Incoming(self.connection)
        self.rfile = io.BufferedReader(self._incoming)

    def handle_one_request(self) -> None:
        self._incoming.expect(LONGEST_HEAD, self._patience)
        super().handle_one_request()

    def do_GET(self) -> None:
        self._send(self._reply())

    def do_POST(self) -> None:
        self._send(self._reply())

    def log_message(self, format: str, *args: object) -> None:
        """Silent: requests hold questions, and logs outlive them."""

    def _reply(self) -> Reply:
        """Health is answered at once, whatever other requests wait for."""
        route = f"{self.command} {self.path}"
        try:
            self._check_sender()
            sent = self._read()
            return (
                as_json({})
                if route == "GET /health"
                else self._respond(route, sent, self._is_wanted)
            )
        except ApiError as error:
            return as_json(error.body(), error.status)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            return as_json(ApiError(500, "InternalServerError", said).body(), 500)

    def _check_sender(self) -> None:
        """Refuses a page that a person looks at: its browser says `Origin`, or sends no JSON."""
        problem = None
        if "Origin" in self.headers:
            problem = ApiError(403, "ForbiddenError", "This server answers no page of a browser.")
        elif self.command == "POST" and self.headers.get_content_type() != "application/json":
            said = "A body must be sent as Content-Type: application/json."
            problem = ApiError(415, "UnsupportedMediaTypeError", said)
        if problem is not None:
            self.close_connection = True
            raise problem

    def _read(self) -> bytes:
        """A refusal ends the connection: what is not read would be taken for the next request."""
        ends, self.close_connection = self.close_connection, True
        body = self._read_body(self._length())
        self.close_connection = ends
        return body

    def _length(self) -> int:
        said = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers or (self.command == "POST" and not said):
            raise ApiError(411, "LengthRequiredError", "A body must have a Content-Length.")
        if not all(re.fullmatch("[0-9]{1,18}", each) for each in said) or len(said) > 1:
            raise bad_request(f"Content-Length = {', '.join(said)!r} is refused: expected a number")
        length = int(said[0]) if said else 0
        if length > LONGEST_BODY:
            message = f"A body of {length} bytes is over {LONGEST_BODY}."
            raise ApiError(413, "PayloadTooLargeError", message)
        return length

    def _read_body(self, length: int) -> bytes:
        self._incoming.expect(length, self._patience)
        try:
            body = self.rfile.read(length)
        except TimeoutError as error:
            message = f"The body did not come within {self._patience:g} s."
            raise ApiError(408, "TimeoutError", message) from error
        if len(body) < length:
            raise bad_request("The connection ended before the body did.")
        return body

    def _is_wanted(self) -> bool:
        """A client that waits sends nothing, so anything to read is the end of the connection."""
        readable, _, _ = select([self.connection], [], [], 0)
        return not readable

    def _send(self, reply: Reply) -> None:
        self.connection.settimeout(self._patience)
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(reply.body)
