"""Requests that a policy server reads from a socket: from whom, how long, and for how long."""

import asyncio
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import httpx
import pytest
from starlette.requests import Request

from conductor_trainer import http_answers
from conductor_trainer.http_answers import LONGEST_BODY, Body, Handler
from serving import serving

QUESTION = b'{"model": "first"}'


class Answers:
    """A server that repeats what it was asked, and remembers it."""

    def __init__(self) -> None:
        self.asked: list[Body] = []
        routes = ("POST /tokenize", "GET /v1/models", "POST /v1/models")
        self.routes: dict[str, Handler] = {route: self.respond for route in routes}
        self.address: tuple[str, int] = ("", 0)

    async def respond(self, body: Body, request: Request) -> Body:
        self.asked.append(body)
        return body

    def send(self, text: bytes) -> tuple[int, bytes, bool]:
        """Status and body of the answer to raw bytes, and whether the connection then ends."""
        with socket.create_connection(self.address, timeout=60) as connection:
            connection.sendall(text)
            stream = connection.makefile("rb")
            status = int(stream.readline().split()[1])
            lines = iter(lambda: stream.readline().strip(), b"")
            headers = dict(line.lower().split(b": ") for line in lines)
            body = stream.read(int(headers.get(b"content-length", -1)))
            is_over = headers.get(b"connection") == b"close"
            # The server keeps its word.
            assert not is_over or connection.recv(1) == b""
            return status, body, is_over


@pytest.fixture
def answers() -> Iterator[Answers]:
    answers = Answers()
    with serving(answers.routes) as url:
        answers.address = ("127.0.0.1", httpx.URL(url).port or 0)
        yield answers


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    """One that waits for half a second."""
    monkeypatch.setattr(http_answers, "REQUEST_SECONDS", 0.5)
    answers = Answers()
    with serving(answers.routes) as url:
        answers.address = ("127.0.0.1", httpx.URL(url).port or 0)
        yield answers


def post(*headers: str, body: bytes = QUESTION) -> bytes:
    lines = ["POST /tokenize HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


JSON = "Content-Type: application/json"
LENGTH = f"Content-Length: {len(QUESTION)}"


@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON; charset=utf-8"])
def test_a_program_that_sends_json_is_answered(answers: Answers, content_type: str) -> None:
    status, body, is_over = answers.send(post(f"Content-Type: {content_type}", LENGTH))
    assert (status, json.loads(body), is_over) == (200, {"model": "first"}, False)


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:8001", "null"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_page_of_a_browser_is_answered(answers: Answers, method: str, origin: str) -> None:
    url = f"http://127.0.0.1:{answers.address[1]}/v1/models"
    headers = {"Origin": origin, "Content-Type": "application/json"}
    answer = httpx.request(method, url, headers=headers, content=QUESTION)
    assert answer.status_code == 403
    assert "does not answer web pages" in answer.json()["error"]["message"]
    assert answers.asked == []


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
    ],
)
def test_what_a_form_of_a_browser_could_send_is_refused(
    answers: Answers, content_type: str | None
) -> None:
    headers = [] if content_type is None else [f"Content-Type: {content_type}"]
    status, body, _ = answers.send(post(*headers, LENGTH))
    assert status == 415
    assert "application/json" in json.loads(body)["error"]["message"]
    assert answers.asked == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([f"Content-Length: {LONGEST_BODY + 1}"], 413),
        (["Content-Length: -1"], 400),
        (["Content-Length: 1e3"], 400),
        (["Content-Length: +5"], 400),
        (["Content-Length: 5", "Content-Length: 6"], 400),
        (["Transfer-Encoding: chunked"], 400),
        (["Transfer-Encoding: chunked", LENGTH], 400),
        ([], 411),
    ],
)
def test_a_body_without_an_honest_length_is_refused_unread(
    answers: Answers, headers: list[str], status: int
) -> None:
    said, _, is_over = answers.send(post(JSON, *headers, body=b"POST /v1/models HTTP/1.1\r\n\r\n"))
    # The unread body must not be taken for the next request.
    assert (said, is_over) == (status, True)
    assert answers.asked == []


