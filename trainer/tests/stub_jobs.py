"""Jobs for tests of how steps are run: each does what its name says, in a step's process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from conductor_trainer.errors import Conflict


def perform(
    job: str, root: Path, request: Any, file: Any, report: Callable[[str], None]
) -> dict[str, Any]:
    match job:
        case "echo":
            report("echoing")
            return {"root": str(root), "request": request, "file": file}
        case "describe":
            return {
                "pid": os.getpid(),
                "parent": os.getppid(),
                "group": os.getpgrp(),
                "gpus": os.environ.get("CUDA_VISIBLE_DEVICES"),
                "has_torch": "torch" in sys.modules,
                "may_start_cuda": find_spec("bitsandbytes") is not None,
            }
        case "print":
            print("a library", flush=True)
            return {}
        case "refuse":
            raise Conflict("it is another")
        case "fail":
            raise ValueError("no number")
        case "lack":
            raise ModuleNotFoundError(name="torch")
        case "die":
            os.kill(os.getpid(), request["signal"])
        case "break off":
            # A message of 256 bytes, of which four are sent.
            pipe: Any = report.__self__  # pyright: ignore[reportFunctionMemberAccess]
            os.write(pipe.fileno(), b"\0\0\1\0half")
            os.kill(os.getpid(), signal.SIGKILL)
        case "leave":
            sys.exit(request["status"])
        case "wait":
            child = subprocess.Popen(["sleep", "1000"])
            report(f"{os.getpid()} {child.pid}")
            time.sleep(1000)
        case "abandon":
            return {"child": subprocess.Popen(["sleep", "1000"]).pid}
        case "linger":
            straggler = os.fork()
            if straggler == 0:
                # Out of the step's group, as if the kernel took a while to end it.
                os.setsid()
                time.sleep(0.5)
                (root / "ended").touch()
                os._exit(0)
            while os.getpgid(straggler) != straggler:
                time.sleep(0.01)
            report("lingering")
            time.sleep(1000)
        case "look":
            return {"ended": (root / "ended").exists()}
    raise AssertionError(f"{job} came back")
