"""HTTP for policy servers: many connections, a thread for each, and refusals as vLLM gives them."""

import json
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from select import select
from typing import Any

from conductor_trainer.policy_server.api_error import ApiError, bad_request

LONGEST_BODY = 32 * 1024 * 1024
"""Bytes; a hundred times the longest prompt that there is a model for."""

Body = Mapping[str, object]


@dataclass(frozen=True)
class Reply:
    """What goes back to a client."""

    status: int
    body: bytes
    content_type: str = "application/json"


IsWanted = Callable[[], bool]
"""Whether somebody still waits for the answer."""

Respond = Callable[[str, bytes, IsWanted], Reply]
"""From `METHOD /path` and a body to a reply; may raise `ApiError`."""


def as_json(body: Body, status: int = 200) -> Reply:
    """A reply of JSON."""
    return Reply(status, json.dumps(body).encode())


def read_body(sent: bytes) -> Body:
    """The JSON object that was sent; none at all is an empty one."""
    try:
        body = json.loads(sent or b"{}")
    except ValueError as error:
        raise bad_request(f"The body is not JSON: {error}.") from error
    if not isinstance(body, dict):
        raise bad_request("The body is no JSON object.")
    return body


class AnsweringServer(ThreadingHTTPServer):
    """Replies to each request. `server_address` tells the port, also where 0 was asked for."""

    daemon_threads = True
    # A cycle begins with a burst of connections; the library's own five would turn some away.
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], respond: Respond) -> None:
        super().__init__(address, partial(_Handler, respond))

    def serve_until_stopped(self) -> None:
        """Says where it serves in one line on stdout, and serves until SIGTERM or SIGINT."""
        host, port = self.server_address[:2]
        print(json.dumps({"url": f"http://{host}:{port}"}), flush=True)

        # `shutdown` waits for the loop that the handler interrupts, so another thread must call it.
        def stop(*_signal: object) -> None:
            threading.Thread(target=self.shutdown).start()

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        self.serve_forever(poll_interval=0.1)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Silent about clients that hung up: whoever is cancelled does."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __init__(self, respond: Respond, *connection: Any) -> None:
        self._respond = respond
        super().__init__(*connection)

    def do_GET(self) -> None:
        self._send(self._reply())

    def do_POST(self) -> None:
        self._send(self._reply())

    def log_message(self, format: str, *args: object) -> None:
        """Silent: requests hold questions, and logs outlive them."""

    def _reply(self) -> Reply:
        """Health is told at once, whatever others wait for."""
        route = f"{self.command} {self.path}"
        try:
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

    def _read(self) -> bytes:
        length = int(self.headers.get("Content-Length") or 0)
        if length > LONGEST_BODY:
            self.close_connection = True
            raise bad_request(f"A body of {length} bytes is over {LONGEST_BODY}.")
        return self.rfile.read(length)

    def _is_wanted(self) -> bool:
        """A client that waits for its answer sends nothing: what can be read is the end."""
        readable, _, _ = select([self.connection], [], [], 0)
        return not readable

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)
