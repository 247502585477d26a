"""Runs each step in a process of its own, without the seconds that its imports would take.

`python -m conductor_trainer.fork_server`: jobs and cancellations come as JSON lines on stdin,
progress and answers leave on stdout. The server owns no model and no checkpoint: whatever happens
to a step, the server is there for the next one.
"""

import gc
import os
import selectors
import signal
from collections.abc import Callable

from transformers.conversion_mapping import get_checkpoint_conversion_mapping

from conductor_trainer.errors import StepLost
from conductor_trainer.jobs import Job, told
from conductor_trainer.json_lines import LineReader, claim_stdout
from conductor_trainer.requests import JsonObject
from conductor_trainer.step_process import StepProcess, start_step


class ForkServer:
    """One loop in one thread: a fork copies the thread that forks, and no other."""

    def __init__(self, jobs_in: int, send: Callable[[JsonObject], None]) -> None:
        self._jobs = LineReader(jobs_in)
        self._send = send
        self._steps: list[StepProcess] = []
        self._selector = selectors.DefaultSelector()
        self._selector.register(jobs_in, selectors.EVENT_READ, None)

    def serve(self) -> None:
        """Until stdin is closed; a step that still runs then is killed."""
        self._send({"ready": True})
        is_open = True
        while is_open:
            for key, _ in self._selector.select():
                if key.data is None:
                    is_open = self._take_messages()
                else:
                    self._forward(key.data)
        for step in self._steps:
            step.kill()
            step.wait()

    def _take_messages(self) -> bool:
        messages = self._jobs.read()
        for message in messages or ():
            if "cancel" in message:
                self._cancel(message["cancel"])
            else:
                self._start(message)
        return messages is not None

    def _start(self, job: Job) -> None:
        step = start_step(job)
        self._steps.append(step)
        self._selector.register(step.answers.descriptor, selectors.EVENT_READ, step)

    def _cancel(self, job_id: int) -> None:
        for step in self._steps:
            if step.job_id == job_id and not step.is_answered:
                step.kill()

    def _forward(self, step: StepProcess) -> None:
        messages = step.answers.read()
        for message in messages or ():
            step.is_answered = step.is_answered or "progress" not in message
            self._send(message)
        if messages is None:
            self._end(step)

    def _end(self, step: StepProcess) -> None:
        self._selector.unregister(step.answers.descriptor)
        os.close(step.answers.descriptor)
        self._steps.remove(step)
        status = step.wait()
        if not step.is_answered:
            error = told(StepLost.type, _how_it_died(status), StepLost.retryable)
            self._send({"id": step.job_id, "error": error})


def _how_it_died(status: int) -> str:
    how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with {status}"
    return f"The step's process {how} before it answered. It left no checkpoint: try again."


def main() -> None:
    send = claim_stdout()
    # Half of what loading a model takes; made once, it is there in every child.
    get_checkpoint_conversion_mapping("qwen2")
    # The collector must not touch, and so copy, the pages that the children share.
    gc.collect()
    gc.freeze()
    ForkServer(0, send).serve()


if __name__ == "__main__":
    main()