def test_a_body_in_chunks_is_refused(answers: Answers) -> None:
    url, headers = f"http://127.0.0.1:{answers.address[1]}", {"Content-Type": "application/json"}
    assert httpx.post(f"{url}/tokenize", headers=headers, content=iter([b"{}"])).status_code == 411


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff"])
def test_a_body_that_is_no_object_is_refused(answers: Answers, body: bytes) -> None:
    status, said, _ = answers.send(post(JSON, f"Content-Length: {len(body)}", body=body))
    assert (status, json.loads(said)["error"]["type"]) == (400, "BadRequestError")


@pytest.mark.parametrize("drop", [b"", b"x"], ids=["stalls", "trickles"])
@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"POST /tokenize HTTP/1.1\r\nX-Slow: ",
        post(JSON, "Content-Length: 1000000", body=b"{"),
        # The next request on the connection.
        post(JSON, LENGTH) + b"P",
    ],
    ids=["nothing", "headers", "body", "second"],
)
def test_a_request_that_is_not_there_in_time_is_not_waited_for(
    hurried: Answers, begun: bytes, drop: bytes
) -> None:
    with socket.create_connection(hurried.address, timeout=60) as connection:
        connection.sendall(begun)
        stop = threading.Event()

        def trickle() -> None:
            while drop and not stop.wait(0.05):
                try:
                    connection.send(drop)
                except OSError:
                    return

        thread = threading.Thread(target=trickle)
        thread.start()
        said = b""
        try:
            while more := connection.recv(4096):
                said += more
        except ConnectionResetError:
            pass
        stop.set()
        thread.join()
    answered = 1 if begun.endswith(b"P") else 0
    assert said.count(b"HTTP/1.1 200 ") == answered
    assert len(hurried.asked) == answered


def test_an_answer_that_takes_longer_than_a_request_may_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_answers, "REQUEST_SECONDS", 1)

    async def answer_slowly(body: Body, request: Request) -> Body:
        await asyncio.sleep(1.5)
        return body

    with serving({"POST /tokenize": answer_slowly}) as url:
        assert httpx.post(f"{url}/tokenize", json={"model": "first"}).json() == {"model": "first"}


def test_a_connection_too_many_is_told_to_come_again() -> None:
    answers = Answers()
    with serving(answers.routes, most=2) as url:
        address = ("127.0.0.1", httpx.URL(url).port or 0)

        def ask() -> int:
            return httpx.get(f"{url}/v1/models").status_code

        with socket.create_connection(address), socket.create_connection(address):
            assert ask() == 503
        assert 200 in iter(ask, None)


def test_headers_beyond_a_bound_are_refused(answers: Answers) -> None:
    with socket.create_connection(answers.address, timeout=60) as connection:
        connection.sendall(b"POST /tokenize HTTP/1.1\r\n" + b"X: " + b"y" * 60_000 + b"\r\n")
        connection.sendall((b"Y: " + b"z" * 30_000 + b"\r\n") * 4)
        assert connection.makefile("rb").readline().startswith(b"HTTP/1.1 400 ")
    assert answers.asked == []


def test_another_path_and_a_failure_are_told_as_vllm_tells_them() -> None:
    async def fail(body: Body, request: Request) -> Body:
        raise RuntimeError("no room")

    with serving({"GET /v1/models": fail}) as url:
        answers = [httpx.get(f"{url}{path}").json() for path in ("/metrics", "/v1/models")]
        assert httpx.get(f"{url}/health").json() == {}
    errors = [(each["error"]["code"], each["error"]["type"]) for each in answers]
    assert errors == [(404, "NotFoundError"), (500, "InternalServerError")]
    assert answers[1]["error"]["message"] == "RuntimeError: no room"


# A server that is told to end when its URL is known, and it does not serve yet.
ENDED_AT_ONCE = """
import asyncio, os, signal, socket
from conductor_trainer.http_answers import serve
run = asyncio.run
def run_too_late(serving):
    os.kill(os.getpid(), signal.SIGTERM)
    run(serving)
asyncio.run = run_too_late
serve({}, socket.create_server(("127.0.0.1", 0)))
"""


def test_a_server_that_is_told_to_end_before_it_serves_ends() -> None:
    command = [sys.executable, "-c", ENDED_AT_ONCE]
    assert subprocess.run(command, stdout=subprocess.PIPE, timeout=60, check=False).returncode == 0
