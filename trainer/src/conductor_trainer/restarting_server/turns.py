"""Grants turns to callers that want one of several mutually exclusive resources."""

from asyncio import Event
from collections import OrderedDict
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class Turns:
    """A lock that callers share while they want the same resource.

    1. All holders at any one time want the same resource.
    2. Once a caller waits, none overtakes it: those that want the current resource wait as well.
    3. When the last holder leaves, the group that has waited longest enters together.
    4. Callers wait only while there is a holder, whose leaving admits the next group.
    """

    def __init__(self) -> None:
        self._current: Hashable = None
        self._inside = 0
        self._waiting: OrderedDict[Hashable, list[Event]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, wanted: Hashable) -> AsyncIterator[None]:
        """Waits for a turn, and leaves at the end of the block."""
        await self.ask(wanted).wait()
        try:
            yield
        finally:
            self.leave()

    def ask(self, wanted: Hashable) -> Event:
        """Joins the queue. The returned event is set once the turn has come, possibly at once."""
        turn = Event()
        if not self._waiting and (self._inside == 0 or self._current == wanted):
            self._current = wanted
            self._inside += 1
            turn.set()
        else:
            self._waiting.setdefault(wanted, []).append(turn)
        return turn

    def leave(self) -> None:
        self._inside -= 1
        if self._inside == 0 and self._waiting:
            self._current, group = self._waiting.popitem(last=False)
            self._inside = len(group)
            for turn in group:
                turn.set()
