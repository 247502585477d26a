"""Several processes that train together, one of which is slow, fails or is killed."""

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch

import stub_ranks
from conductor_trainer.errors import StepLost, TrainerError
from conductor_trainer.starting import CannotStart, free_port
from conductor_trainer.step.main import perform
from conductor_trainer.step.runner import StepRunner
from conductor_trainer.train import launch as launching
from conductor_trainer.train.launch import launch
from conductor_trainer.train.nodes import nodes, processes_here
from phases import Phases, ignore, until_ended
from tiny_run import (
    begin,
    config_of,
    rows_of_batch,
    update_request,
    weights,
    write_batch,
)

TOGETHER = config_of(processes=2, microBatch=4, iterations=24, optimizer={"learningRate": 1e-4})


def test_the_slowest_process_is_reported_and_all_answer(tmp_path: Path) -> None:
    barred, phases = tmp_path / "barred", []
    barred.touch()

    def report(phase: str) -> None:
        phases.append(phase)
        if phase == "loading (rank 1 of 2)":
            barred.unlink()

    found = launch(stub_ranks.lag, (barred,), 2, report, tmp_path)
    assert found == [{"rank": 0}, {"rank": 1}]
    assert "loading (rank 1 of 2)" in phases


@pytest.mark.parametrize(
    ("how", "type", "retryable", "said"),
    [
        (
            "be killed",
            "Trainer.StepLost",
            True,
            r"Rank 1 of 2 was killed by SIGKILL in its phase 'loading'\. It left no checkpoint: "
            r"try again\. It wrote last: [\s\S]*alas",
        ),
        ("leave", "Trainer.StepLost", True, "Rank 1 of 2 ended with 7 in its phase 'loading'"),
        ("refuse", "Trainer.Conflict", False, "^it is another$"),
        ("raise", "Trainer.Failed", True, r"ValueError: no number \(rank 1\)"),
    ],
)
def test_the_process_that_failed_is_named(
    tmp_path: Path, how: str, type: str, retryable: bool, said: str
) -> None:
    with pytest.raises(TrainerError, match=said) as failed:
        launch(stub_ranks.fail, (how,), 2, ignore, tmp_path)
    assert (failed.value.type, failed.value.retryable) == (type, retryable)


def ranks_below(root: Path) -> list[int]:
    """Process ids of ranks whose order is below a folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = place.read_text()
        except OSError:
            continue
        if "conductor_trainer.train.rank" in command and str(root) in command:
            found.append(int(place.parent.name))
    return sorted(found)


def test_ranks_end_with_the_worker(tmp_path: Path) -> None:
    stub = str(Path(__file__).with_name("stub_worker.py"))
    command = [sys.executable, stub, "stub_ranks:perform", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        said = (line for line in worker.stdout if line.startswith("pid "))
        step, _ = int(next(said)[4:]), next(said)
        ranks = ranks_below(tmp_path)
        assert len(ranks) == 2
        worker.kill()
        asyncio.run(until_ended(step, *ranks))


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("warm")
    begin(root, tmp_path_factory.mktemp("files"), config_of())
    return root


@pytest.fixture(scope="module")
def undisturbed(warm: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, torch.Tensor]:
    """Weights of an update by two processes of one node."""
    root = Path(shutil.copytree(warm, tmp_path_factory.mktemp("undisturbed") / "checkpoints"))
    learn_together(root)
    return weights(root, "000001")


def work_of(root: Path) -> tuple[Any, Path]:
    rows = rows_of_batch(root, "warm", TOGETHER)
    return update_request(1, "warm", TOGETHER), write_batch(root, 1, "warm", TOGETHER, rows)


def learn_together(root: Path) -> None:
    perform("update", root, *work_of(root), ignore)


def place_of(phase: str) -> int:
    """Orders phases: those in which processes start, load, and have made their n-th step."""
    name, _, rest = phase.partition(" ")
    if name == "step":
        return int(rest.split()[0])
    return {"starting": -1, "loading": 0}.get(name, -2)


async def update_and_kill(root: Path, chance: random.Random) -> bool:
    """Kills a rank of an update, or its step, in a phase; tells whether the update was lost."""
    phases, request, batch = Phases(), *work_of(root)
    victim, phase = chance.randrange(3), chance.choice(range(-1, 13))
    moment = chance.random() * (3 if phase < 0 else 0.3)
    step = asyncio.create_task(StepRunner(root).run("update", request, batch, phases.report))
    await phases.wait_for(lambda now: place_of(now) >= phase)
    # Not synchronisation: any moment will do.
    await asyncio.sleep(moment)
    (temporary,) = (root / "night").glob(".tmp-000001-*")
    found = [*ranks_below(root), int(temporary.name.rpartition("-")[2])]
    os.kill(found[min(victim, len(found) - 1)], signal.SIGKILL)
    try:
        await step
    except StepLost as lost:
        assert "was killed by SIGKILL" in str(lost)
        await until_ended(*found)
        assert not (root / "night/000001").exists()
        return True
    return False


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.nightly)])
def test_whichever_process_is_killed_whenever_the_weights_are_the_same(
    warm: Path, undisturbed: dict[str, torch.Tensor], tmp_path: Path, kills: int
) -> None:
    root = Path(shutil.copytree(warm, tmp_path / "checkpoints"))
    for seed in range(kills):
        assert asyncio.run(update_and_kill(root, random.Random(seed))), f"seed {seed}"
    learn_together(root)
    for name, tensor in weights(root, "000001").items():
        assert torch.equal(tensor, undisturbed[name]), name
    assert not list((root / "night").glob(".tmp-*"))


@pytest.fixture
def second_node(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process is the first of two nodes; the other one is a program."""
    rendezvous = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "conductor_trainer", "rank", "--rendezvous", rendezvous]
    command += ["--nodes", "2", "--node-rank", "1"]
    # Its ranks, too, find the functions of these tests.
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as program:
        assert program.stdout is not None
        assert json.loads(program.stdout.readline()) == {"rendezvous": rendezvous}
        for name, value in (("RDZV_ENDPOINT", rendezvous), ("NNODES", "2"), ("NODE_RANK", "0")):
            monkeypatch.setenv(f"PET_{name}", value)
        yield
        program.terminate()


