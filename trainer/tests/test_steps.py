"""Steps run in processes of their own, and may be killed at any moment."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextvars import ContextVar
from multiprocessing import forkserver
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from conductor_trainer.checkpoint import read_record
from conductor_trainer.errors import StepLost, TrainerError
from conductor_trainer.step.runner import StepRunner, gpus_for
from phases import Phases, ignore, is_running, until_ended
from tiny_run import (
    begin,
    checkpoint,
    config_of,
    learn,
    rows_of_batch,
    update_request,
    write_batch,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def stubs(tmp_path: Path) -> StepRunner:
    return StepRunner(tmp_path, "stub_jobs:perform")


async def start_waiting(runner: StepRunner) -> tuple[asyncio.Task[Any], int, int]:
    """A step that never ends, its process and that of its child."""
    phases = Phases()
    step = asyncio.create_task(runner.run("wait", {}, None, phases.report))
    pid, child = (await phases.wait_for(lambda phase: phase[:1].isdigit())).split()
    return step, int(pid), int(child)


async def cancel(step: asyncio.Task[Any]) -> None:
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step


async def test_a_step_is_given_everything_and_answers(stubs: StepRunner, tmp_path: Path) -> None:
    phases: list[str] = []
    file = Path("/a/file")
    result = await stubs.run("echo", {"cycle": 1}, file, phases.append)
    assert result == {"root": str(tmp_path), "request": {"cycle": 1}, "file": file}
    assert phases == ["waiting", "echoing"]


async def test_phases_are_reported_in_the_context_of_the_caller(stubs: StepRunner) -> None:
    caller: ContextVar[str] = ContextVar("caller")
    caller.set("an activity")
    seen: list[str] = []
    await stubs.run("echo", {}, None, lambda _: seen.append(caller.get("nothing")))
    assert seen == ["an activity"] * 2


async def test_a_large_request_and_its_result_pass_through(stubs: StepRunner) -> None:
    request = {"text": "x" * 3_000_000}
    assert (await stubs.run("echo", request, None, ignore))["request"] == request


async def test_each_step_is_a_fork_that_has_the_imports_and_leads_a_group(
    stubs: StepRunner,
) -> None:
    first, second = [await stubs.run("describe", {}, None, ignore) for _ in range(2)]
    assert first["parent"] == second["parent"] != os.getpid()
    assert first["pid"] != second["pid"]
    for step in (first, second):
        assert step["has_torch"] and not step["may_start_cuda"]
        assert step["group"] == step["pid"]
        assert step["gpus"] == os.environ.get("CUDA_VISIBLE_DEVICES")


@pytest.mark.parametrize(
    ("given", "processes", "seen"),
    [(None, 1, "0"), ("3,1", 1, "3"), (None, 2, "0,1"), ("3,1,2", 2, "3,1")],
)
def test_each_process_has_a_gpu(given: str | None, processes: int, seen: str) -> None:
    assert gpus_for(processes, given) == seen


async def test_a_step_on_a_gpu_sees_no_other(stubs: StepRunner) -> None:
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    request = {"config": config_of(device="cuda")}
    assert (await stubs.run("describe", request, None, ignore))["gpus"] == gpus_for(1, given)
    assert (await stubs.run("describe", {}, None, ignore))["gpus"] == given


async def test_an_error_keeps_its_type_and_whether_to_try_again(stubs: StepRunner) -> None:
    with pytest.raises(TrainerError, match="it is another") as refused:
        await stubs.run("refuse", {}, None, ignore)
    assert (refused.value.type, refused.value.retryable) == ("Trainer.Conflict", False)
    with pytest.raises(TrainerError, match="The step failed: ValueError: no number") as failed:
        await stubs.run("fail", {}, None, ignore)
    assert (failed.value.type, failed.value.retryable) == ("Trainer.Failed", True)
    with pytest.raises(TrainerError, match="the Python package torch is not installed for"):
        await stubs.run("lack", {}, None, ignore)


@pytest.mark.parametrize(
    ("job", "request_of", "said"),
    [
        ("die", {"signal": signal.SIGSEGV}, "was killed by SIGSEGV"),
        ("die", {"signal": signal.SIGKILL}, "was killed by SIGKILL"),
        ("leave", {"status": 3}, "ended with 3"),
        ("break off", {}, "was killed by SIGKILL"),
    ],
)
async def test_a_step_that_dies_is_lost_and_the_next_one_runs(
    stubs: StepRunner, job: str, request_of: Any, said: str
) -> None:
    with pytest.raises(StepLost, match=said) as lost:
        await stubs.run(job, request_of, None, ignore)
    assert lost.value.retryable
    assert await stubs.run("look", {}, None, ignore) == {"ended": False}


async def test_a_cancelled_step_is_killed_before_the_next_one_begins(stubs: StepRunner) -> None:
    phases = Phases()
    step = asyncio.create_task(stubs.run("linger", {}, None, phases.report))
    await phases.wait_for(lambda phase: phase == "lingering")
    behind = asyncio.create_task(stubs.run("look", {}, None, ignore))
    step.cancel()
    await asyncio.sleep(0.1)
    # Temporal cancels again when the worker's own time is up.
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step
    assert await behind == {"ended": True}


async def test_a_cancelled_step_takes_with_it_what_it_started(stubs: StepRunner) -> None:
    step, pid, child = await start_waiting(stubs)
    assert is_running(child)
    await cancel(step)
    assert not is_running(pid)
    await until_ended(child)


async def test_a_step_that_is_done_leaves_nothing_running(stubs: StepRunner) -> None:
    await until_ended((await stubs.run("abandon", {}, None, ignore))["child"])


async def test_a_step_can_be_cancelled_before_it_has_begun(
    stubs: StepRunner, tmp_path: Path
) -> None:
    step, pid, _ = await start_waiting(stubs)
    waiting = asyncio.create_task(stubs.run("linger", {}, None, ignore))
    await asyncio.sleep(0)
    await cancel(waiting)
    assert is_running(pid)
    await cancel(step)
    # One whose process is only being started.
    starting = asyncio.create_task(stubs.run("wait", {}, None, ignore))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    async with asyncio.timeout(20):
        await cancel(starting)
        assert await stubs.run("look", {}, None, ignore) == {"ended": False}


async def test_steps_run_one_at_a_time(stubs: StepRunner) -> None:
    step, _, _ = await start_waiting(stubs)
    phases: list[str] = []
    behind = asyncio.create_task(stubs.run("echo", {}, None, phases.append))
    await asyncio.sleep(0.3)
    assert phases == ["waiting"]
    await cancel(step)
    await behind


async def fork_server_of(runner: StepRunner) -> int:
    return (await runner.run("describe", {}, None, ignore))["parent"]


async def test_a_lost_fork_server_is_replaced(stubs: StepRunner) -> None:
    before = await fork_server_of(stubs)
    os.kill(before, signal.SIGKILL)
    await until_ended(before)
    assert await fork_server_of(stubs) != before


async def test_a_fork_server_that_dies_while_it_starts_a_step_is_replaced(
    stubs: StepRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await fork_server_of(stubs)
    os.kill(before, signal.SIGSTOP)
    is_asked, read = Event(), forkserver.read_signed

    def read_signed(sentinel: int) -> int:
        is_asked.set()
        return read(sentinel)

    monkeypatch.setattr(forkserver, "read_signed", read_signed)
    step = asyncio.create_task(stubs.run("echo", {}, None, ignore))
    await asyncio.to_thread(is_asked.wait)
    os.kill(before, signal.SIGKILL)
    with pytest.raises(StepLost, match="The fork server ended while it started a step") as lost:
        await step
    assert lost.value.retryable
    await until_ended(before)
    assert await fork_server_of(stubs) != before


async def test_a_step_outlives_its_fork_server_and_can_be_cancelled_then(
    stubs: StepRunner,
) -> None:
    server = await fork_server_of(stubs)
    step, pid, child = await start_waiting(stubs)
    os.kill(server, signal.SIGKILL)
    await asyncio.sleep(0.2)
    assert is_running(pid)
    await cancel(step)
    await until_ended(pid, child, server)
    assert await fork_server_of(stubs) != server


async def test_a_killed_worker_takes_its_step_with_it() -> None:
    program = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("stub_worker.py")), "stub_jobs:perform", "."],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "waiting\n"
    pid, child = map(int, program.stdout.readline().split())
    status = Path(f"/proc/{pid}/status").read_text()
    server = int(status.partition("PPid:\t")[2].split("\n")[0])
    program.kill()
    program.wait()
    await until_ended(pid, child, server)


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("warm")
    begin(root, tmp_path_factory.mktemp("files"), config_of())
    return root


@pytest.fixture
def root(warm: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(warm, tmp_path / "checkpoints"))


LONG = config_of(iterations=40, optimizer={"learningRate": 1e-4})
"""Its step lasts long enough to be caught in the middle."""


async def update(root: Path, config: Any, report: Callable[[str], None] = ignore) -> Any:
    """The first cycle's update, as a step."""
    batch = write_batch(root, 1, "warm", config, rows_of_batch(root, "warm", config))
    request = update_request(1, "warm", config)
    return await StepRunner(root).run("update", request, batch, report)


