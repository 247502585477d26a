"""Passes requests on to a server behind, and its answers back."""

import httpx

from conductor_trainer.http_answers import Reply


class Relay:
    """A connection for each request: one kept open may have been closed at the other end."""

    def __init__(self) -> None:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        self._client = httpx.Client(timeout=None, limits=limits, trust_env=False)

    def send(self, url: str, route: str, sent: bytes) -> Reply:
        """The answer as it is. Raises `httpx.TransportError` where none came."""
        method, path = route.split(" ")
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        answer = self._client.request(method, url + path, content=sent, headers=headers)
        content_type = answer.headers.get("Content-Type", "text/plain")
        return Reply(answer.status_code, answer.content, content_type)
