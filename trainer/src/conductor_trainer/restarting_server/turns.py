"""Whose turn it is, where many want one of several things that exclude each other."""

from asyncio import Event
from collections import OrderedDict
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class Turns:
    """Lets in together whoever wants the same thing, and one thing after the other.

    1. All who are in at a time want the same thing.
    2. Once somebody waits, nobody overtakes: whoever wants what is being used waits as well.
    3. When the last one leaves, the group that has waited longest goes in as one.
    4. Somebody waits only while somebody is in, whose leaving lets the next ones go.
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
        """Gets in line. The event is set once the turn has come, which may be so already."""
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
