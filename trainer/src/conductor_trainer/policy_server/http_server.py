"""HTTP around the service: many connections, and one thread that works in the order of arrival."""

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from select import select
from typing import Any

from conductor_trainer.policy_server.api_error import ApiError, bad_request, not_found
from conductor_trainer.policy_server.service import Body, PolicyService

LONGEST_BODY = 32 * 1024 * 1024
"""Bytes; a hundred times the longest prompt that there is a model for."""

IsWanted = Callable[[], bool]
"""Whether somebody still waits for the answer."""

Answer = Callable[[str, bytes, IsWanted], tuple[int, Body]]
"""From `METHOD /path` and a body to a status and a body."""


class PolicyHttpServer(ThreadingHTTPServer):
    """Serves a policy service. `server_address` tells the port, also where 0 was asked for."""

    daemon_threads = True
    # A cycle begins with a burst of connections; the library's own five would turn some away.
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], service: PolicyService) -> None:
        super().__init__(address, partial(_Handler, self.answer))
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="policy")
        self._routes: dict[str, Callable[[Body], Body]] = {
            "GET /v1/models": service.models,
            "POST /tokenize": service.tokenize,
            "POST /v1/completions": service.completions,
            "POST /v1/load_lora_adapter": service.load,
            "POST /v1/unload_lora_adapter": service.unload,
        }

    def answer(self, route: str, sent: bytes, is_wanted: IsWanted) -> tuple[int, Body]:
        """Does what a request asks for when its turn has come; health is told at once.

        Clients are killed and their requests asked again by others, so what nobody waits for any
        more must not keep those waiting.
        """
        if route == "GET /health":
            return 200, {}
        try:
            work = self._routes.get(route)
            if work is None:
                raise not_found(f"There is no {route}.")
            body = _parse(sent)
            done = self._worker.submit(lambda: work(body) if is_wanted() else {})
            return 200, done.result()
        except ApiError as error:
            return error.status, error.body()
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            return 500, ApiError(500, "InternalServerError", said).body()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Silent about clients that hung up: whoever is cancelled does."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __init__(self, answer: Answer, *connection: Any) -> None:
        self._answer = answer
        super().__init__(*connection)

    def do_GET(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def log_message(self, format: str, *args: object) -> None:
        """Silent: requests hold questions, and logs outlive them."""

    def _respond(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > LONGEST_BODY:
            self.close_connection = True
            refusal = bad_request(f"A body of {length} bytes is over {LONGEST_BODY}.")
            return self._send(refusal.status, refusal.body())
        sent = self.rfile.read(length)
        self._send(*self._answer(f"{self.command} {self.path}", sent, self._is_connected))

    def _is_connected(self) -> bool:
        """A client that waits for its answer sends nothing: what can be read is the end."""
        readable, _, _ = select([self.connection], [], [], 0)
        return not readable

    def _send(self, status: int, body: Body) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)


def _parse(sent: bytes) -> Body:
    try:
        body = json.loads(sent or b"{}")
    except ValueError as error:
        raise bad_request(f"The body is not JSON: {error}.") from error
    if not isinstance(body, dict):
        raise bad_request("The body is no JSON object.")
    return body
