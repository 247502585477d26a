"""Runs steps one at a time, each in its own process, which may die at any moment.

1. A step is a fork of multiprocessing's fork server, which does the imports (ten seconds) once.
   The server itself never uses a GPU: an initialised CUDA context does not survive a fork. So a
   step that needs bitsandbytes is no fork, and does its own imports.
2. A step leads a process group. It is killed with all that it started, and no other step begins
   before it is dead. Processes that train together end with it by themselves (`train/launch.py`).
3. A step sends its phases and its result through a pipe. When the pipe closes, the step is over.
4. A step dies with its worker, however the worker ends.
"""

import asyncio
import contextlib
import contextvars
import json
import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from multiprocessing.connection import Connection
from pathlib import Path
from pkgutil import resolve_name
from threading import Event, Thread
from typing import Any

from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import StepLost, TrainerError
from conductor_trainer.low_bits import needs_bitsandbytes
from conductor_trainer.step.messages import Report, answer, hear
from conductor_trainer.train.nodes import processes_here

Job = tuple[str, Path, Any, Path | None]
"""Name, folder of all checkpoints, checked request, and a local copy of the artifact it names."""

JOBS = "conductor_trainer.step.main:perform"
"""Name of the function that performs jobs. The worker must not import it: it loads torch."""

_FORK = multiprocessing.get_context("forkserver")
_FORK.set_forkserver_preload(
    ["conductor_trainer.step.without_bitsandbytes", JOBS.partition(":")[0]]
)
_SPAWN = multiprocessing.get_context("spawn")

_NOTHING = nullcontext()


def claim_stdout() -> Callable[[JsonObject], None]:
    """Reserves stdout for lines of JSON; library output, here or in a step, goes to stderr."""
    stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return lambda message: print(json.dumps(message), file=stdout, flush=True)


class StepRunner:
    """Runs steps. Starts the fork server when it is first needed, and again if it is lost."""

    def __init__(self, root: Path, perform: str = JOBS) -> None:
        """`perform` names a function, as `module:function`, which steps import."""
        self._root = root
        self._perform = perform
        # Steps run one at a time, since all need the same cores or the same GPUs.
        self._turn = asyncio.Lock()

    async def start(self) -> None:
        """Starts the fork server (takes seconds). Raises `TrainerError` if no step can start."""
        await self.run("start", {}, None, lambda _: None)

    async def run(
        self,
        job: str,
        request: Any,
        file: Path | None,
        report: Report,
        meanwhile: AbstractAsyncContextManager[None] = _NOTHING,
    ) -> JsonObject:
        """Runs a step, with `meanwhile` entered once its turn has come. Cancelling kills it.

        Raises its `TrainerError`, or `StepLost` if it died.
        """
        report("waiting")
        # Temporal's heartbeats find their activity through the context.
        loop, context = asyncio.get_running_loop(), contextvars.copy_context()

        def relay(phase: str) -> None:
            loop.call_soon_threadsafe(report, phase, context=context)

        async with self._turn, meanwhile:
            step = _Step((job, self._root, request, file), self._perform)
            ended = loop.run_in_executor(None, step.run, relay)
            try:
                return await asyncio.shield(ended)
            except asyncio.CancelledError:
                step.kill()
                # The next step must wait until this one is dead, even if cancelled again.
                while not ended.done():
                    with contextlib.suppress(asyncio.CancelledError):
                        await asyncio.wait([ended])
                # Retrieves the exception so that asyncio does not log it.
                ended.exception()
                raise


class _Step:
    def __init__(self, job: Job, perform: str) -> None:
        config = job[2].get("config")
        context = _SPAWN if config is not None and needs_bitsandbytes(config) else _FORK
        self._messages, self._childs_end = context.Pipe(duplex=False)
        self._is_cancelled = Event()
        # A daemon, so that a worker that ends does not wait for it.
        self._process = context.Process(
            target=_be_step, args=(self._childs_end, perform, job), daemon=True
        )

    def run(self, report: Report) -> JsonObject:
        try:
            self._start()
            return hear(self._receive, report)
        finally:
            # Leaves no process of the step running.
            self.kill()
            self._messages.close()
            if self._process.pid is not None:
                self._process.join()

    def kill(self) -> None:
        """Kills the step with all that it started; if it has not started, as soon as it has."""
        self._is_cancelled.set()
        pid = self._process.pid
        if pid is None:
            return
        with contextlib.suppress(ProcessLookupError):
            try:
                os.killpg(pid, signal.SIGKILL)
            except ProcessLookupError:
                # The step does not lead its group yet, or has ended.
                os.kill(pid, signal.SIGKILL)

    def _start(self) -> None:
        try:
            self._process.start()
        except (OSError, EOFError) as cause:
            raise StepLost(
                f"The fork server ended while it started a step ({type(cause).__name__}); see its "
                "output on stderr. The next attempt starts a new one."
            ) from cause
        finally:
            self._childs_end.close()
        if self._is_cancelled.is_set():
            self.kill()

    def _receive(self) -> str | JsonObject | TrainerError:
        try:
            return self._messages.recv()
        except (OSError, EOFError) as cause:
            self._process.join()
            raise StepLost(
                f"The step's process {_how_it_died(self._process.exitcode or 0)} before it "
                "answered. It left no checkpoint: try again."
            ) from cause


def _how_it_died(status: int) -> str:
    return f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with {status}"


def _be_step(messages: Connection, perform: str, job: Job) -> None:
    """Runs in the step's own process."""
    os.setpgid(0, 0)
    Thread(target=_die_with_the_worker, daemon=True).start()

    def work() -> JsonObject:
        config = job[2].get("config", {})
        if config.get("device") == "cuda":
            given = os.environ.get("CUDA_VISIBLE_DEVICES")
            os.environ["CUDA_VISIBLE_DEVICES"] = gpus_for(processes_here(config), given)
        return resolve_name(perform)(*job, messages.send)

    answer(messages.send, work)


def gpus_for(processes: int, given: str | None) -> str:
    """Returns one GPU per process; the libraries would split a batch over more in their own way."""
    visible = [*map(str, range(processes))] if given is None else given.split(",")
    return ",".join(visible[:processes])


def _die_with_the_worker() -> None:
    worker = multiprocessing.parent_process()
    if worker is not None:
        worker.join()
        os.killpg(0, signal.SIGKILL)
