"""Runs each step in a process of its own without paying for its imports: `python -m conductor_trainer.fork_server`.

Jobs and cancellations come as JSON lines on stdin, progress and answers leave on stdout. The server owns no model and no
checkpoint: whatever happens to a step, the server is there for the next one, and a step that dies takes nothing with it.
"""

from __future__ import annotations

import gc
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conductor_trainer import jobs
from conductor_trainer.errors import StepLost
from conductor_trainer.json_lines import LineReader, claim_stdout, line_writer
from conductor_trainer.requests import JsonObject


@dataclass(eq=False)
class Step:
    """A running child."""

    job_id: int
    pid: int
    """Of the child, and of the process group that it leads."""
    lines: LineReader
    wait: Callable[[], int]
    """Its exit status; negative: the signal that killed it."""
    is_answered: bool = False


class ForkServer:
    """One loop, one thread: a fork copies the thread that forks, and nothing else may be amiss in it."""

    def __init__(self, send: Callable[[JsonObject], None], jobs_in: int) -> None:
        self._send = send
        self._jobs = LineReader(jobs_in)
        self._steps: list[Step] = []
        self._selector = selectors.DefaultSelector()
        self._selector.register(jobs_in, selectors.EVENT_READ, None)

    def serve(self) -> None:
        """Until stdin is closed; steps that still run then are killed."""
        self._send({"ready": True})
        is_open = True
        while is_open:
            for key, _ in self._selector.select():
                if key.data is None:
                    is_open = self._take_messages() and is_open
                else:
                    self._forward(key.data)
        for step in self._steps:
            kill_group(step.pid)

    def _take_messages(self) -> bool:
        messages = self._jobs.read()
        for message in messages or ():
            if "cancel" in message:
                self._cancel(message["cancel"])
            else:
                self._start(message)
        return messages is not None

    def _start(self, job: jobs.Job) -> None:
        device = job["request"].get("config", {}).get("device")
        step = spawn_step(job) if device == "cuda" else fork_step(job)
        self._steps.append(step)
        self._selector.register(step.lines.descriptor, selectors.EVENT_READ, step)

    def _cancel(self, job_id: int) -> None:
        """What is over already cannot be cancelled, and needs not be."""
        for step in self._steps:
            if step.job_id == job_id and not step.is_answered:
                kill_group(step.pid)

    def _forward(self, step: Step) -> None:
        messages = step.lines.read()
        for message in messages or ():
            step.is_answered = step.is_answered or "progress" not in message
            self._send(message)
        if messages is None:
            self._end(step)

    def _end(self, step: Step) -> None:
        self._selector.unregister(step.lines.descriptor)
        os.close(step.lines.descriptor)
        self._steps.remove(step)
        status = step.wait()
        if not step.is_answered:
            lost = jobs.error_of(StepLost.type, how_it_died(status), StepLost.retryable)
            self._send({"id": step.job_id, "error": lost})


def fork_step(job: jobs.Job) -> Step:
    answers_in, answers_out = os.pipe()
    pid = os.fork()
    if pid == 0:
        run_child(job, answers_in, answers_out)
    os.close(answers_out)
    # Both sides set it, whichever runs first: a cancellation must find the group.
    os.setpgid(pid, pid)
    return Step(job["id"], pid, LineReader(answers_in), lambda: exit_status_of(pid))


def run_child(job: jobs.Job, answers_in: int, answers_out: int) -> Any:
    """Never returns, and leaves without the clean-up of the process it is a copy of."""
    status = 1
    try:
        os.setpgid(0, 0)
        os.close(answers_in)
        jobs.perform(job, line_writer(answers_out))
        status = 0
    finally:
        os._exit(status)


def spawn_step(job: jobs.Job) -> Step:
    answers_in, answers_out = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "conductor_trainer.step"],
        stdin=subprocess.PIPE,
        stdout=answers_out,
        process_group=0,
    )
    os.close(answers_out)
    if process.stdin is not None:
        line_writer(process.stdin.fileno())({**job})
        process.stdin.close()
    return Step(job["id"], process.pid, LineReader(answers_in), process.wait)


def exit_status_of(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        # It ended by itself a moment ago.
        return


def how_it_died(status: int) -> str:
    how = (
        f"was killed by {signal.Signals(-status).name}"
        if status < 0
        else f"ended with status {status}"
    )
    return f"The step's process {how} before it answered. It left no checkpoint behind: try again."


def main() -> None:
    send = claim_stdout()
    # What was imported is shared with every child; the collector must not touch, and so copy, its pages.
    gc.collect()
    gc.freeze()
    ForkServer(send, jobs_in=0).serve()


if __name__ == "__main__":
    main()
