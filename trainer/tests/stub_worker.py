"""A program that runs one step of stubs, and prints the phases that it reports."""

import asyncio
import sys
from pathlib import Path

from conductor_trainer.step.runner import StepRunner


def say(phase: str) -> None:
    print(phase, flush=True)


if __name__ == "__main__":
    perform, root = sys.argv[1:]
    asyncio.run(StepRunner(Path(root), perform).run("wait", {}, None, say))
