"""Runs steps, one at a time, each in a process of its own that may die at any moment.

1. A step is a fork of multiprocessing's fork server, which has paid for the imports (ten seconds).
   CUDA does not survive a fork, so a step on a GPU is a new process.
2. A step leads a process group. It is killed with all that it started, and no other step begins
   before it is dead.
3. What a step says comes through a pipe, and the pipe's end is the step's death.
4. A step dies with its worker, however that ended.
"""

import asyncio
import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Thread
from typing import Any

from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import StepLost, TrainerError

Report = Callable[[str], None]
Perform = Callable[[str, Path, Any, Mapping[str, str], Report], JsonObject]
Job = tuple[str, Path, Any, Mapping[str, str]]
"""A job's name, the folder of all checkpoints, the request, and local copies of stored bytes."""

_FORK = multiprocessing.get_context("forkserver")
_FORK.set_forkserver_preload(["conductor_trainer.jobs"])
_SPAWN = multiprocessing.get_context("spawn")


def perform_job(
    job: str, root: Path, request: Any, files: Mapping[str, str], report: Report
) -> JsonObject:
    """The trainer's own jobs; `start` only shows that a step can be started."""
    # Imported here, since the worker itself must not load torch.
    from conductor_trainer.jobs import perform

    return {} if job == "start" else perform(job, root, request, files, report)


class StepRunner:
    """Runs steps. The fork server is started when it is first needed, and again when it is lost."""

    def __init__(self, root: Path, perform: Perform = perform_job) -> None:
        """`perform` is a function of a module: steps import it."""
        self._root = root
        self._perform = perform
        # All steps want the same cores, or the same GPU.
        self._turn = asyncio.Lock()

    async def start(self) -> None:
        """Starts the fork server ahead of the first step, for its imports take seconds.

        Raises `TrainerError` where no step can be started.
        """
        await self.run("start", {}, {}, lambda _: None)

    async def run(
        self, job: str, request: Any, files: Mapping[str, str], report: Report
    ) -> JsonObject:
        """Runs a step to its result; kills it where the caller is cancelled.

        Raises the step's own `TrainerError`, or `StepLost` where the step died.
        """
        report("waiting")
        loop = asyncio.get_running_loop()

        def relay(phase: str) -> None:
            loop.call_soon_threadsafe(report, phase)

        async with self._turn:
            step = _Step((job, self._root, request, files), self._perform)
            ended = asyncio.ensure_future(asyncio.to_thread(step.run, relay))
            try:
                return await asyncio.shield(ended)
            except asyncio.CancelledError:
                step.kill()
                # Only when it is dead may another step begin, however often this one is cancelled.
                while not ended.done():
                    with contextlib.suppress(asyncio.CancelledError):
                        await asyncio.wait([ended])
                # Its outcome no longer matters.
                ended.exception()
                raise


class _Step:
    """One step, seen from the worker."""

    def __init__(self, job: Job, perform: Perform) -> None:
        self._said, said = _FORK.Pipe(duplex=False)
        self._childs_end = said
        self._is_cancelled = Event()
        start = _SPAWN if _is_on_gpu(job) else _FORK
        # A daemon, so that a worker that ends does not wait for it.
        self._process = start.Process(target=_be_step, args=(said, perform, job), daemon=True)

    def run(self, report: Report) -> JsonObject:
        """Starts it and waits for its outcome, then until it is dead. Blocks."""
        try:
            self._start()
            while isinstance(said := self._said.recv(), str):
                report(said)
        except EOFError:
            raise self._lost() from None
        finally:
            self._end()
        if isinstance(said, TrainerError):
            raise said
        return said

    def kill(self) -> None:
        """Kills it and all that it started; before its start, as soon as it has started."""
        self._is_cancelled.set()
        pid = self._process.pid
        if pid is None:
            return
        # It may not lead its group yet, or may have ended a moment ago.
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError):
                kill(pid, signal.SIGKILL)

    def _start(self) -> None:
        try:
            self._process.start()
        except (OSError, EOFError) as cause:
            raise StepLost(
                f"The fork server ended while it started a step ({type(cause).__name__}); it says "
                "more on stderr. A new one is started for the next attempt."
            ) from cause
        finally:
            self._childs_end.close()
        if self._is_cancelled.is_set():
            self.kill()

    def _lost(self) -> StepLost:
        self._process.join()
        status = self._process.exitcode or 0
        how = (
            f"was killed by {signal.Signals(-status).name}"
            if status < 0
            else f"ended with {status}"
        )
        return StepLost(
            f"The step's process {how} before it answered. It left no checkpoint: try again."
        )

    def _end(self) -> None:
        """Leaves nothing running. A killed fork server reports no end, but the pipe does."""
        self.kill()
        with contextlib.suppress(EOFError, OSError):
            while True:
                self._said.recv()
        self._said.close()
        if self._process.pid is not None:
            self._process.join()


def _be_step(said: Connection, perform: Perform, job: Job) -> None:
    """Says phases as often as there are any, then one result or one error."""
    os.setpgid(0, 0)
    Thread(target=_die_with_the_worker, daemon=True).start()
    if _is_on_gpu(job):
        # One GPU trains; with more in sight the libraries would split a batch in their own way.
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0")
        os.environ["CUDA_VISIBLE_DEVICES"] = visible.split(",")[0]
    try:
        outcome = perform(*job, said.send)
    except TrainerError as error:
        outcome = error
    except Exception as error:
        outcome = TrainerError(f"The step failed: {type(error).__name__}: {error}")
    said.send(outcome)


def _is_on_gpu(job: Job) -> bool:
    _, _, request, _ = job
    return request.get("config", {}).get("device") == "cuda"


def _die_with_the_worker() -> None:
    worker = multiprocessing.parent_process()
    if worker is not None:
        worker.join()
        os.killpg(0, signal.SIGKILL)
