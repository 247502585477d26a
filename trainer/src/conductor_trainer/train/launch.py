"""Trains in several processes, each started as `python -m conductor_trainer.train.launch`.

1. They belong to the step's process group, so that killing the group kills them.
2. The stdin of each is a socket: the process reads its part from it and answers on it as a step
   does. When the socket closes, the process ends.
3. The first failure ends all of them, since the others would wait for the failed one.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import StepLost
from conductor_trainer.starting import end_with_stdin, free_port
from conductor_trainer.step.messages import Report, answer, hear

Part = tuple[Callable[..., Any], tuple[Any, ...]]
"""Input of one process: a function and its arguments but for the last, which is a `Report`.

It is pickled, so the function must be at module level. What it returns ends with its results.
"""


def launch(
    work: Callable[..., Any], given: tuple[Any, ...], processes: int, report: Report
) -> Sequence[JsonObject]:
    """Returns results by rank. Raises the first `TrainerError`, or `StepLost` if a process died."""
    port = free_port()
    with ThreadPoolExecutor(processes) as pool, ExitStack() as stack:
        ranks = [stack.enter_context(_rank(number, processes, port)) for number in range(processes)]
        # Rank 0 reports its phases for all.
        reports = [report, *[lambda _: None] * (processes - 1)]
        asked = [
            pool.submit(_ask, *each, (work, given)) for each in zip(ranks, reports, strict=True)
        ]
        for each in as_completed(asked):
            each.result()
    return [each.result() for each in asked]


@contextmanager
def _rank(number: int, processes: int, port: int) -> Iterator[Connection]:
    """Starts one process, and kills it at the end."""
    place = {"RANK": number, "LOCAL_RANK": number, "WORLD_SIZE": processes, "MASTER_PORT": port}
    environment = {
        **os.environ,
        **{name: str(value) for name, value in place.items()},
        "MASTER_ADDR": "127.0.0.1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    ours, theirs = Pipe()
    command = [sys.executable, "-m", "conductor_trainer.train.launch"]
    with theirs:
        process = subprocess.Popen(command, stdin=theirs.fileno(), env=environment)
    try:
        yield ours
    finally:
        process.kill()
        process.wait()


def _ask(messages: Connection, report: Report, part: Part) -> JsonObject:
    try:
        messages.send(part)
        return hear(messages.recv, report)
    except (OSError, EOFError) as cause:
        raise StepLost(
            "One of the step's processes died before it answered: see its output on stderr. It "
            "left no checkpoint: try again."
        ) from cause


def main() -> None:
    messages = Connection(0)
    # Unpickling the part imports the training code, which takes seconds.
    work, given = messages.recv()
    end_with_stdin()
    answer(messages, lambda: work(*given, messages.send)[-1])


if __name__ == "__main__":
    main()
