"""What tests hear of a step, and whether its processes have ended."""

import asyncio
from collections.abc import Callable
from pathlib import Path


def ignore(_phase: str) -> None:
    """For steps whose phases do not matter."""


class Phases:
    """The phases that a step reports."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._reported = asyncio.Event()

    def report(self, phase: str) -> None:
        self.all.append(phase)
        self._reported.set()

    async def wait_for(self, is_it: Callable[[str], bool]) -> str:
        while not is_it(self.all[-1] if self.all else ""):
            self._reported.clear()
            await self._reported.wait()
        return self.all[-1]


def is_running(pid: int) -> bool:
    """False for a zombie without threads: not every container's first process collects orphans."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return "State:\tZ" not in status or "Threads:\t1\n" not in status


async def until_ended(*pids: int) -> None:
    async with asyncio.timeout(20):
        while any(is_running(pid) for pid in pids):
            await asyncio.sleep(0.05)
