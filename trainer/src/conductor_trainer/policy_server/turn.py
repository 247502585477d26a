"""Whose turn it is: a policy server works on one request at a time, and few may wait."""

from asyncio import Lock
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from conductor_trainer.http_answers import MOST_CONNECTIONS, ApiError

MOST_WAITING = MOST_CONNECTIONS // 2
"""Requests that wait or are worked on; the other connections are for those that need no turn."""


class Turn:
    def __init__(self) -> None:
        self._lock = Lock()
        self._asking = 0

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Waits in order of arrival. Raises `ApiError` 429 if too many requests wait already."""
        if self._asking >= MOST_WAITING:
            raise ApiError(429, f"{self._asking} requests wait here already: try again later.")
        self._asking += 1
        try:
            async with self._lock:
                yield
        finally:
            self._asking -= 1
