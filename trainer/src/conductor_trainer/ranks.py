"""Several processes that learn together, each of them `rank.py`.

1. They are started by the step, of whose process group they are: what kills it kills them.
2. The job comes on the first line of stdin, and its end is the end of the process.
3. Each says on stdout what it has to say, in lines of JSON; the first failure ends all of them,
   since the others would wait for it.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from queue import Queue
from threading import Thread
from typing import Any

from conductor_trainer import errors
from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import StepLost, TrainerError

_Said = tuple[int, JsonObject | None]
"""Who, and what; None at the end."""


def run_ranks(
    processes: int, job: Mapping[str, Any], report: Callable[[str], None]
) -> Sequence[JsonObject]:
    """Has so many processes do a job together, and returns the result of each, in their order.

    Raises the first one's `TrainerError`, or `StepLost` where one died.
    """
    started = [
        _start(rank, processes, port) for port in (_free_port(),) for rank in range(processes)
    ]
    said: Queue[_Said] = Queue()
    try:
        for rank, process in enumerate(started):
            assert process.stdin is not None
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            Thread(target=_listen, args=(rank, process, said), daemon=True).start()
        return _gather(processes, said, report)
    finally:
        for process in started:
            process.kill()
            process.wait()


def _start(rank: int, processes: int, port: int) -> "subprocess.Popen[str]":
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": processes, "MASTER_PORT": port}
    environment = {
        **os.environ,
        **{name: str(value) for name, value in place.items()},
        "MASTER_ADDR": "127.0.0.1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    command = [sys.executable, "-m", "conductor_trainer.rank"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)


def _listen(rank: int, process: "subprocess.Popen[str]", said: Queue[_Said]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        said.put((rank, json.loads(line)))
    said.put((rank, None))


def _gather(
    processes: int, said: Queue[_Said], report: Callable[[str], None]
) -> Sequence[JsonObject]:
    results: dict[int, JsonObject] = {}
    while len(results) < processes:
        rank, message = said.get()
        match message:
            case {"phase": phase} if rank == 0:
                report(phase)
            case {"result": result}:
                results[rank] = result
            case {"error": kind, "message": text}:
                raise _error_of(kind)(text)
            case None if rank not in results:
                raise StepLost(
                    f"Process {rank + 1} of {processes} of the step died before it answered: see "
                    "what it says on stderr. It left no checkpoint: try again."
                )
    return [results[rank] for rank in range(processes)]


def _error_of(kind: str) -> type[TrainerError]:
    known = {each.__name__: each for each in vars(errors).values() if isinstance(each, type)}
    found = known.get(kind, TrainerError)
    return found if issubclass(found, TrainerError) else TrainerError


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]