async def start_long_step(root: Path) -> tuple[asyncio.Task[Any], int]:
    """A step that is learning, and its process id."""
    phases = Phases()
    step = asyncio.create_task(update(root, LONG, phases.report))
    await phases.wait_for(lambda phase: phase.startswith("step 3 of"))
    (temporary,) = (root / "night").glob(".tmp-000001-*")
    return step, int(temporary.name.rpartition("-")[2])


async def test_a_runner_is_started_ahead_of_its_first_step(tmp_path: Path) -> None:
    await StepRunner(tmp_path).start()


async def test_steps_in_fresh_processes_equal_steps_in_this_one(root: Path, tmp_path: Path) -> None:
    config = config_of()
    rows = rows_of_batch(root, "warm", config)
    here = Path(shutil.copytree(root, tmp_path / "here"))
    runner = StepRunner(root)
    for cycle, parent in enumerate(("warm", "000001"), start=1):
        batch = write_batch(root, cycle, parent, config, rows)
        request = update_request(cycle, parent, config)
        result = await runner.run("update", request, batch, ignore)
        mine = learn(here, cycle, parent, config, rows)["checkpoint"]
        assert result["checkpoint"]["weightsSha256"] == mine["weightsSha256"]


async def test_a_killed_step_comes_to_the_same_when_it_is_run_again(
    root: Path, tmp_path: Path
) -> None:
    undisturbed = Path(shutil.copytree(root, tmp_path / "undisturbed"))
    step, pid = await start_long_step(root)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(StepLost, match="SIGKILL") as lost:
        await step
    assert lost.value.type == "Trainer.StepLost"
    assert lost.value.retryable
    assert read_record(root, checkpoint("000001")) is None

    again, once = await update(root, LONG), await update(undisturbed, LONG)
    assert again["checkpoint"]["weightsSha256"] == once["checkpoint"]["weightsSha256"]
    assert not list((root / "night").glob(".tmp-*"))


async def test_a_cancelled_update_makes_no_checkpoint(root: Path) -> None:
    step, pid = await start_long_step(root)
    await cancel(step)
    assert not is_running(pid)
    assert read_record(root, checkpoint("000001")) is None


@pytest.mark.parametrize(
    ("job", "parent", "type", "retryable"),
    [
        ("update", "000007", "Trainer.CheckpointMissing", False),
        ("warmStart", "warm", "Trainer.Failed", True),
    ],
)
async def test_errors_of_jobs_keep_their_type(
    root: Path, job: str, parent: str, type: str, retryable: bool
) -> None:
    request = update_request(8, parent, config_of())
    with pytest.raises(TrainerError) as caught:
        await StepRunner(root).run(job, request, root / "none", ignore)
    assert (caught.value.type, caught.value.retryable) == (type, retryable)
    assert str(caught.value)
