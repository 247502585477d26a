"""Steps run in processes of their own, and may be killed at any moment."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conductor_trainer.checkpoint import read_record, require_record
from conductor_trainer.requests import Config
from tiny_run import (
    begin,
    checkpoint,
    config_of,
    learn,
    rows_of_batch,
    update_request,
    write_batch,
)


class Server:
    """A fork server and its two pipes."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "conductor_trainer.fork_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent / "src")},
        )
        self.last_id = 0
        assert self.read() == {"ready": True}

    def write(self, message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def start(self, job: str, root: Path, request: Any, **files: Path) -> int:
        self.last_id += 1
        paths = {name: str(path) for name, path in files.items()}
        job_fields = {"id": self.last_id, "job": job, "root": str(root)}
        self.write({**job_fields, "request": request, "files": paths})
        return self.last_id

    def wait_for_phase(self, phase: str) -> None:
        while not self.read()["progress"]["phase"].startswith(phase):
            continue

    def answer(self) -> Any:
        while "progress" in (message := self.read()):
            continue
        assert message["id"] == self.last_id
        return message

    def ask(self, job: str, root: Path, request: Any, **files: Path) -> Any:
        self.start(job, root, request, **files)
        return self.answer()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait() == 0


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


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


def start_long_step(server: Server, root: Path) -> int:
    """Returns the step's process id, once it is learning."""
    batch = write_batch(root, 1, "warm", LONG, rows_of_batch(root, "warm", LONG))
    server.start("update", root, update_request(1, "warm", LONG), batch=batch)
    server.wait_for_phase("step 3 of")
    (temporary,) = (root / "night").glob(".tmp-000001-*")
    return int(temporary.name.rpartition("-")[2])


def test_steps_in_fresh_processes_equal_steps_in_this_one(
    server: Server, root: Path, tmp_path: Path
) -> None:
    config = config_of()
    rows = rows_of_batch(root, "warm", config)
    here = Path(shutil.copytree(root, tmp_path / "here"))
    for cycle, parent in enumerate(("warm", "000001"), start=1):
        batch = write_batch(root, cycle, parent, config, rows)
        result = server.ask("update", root, update_request(cycle, parent, config), batch=batch)
        mine = learn(here, cycle, parent, config, rows)["checkpoint"]
        assert result["result"]["checkpoint"]["weightsSha256"] == mine["weightsSha256"]


def test_a_killed_step_comes_to_the_same_when_it_is_run_again(
    server: Server, root: Path, tmp_path: Path
) -> None:
    undisturbed = Path(shutil.copytree(root, tmp_path / "undisturbed"))
    os.kill(start_long_step(server, root), signal.SIGKILL)
    lost = server.answer()["error"]
    assert lost["type"] == "Trainer.StepLost"
    assert lost["retryable"]
    assert "SIGKILL" in lost["message"]
    assert read_record(root, checkpoint("000001")) is None

    again = run_long(server, root)
    assert (
        again["checkpoint"]["weightsSha256"]
        == (run_long(server, undisturbed)["checkpoint"]["weightsSha256"])
    )
    assert not list((root / "night").glob(".tmp-*"))


def run_long(server: Server, root: Path) -> Any:
    batch = write_batch(root, 1, "warm", LONG, rows_of_batch(root, "warm", LONG))
    return server.ask("update", root, update_request(1, "warm", LONG), batch=batch)["result"]


def test_a_step_can_be_cancelled(server: Server, root: Path) -> None:
    start_long_step(server, root)
    server.write({"cancel": server.last_id})
    assert server.answer()["error"]["type"] == "Trainer.StepLost"
    assert read_record(root, checkpoint("000001")) is None


def test_what_is_over_or_was_never_there_can_be_cancelled_too(server: Server, root: Path) -> None:
    server.ask("forget", root, {})
    server.write({"cancel": server.last_id})
    server.write({"cancel": 99_999})
    assert "error" in server.ask("forget", root, {})


def test_a_second_step_of_a_run_waits_for_the_first_and_finds_its_checkpoint(
    server: Server, root: Path
) -> None:
    config: Config = config_of()
    batch = write_batch(root, 1, "warm", config, rows_of_batch(root, "warm", config))
    for _ in range(2):
        server.start("update", root, update_request(1, "warm", config), batch=batch)
    results = []
    while len(results) < 2:
        message = server.read()
        results += [message["result"]] if "result" in message else []
    assert sorted(result["replayed"] for result in results) == [False, True]


@pytest.mark.parametrize(
    ("job", "parent", "type", "retryable"),
    [
        ("update", "000007", "Trainer.CheckpointMissing", False),
        ("forget", "warm", "Trainer.BadRequest", False),
        ("warmStart", "warm", "Trainer.Failed", True),
    ],
)
def test_errors_keep_their_type(
    server: Server, root: Path, job: str, parent: str, type: str, retryable: bool
) -> None:
    request = update_request(8, parent, config_of())
    error = server.ask(job, root, request, batch=root / "none")["error"]
    assert (error["type"], error["retryable"]) == (type, retryable)
    assert error["message"]


def test_a_process_of_its_own_answers_like_a_fork(root: Path) -> None:
    """What CUDA needs, run on the CPU."""
    config = config_of()
    batch = write_batch(root, 1, "warm", config, rows_of_batch(root, "warm", config))
    job = {"id": 5, "job": "update", "root": str(root), "files": {"batch": str(batch)}}
    step = subprocess.run(
        [sys.executable, "-m", "conductor_trainer.step"],
        input=json.dumps({**job, "request": update_request(1, "warm", config)}) + "\n",
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    *progress, last = [json.loads(line) for line in step.stdout.splitlines()]
    assert progress[0] == {"id": 5, "progress": {"phase": "loading"}}
    digest = require_record(root, checkpoint("000001")).weightsSha256
    assert last["result"]["checkpoint"]["weightsSha256"] == digest


def test_a_server_whose_owner_is_gone_takes_its_step_with_it(root: Path) -> None:
    server = Server()
    pid = start_long_step(server, root)
    server.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert read_record(root, checkpoint("000001")) is None
