"""How the worker asks for steps. A stub stands for the fork server, which has its own tests."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from conductor_trainer.errors import StepLost, TrainerError
from conductor_trainer.step_runner import StepRunner

pytestmark = pytest.mark.anyio

STUB = (sys.executable, str(Path(__file__).with_name("stub_fork_server.py")))


@pytest.fixture
async def steps(tmp_path: Path) -> AsyncIterator[StepRunner]:
    runner = StepRunner(tmp_path, STUB)
    yield runner
    await runner.stop()


def ignore(_phase: str) -> None:
    """For steps whose phases do not matter."""


async def test_a_step_is_told_everything_and_answers(steps: StepRunner, tmp_path: Path) -> None:
    phases: list[str] = []
    result = await steps.run("echo", {"cycle": 1}, {"batch": "/a/file"}, phases.append)
    assert result["root"] == str(tmp_path)
    assert result["request"] == {"cycle": 1}
    assert result["files"] == {"batch": "/a/file"}
    assert phases == ["waiting", "echoing"]


async def test_an_error_keeps_its_type_and_whether_to_try_again(steps: StepRunner) -> None:
    with pytest.raises(TrainerError, match="it is another") as caught:
        await steps.run("refuse", {}, {}, ignore)
    assert caught.value.type == "Trainer.Conflict"
    assert not caught.value.retryable


async def test_a_lost_server_is_replaced_by_a_new_one(steps: StepRunner) -> None:
    before = await steps.run("echo", {}, {}, ignore)
    with pytest.raises(StepLost, match="ended with status -6") as caught:
        await steps.run("die", {}, {}, ignore)
    assert caught.value.retryable
    after = await steps.run("echo", {}, {}, ignore)
    assert after["server"] != before["server"]


async def test_a_cancelled_step_is_killed_before_the_next_one_begins(steps: StepRunner) -> None:
    is_running = asyncio.Event()

    def report(phase: str) -> None:
        if phase == "waiting to be killed":
            is_running.set()

    step = asyncio.create_task(steps.run("wait", {}, {}, report))
    await is_running.wait()
    behind = asyncio.create_task(steps.run("echo", {}, {}, ignore))
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step
    assert (await behind)["job"] == "echo"
