"""Work of processes that train together, each as its name says, and a step that launches it."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import torch.distributed as dist

from conductor_trainer.errors import Conflict
from conductor_trainer.step.messages import Report
from conductor_trainer.train.launch import launch


def lag(barred: Path, report: Report) -> Any:
    """Rank 1 begins its second phase when its way is not barred any more."""
    report("loading")
    while os.environ["RANK"] == "1" and barred.exists():
        time.sleep(0.01)
    report("saving")
    dist.init_process_group("gloo")
    dist.barrier()
    return ({"rank": dist.get_rank()},)


def fail(how: str, report: Report) -> Any:
    """Rank 1 fails, while the other one waits for it."""
    report("loading")
    dist.init_process_group("gloo")
    if dist.get_rank() == 1:
        match how:
            case "be killed":
                print("alas", file=sys.stderr, flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            case "leave":
                os._exit(7)
            case "refuse":
                raise Conflict("it is another")
            case _:
                raise ValueError("no number")
    dist.barrier()


def wait(report: Report) -> Any:
    report(f"pid {os.getpid()}")
    time.sleep(1000)


def perform(_job: str, root: Path, _request: Any, _file: Any, report: Report) -> Any:
    """A step of two processes that wait; it also says its own."""
    report(f"pid {os.getpid()}")
    return launch(wait, (), 2, report, root)
