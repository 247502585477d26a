"""A policy server within a test."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from conductor_trainer.http_answers import MOST_CONNECTIONS, Handler, application, server_of


@contextmanager
def serving(routes: Mapping[str, Handler], most: int = MOST_CONNECTIONS) -> Iterator[str]:
    """A server in a thread, by its URL."""
    server = server_of(application(routes), most)
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()
