"""A program that runs one step of `stub_jobs`, and prints the phases that it reports."""

import asyncio
from pathlib import Path

from conductor_trainer.step.runner import StepRunner


def say(phase: str) -> None:
    print(phase, flush=True)


if __name__ == "__main__":
    asyncio.run(StepRunner(Path(), "stub_jobs:perform").run("wait", {}, None, say))
