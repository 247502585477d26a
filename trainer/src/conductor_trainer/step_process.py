"""A step in a process of its own, which may die without taking anything with it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Never

from conductor_trainer.jobs import Job, perform
from conductor_trainer.json_lines import LineReader, line_writer


@dataclass(eq=False)
class StepProcess:
    """A child that works on a job, and leads a process group of its own."""

    job_id: int
    pid: int
    answers: LineReader
    wait: Callable[[], int]
    """Its exit status; negative: the signal that killed it."""
    is_answered: bool = False

    def kill(self) -> None:
        """With everything it started."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            # It ended by itself a moment ago.
            return


def start_step(job: Job) -> StepProcess:
    """Forks, which saves the imports; but CUDA does not survive a fork, and gets a new process."""
    is_cuda = job["request"].get("config", {}).get("device") == "cuda"
    answers_in, answers_out = os.pipe()
    start = _spawn if is_cuda else _fork
    pid, wait = start(job, answers_in, answers_out)
    os.close(answers_out)
    return StepProcess(job["id"], pid, LineReader(answers_in), wait)


def _fork(job: Job, answers_in: int, answers_out: int) -> tuple[int, Callable[[], int]]:
    pid = os.fork()
    if pid == 0:
        _be_step(job, answers_in, answers_out)
    # Both sides do it, whoever is first: a cancellation must find the group.
    os.setpgid(pid, pid)
    return pid, lambda: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _be_step(job: Job, answers_in: int, answers_out: int) -> Never:
    """Leaves without the clean-up of the process that it is a copy of."""
    status = 1
    try:
        os.setpgid(0, 0)
        os.close(answers_in)
        perform(job, line_writer(answers_out))
        status = 0
    finally:
        os._exit(status)


def _first_gpu() -> str:
    """One GPU trains; with more in sight the libraries would split a batch in their own way."""
    return os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]


def _spawn(job: Job, _answers_in: int, answers_out: int) -> tuple[int, Callable[[], int]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "conductor_trainer.step"],
        stdin=subprocess.PIPE,
        stdout=answers_out,
        process_group=0,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": _first_gpu()},
    )
    if process.stdin is not None:
        line_writer(process.stdin.fileno())({**job})
        process.stdin.close()
    return process.pid, process.wait