def test_two_nodes_learn_what_one_learns_also_after_the_other_one_lost_a_rank(
    warm: Path, undisturbed: dict[str, torch.Tensor], tmp_path: Path, second_node: None
) -> None:
    (shared := tmp_path / "shared").mkdir()
    with pytest.raises(StepLost, match=r"Rank 1 of 2 was killed by SIGKILL .*\s.*alas"):
        launch(stub_ranks.fail, ("be killed",), 2, ignore, shared)
    root = Path(shutil.copytree(warm, tmp_path / "checkpoints"))
    learn_together(root)
    for name, tensor in weights(root, "000001").items():
        assert torch.equal(tensor, undisturbed[name]), name


def test_a_step_does_not_wait_for_ever_for_the_other_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launching, "_GATHERING", timedelta(seconds=1))
    monkeypatch.setattr(launching, "_MOURNING", timedelta(seconds=1))
    rendezvous = f"127.0.0.1:{free_port()}"
    for name, value in (("RDZV_ENDPOINT", rendezvous), ("NNODES", "2"), ("NODE_RANK", "0")):
        monkeypatch.setenv(f"PET_{name}", value)
    with pytest.raises(StepLost, match=f"Only some of 2 nodes came to {rendezvous} within 0:00:01"):
        launch(stub_ranks.fail, ("leave",), 2, ignore, tmp_path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"PET_RDZV_ENDPOINT": "head:29500"}, "unknown in number and this one numbered unknown"),
        ({"PET_RDZV_ENDPOINT": "29500", "PET_NNODES": "2", "PET_NODE_RANK": "0"}, "'29500' cannot"),
        (
            {"PET_RDZV_ENDPOINT": "head:29500", "PET_NNODES": "1:4", "PET_NODE_RANK": "0"},
            "1:4 in number",
        ),
        (
            {"PET_RDZV_ENDPOINT": "head:29500", "SLURM_NNODES": "2", "SLURM_NODEID": "2"},
            "--node-rank 2 must be less than --nodes 2",
        ),
    ],
)
def test_nodes_that_cannot_meet_are_refused(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], said: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CannotStart, match=said):
        nodes()


def test_nodes_are_found_in_the_variables_of_slurm_and_kubernetes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SLURM_NNODES", "2")
    # A job of SLURM trains on one node unless it names a meeting place.
    assert nodes().count == 1
    monkeypatch.setenv("PET_RDZV_ENDPOINT", "[fd00::1]:29500")
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "1")
    found = nodes()
    assert (found.count, found.rank, found.host, found.port) == (2, 1, "fd00::1", 29500)
    assert processes_here(config_of(processes=4)) == 2
    with pytest.raises(TrainerError, match="processes is 3, which 2 nodes cannot share equally"):
        processes_here(config_of(processes=3))
