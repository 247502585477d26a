"""What a policy server reads from a socket: whose requests, how long, and for how long."""

import json
import socket
import threading
from collections.abc import Iterator

import httpx
import pytest

from conductor_trainer.http_answers import LONGEST_BODY, AnsweringServer, IsWanted, Reply, as_json

QUESTION = b'{"model": "first"}'


class Answers:
    """A server that repeats what it was asked, and remembers it."""

    def __init__(self, patience: float) -> None:
        self.asked: list[str] = []
        self.server = AnsweringServer(("127.0.0.1", 0), self.respond, patience=patience)
        self.address: tuple[str, int] = ("127.0.0.1", self.server.server_address[1])

    def respond(self, route: str, sent: bytes, is_wanted: IsWanted) -> Reply:
        self.asked.append(route)
        return as_json({"bytes": len(sent)})

    def send(self, text: bytes) -> tuple[int, bytes, bool]:
        """Status and body of the answer to raw bytes, and whether the connection then ends."""
        with socket.create_connection(self.address, timeout=60) as connection:
            connection.sendall(text)
            stream = connection.makefile("rb")
            status = int(stream.readline().split()[1])
            headers = dict(iter(lambda: stream.readline().strip().split(b": "), [b""]))
            body = stream.read(int(headers[b"Content-Length"]))
            is_over = headers.get(b"Connection") == b"close"
            # The server keeps its word.
            assert not is_over or connection.recv(1) == b""
            return status, body, is_over


@pytest.fixture
def answers(request: pytest.FixtureRequest) -> Iterator[Answers]:
    answers = Answers(getattr(request, "param", 60))
    thread = threading.Thread(target=answers.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield answers
    answers.server.shutdown()
    answers.server.server_close()
    thread.join()


def post(*headers: str, body: bytes = QUESTION) -> bytes:
    lines = ["POST /tokenize HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


JSON = "Content-Type: application/json"
LENGTH = f"Content-Length: {len(QUESTION)}"


@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON; charset=utf-8"])
def test_a_program_that_sends_json_is_answered(answers: Answers, content_type: str) -> None:
    status, body, is_over = answers.send(post(f"Content-Type: {content_type}", LENGTH))
    assert (status, json.loads(body), is_over) == (200, {"bytes": len(QUESTION)}, False)


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:8001", "null"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_page_of_a_browser_is_answered(answers: Answers, method: str, origin: str) -> None:
    url = f"http://127.0.0.1:{answers.address[1]}/v1/models"
    headers = {"Origin": origin, "Content-Type": "application/json"}
    answer = httpx.request(method, url, headers=headers, content=QUESTION)
    assert answer.status_code == 403
    assert "no page of a browser" in answer.json()["error"]["message"]
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
        (["Transfer-Encoding: chunked"], 411),
        (["Transfer-Encoding: chunked", LENGTH], 411),
        ([], 411),
    ],
)
def test_a_body_without_an_honest_length_is_refused_unread(
    answers: Answers, headers: list[str], status: int
) -> None:
    said, body, is_over = answers.send(
        post(JSON, *headers, body=b"POST /v1/models HTTP/1.1\r\n\r\n")
    )
    assert said == status
    assert json.loads(body)["error"]["code"] == status
    # What was not read must not be taken for the next request.
    assert is_over
    assert answers.asked == []


@pytest.mark.parametrize(
    "begun",
    [b"", b"POST /tokenize HTTP/1.1\r\nContent-", post(JSON, "Content-Length: 100", body=b"{")],
    ids=["nothing", "half of its headers", "half of its body"],
)
@pytest.mark.parametrize("answers", [0.2], indirect=True)
def test_a_connection_that_stalls_is_closed(answers: Answers, begun: bytes) -> None:
    with socket.create_connection(answers.address, timeout=60) as connection:
        connection.sendall(begun)
        said = b"".join(iter(lambda: connection.recv(4096), b""))
    assert said == b"" or said.startswith(b"HTTP/1.1 408 ")
    assert answers.asked == []


def test_a_connection_too_many_is_told_to_come_again() -> None:
    def respond(route: str, sent: bytes, is_wanted: IsWanted) -> Reply:
        return as_json({})

    with AnsweringServer(("127.0.0.1", 0), respond, most=2) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        address = ("127.0.0.1", server.server_address[1])

        def ask() -> int:
            return httpx.get(f"http://127.0.0.1:{address[1]}/v1/models").status_code

        with socket.create_connection(address), socket.create_connection(address):
            # Accepted in their order: the third is one too many.
            assert ask() == 503
        # The places of those that left are free as soon as their threads have noticed.
        assert 200 in iter(ask, None)
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("begun", "drop"),
    [
        (b"", b"P"),
        (b"POST /tokenize HTTP/1.1\r\nX-Slow: ", b"x"),
        (b"POST /tokenize HTTP/1.1\r\n", b"X: y\r\n"),
        (post(JSON, "Content-Length: 1000000", body=b"{"), b" "),
    ],
    ids=["its line", "a header", "headers", "its body"],
)
@pytest.mark.parametrize("answers", [0.5], indirect=True)
def test_a_request_that_trickles_is_not_waited_for(
    answers: Answers, begun: bytes, drop: bytes
) -> None:
    with socket.create_connection(answers.address, timeout=60) as connection:
        connection.sendall(begun)
        stop = threading.Event()

        def trickle() -> None:
            while not stop.wait(0.05):
                try:
                    connection.send(drop)
                except OSError:
                    return

        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            said = connection.recv(4096)
        except ConnectionResetError:
            said = b""
        stop.set()
        thread.join()
    # Of a request that is not known yet, nothing can be said to the client.
    assert said == b"" or said.startswith(b"HTTP/1.1 408 ")
    assert answers.asked == []


def test_headers_beyond_a_bound_are_refused(answers: Answers) -> None:
    with socket.create_connection(answers.address, timeout=60) as connection:
        connection.sendall(b"POST /tokenize HTTP/1.1\r\n" + b"X: " + b"y" * 60_000 + b"\r\n")
        connection.sendall((b"Y: " + b"z" * 30_000 + b"\r\n") * 4)
        assert connection.makefile("rb").readline().startswith(b"HTTP/1.1 431 ")
    assert answers.asked == []
