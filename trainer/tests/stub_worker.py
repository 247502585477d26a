"""A program that runs one step of `stub_jobs`, and prints the phases that it reports."""

import asyncio
from pathlib import Path

from conductor_trainer.worker.steps import StepRunner
from stub_jobs import perform


def say(phase: str) -> None:
    print(phase, flush=True)


if __name__ == "__main__":
    asyncio.run(StepRunner(Path(), perform).run("wait", {}, None, say))
