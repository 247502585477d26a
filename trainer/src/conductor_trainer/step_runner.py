"""The worker's side of the fork server: asks for one step after another, and keeps it alive."""

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from conductor_trainer.errors import StepLost, TrainerError
from conductor_trainer.requests import JsonObject

FORK_SERVER = (sys.executable, "-m", "conductor_trainer.fork_server")

_LONGEST_LINE = 64 * 1024 * 1024


class StepRunner:
    """Runs steps in children of a fork server, which is started when first needed and when lost.

    One step at a time: all of them want the same cores or the same GPU.
    """

    def __init__(self, root: Path, command: Sequence[str] = FORK_SERVER) -> None:
        self._root = root
        self._command = command
        self._turn = asyncio.Lock()
        self._server: Process | None = None
        self._last_id = 0

    async def start(self) -> None:
        """Starts the server ahead of the first step, for its imports take seconds."""
        async with self._turn:
            await self._running_server()

    async def run(
        self, job: str, request: Any, files: dict[str, str], report: Callable[[str], None]
    ) -> JsonObject:
        """Runs a step to its result; where the caller is cancelled, kills it.

        Raises the `TrainerError` that the step told, or `StepLost` where it can tell no more.
        """
        report("waiting")
        async with self._turn:
            server = await self._running_server()
            self._last_id += 1
            number = self._last_id
            message = {"id": number, "job": job, "root": str(self._root)}
            await _send(server, {**message, "request": request, "files": files})
            try:
                return await self._answer(server, number, report)
            except asyncio.CancelledError:
                await _send(server, {"cancel": number})
                # Only when it is dead may another step begin. How it died is nobody's matter now.
                with contextlib.suppress(TrainerError):
                    await self._answer(server, number, report)
                raise

    async def stop(self) -> None:
        """Ends the server, and whatever step still runs in it."""
        if self._server is not None and self._server.returncode is None and self._server.stdin:
            self._server.stdin.close()
            await self._server.wait()

    async def _running_server(self) -> Process:
        if self._server is None or self._server.returncode is not None:
            self._server = await asyncio.create_subprocess_exec(
                *self._command, stdin=PIPE, stdout=PIPE, limit=_LONGEST_LINE
            )
            await _receive(self._server)
        return self._server

    async def _answer(
        self, server: Process, number: int, report: Callable[[str], None]
    ) -> JsonObject:
        while True:
            message = await _receive(server)
            if message.get("id") != number:
                continue
            if "progress" in message:
                report(message["progress"]["phase"])
            elif "error" in message:
                raise _error_of(message["error"])
            else:
                return message["result"]


async def _send(server: Process, message: JsonObject) -> None:
    if server.stdin is None:
        raise StepLost("The fork server has no input.")
    with contextlib.suppress(ConnectionError):
        server.stdin.write(json.dumps(message).encode() + b"\n")
        await server.stdin.drain()


async def _receive(server: Process) -> Any:
    line = await server.stdout.readline() if server.stdout else b""
    if line:
        return json.loads(line)
    status = await server.wait()
    raise StepLost(
        f"The trainer's fork server ended with status {status}, and the step with it. It left no "
        "checkpoint behind, and a new server is started for the next attempt."
    )


def _error_of(told: JsonObject) -> TrainerError:
    error = TrainerError(told["message"])
    error.type = told["type"]
    error.retryable = told["retryable"]
    return error
