"""Several processes that learn together: `python -m conductor_trainer.ranks`, each of them.

1. They are of the step's process group: what kills it kills them.
2. The job comes on the first line of stdin, and its end is the end of the process.
3. Each tells on stdout, in lines of JSON; the first failure ends all, since others would wait.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, Literal

from conductor_trainer import errors
from conductor_trainer.checkpoint import Record, require_record
from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import StepLost, TrainerError
from conductor_trainer.model import load_tokenizer, load_weights
from conductor_trainer.record import Made, record_of
from conductor_trainer.starting import end_with_stdin, free_port
from conductor_trainer.worker.steps import claim_stdout

Report = Callable[[str], None]

Learn = Callable[[Made, Any, Path, Report], tuple[Any, JsonObject]]
"""A process's part: what it has learned, which is saved, and what it has to tell."""

_Said = tuple[int, JsonObject | None]


def learn_together(
    job: Literal["update", "warmStart"],
    learn: Learn,
    made: Made,
    request: Any,
    file: Path,
    outcome_of: Callable[[Sequence[JsonObject]], JsonObject],
    report: Report,
) -> Record:
    """Each process does its part by `learn`; `outcome_of` sums up what they tell."""
    config = made.config
    tokenizer = load_tokenizer(made.root / require_record(made.root, request["parent"]).folder)
    if config["processes"] == 1:
        policy, told = learn(made, request, file, report)
        return record_of(made, policy, tokenizer, outcome_of([told]))
    paths = {"root": str(made.root), "temporary": str(made.temporary)}
    order = {"job": job, "made": asdict(made) | paths, "request": request, "file": str(file)}
    every = run_ranks(config["processes"], order, report)
    policy = load_weights(made.saved, made.root / made.base, config)
    return record_of(made, policy, tokenizer, outcome_of(every))


def run_ranks(processes: int, job: Mapping[str, Any], report: Report) -> Sequence[JsonObject]:
    """Their results in order. Raises the first `TrainerError`, or `StepLost` where one died."""
    port = free_port()
    started = [_start(rank, processes, port) for rank in range(processes)]
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
    command = [sys.executable, "-m", "conductor_trainer.ranks"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)


def _listen(rank: int, process: "subprocess.Popen[str]", said: Queue[_Said]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        said.put((rank, json.loads(line)))
    said.put((rank, None))


def _gather(processes: int, said: Queue[_Said], report: Report) -> Sequence[JsonObject]:
    results: dict[int, JsonObject] = {}
    while len(results) < processes:
        rank, message = said.get()
        match message:
            case {"phase": phase} if rank == 0:
                report(phase)
            case {"result": result}:
                results[rank] = result
            case {"error": kind, "message": text}:
                raise getattr(errors, kind)(text)
            case None if rank not in results:
                raise StepLost(
                    f"Process {rank + 1} of {processes} of the step died before it answered: see "
                    "what it says on stderr. It left no checkpoint: try again."
                )
    return [results[rank] for rank in range(processes)]


def main() -> None:
    job = json.loads(sys.stdin.readline())
    end_with_stdin()
    say = claim_stdout()
    try:
        # Imported when stdin is watched and stdout claimed: it takes seconds, and libraries print.
        from conductor_trainer.update import learn
        from conductor_trainer.warm_start import learn_examples

        paths = {name: Path(job["made"][name]) for name in ("root", "temporary")}
        made = Made(**job["made"] | paths)
        learn_part = {"update": learn, "warmStart": learn_examples}[job["job"]]
        file = Path(job["file"])
        _, told = learn_part(made, job["request"], file, lambda each: say({"phase": each}))
        say({"result": told})
    except TrainerError as error:
        say({"error": type(error).__name__, "message": str(error)})
    except Exception as error:
        said = f"The step failed: {type(error).__name__}: {error}"
        say({"error": TrainerError.__name__, "message": said})


if __name__ == "__main__":
    main()
