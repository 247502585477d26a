"""Error messages of programs that cannot start, each run as a user would run it."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

WORKER = ["worker", "--artifacts", "artifacts", "--checkpoints", "checkpoints"]
RESTARTING = ["restarting_server", "--port", "0", "--", "{model}", "{folder}", "{port}"]


def run(program: list[str], *flags: str) -> str:
    name, *options = program
    command = [sys.executable, *flags, "-m", f"conductor_trainer.{name}", *options]
    ran = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=100
    )
    assert ran.returncode == 1
    return ran.stderr


@pytest.mark.parametrize(
    ("program", "package"),
    [
        (["policy_server", "--port", "0"], "torch"),
        (WORKER, "temporalio"),
        (
            ["train.join", "--rendezvous", "localhost:1", "--nodes", "2", "--node-rank", "1"],
            "torch",
        ),
        (RESTARTING, "h11"),
    ],
)
def test_a_missing_package_is_named_with_what_installs_it(program: list[str], package: str) -> None:
    # Without the packages of its environment.
    said = run(program, "-S")
    remedy = r'run "node \S+/scripts/prepare-trainer\.mjs" once, and use the Python whose path it'
    assert re.fullmatch(
        rf"The \w[ \w]+ cannot start: the Python package {package} is not installed for \S+: "
        rf"{remedy} prints\n",
        said,
    )


@pytest.mark.parametrize("program", [["policy_server"], RESTARTING])
def test_a_taken_port_is_named(program: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        said = run([program[0], "--port", str(port), *program[3:]])
    assert f"it cannot listen at 127.0.0.1:{port} (Address already in use): stop the" in said
    assert said.count("\n") == 1


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    said = run(["policy_server", "--port", "0", "--model", f"first={folder}"])
    assert said == (
        f"The policy server cannot start: there is no folder {folder}, which --model "
        f"first={folder} names: put the model there, or give its folder\n"
    )


def test_a_gpu_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Hides the GPUs of the machine that runs this test.
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    # The error comes before a model is loaded: this folder has none.
    model = f"first={tmp_path}"
    said = run(["policy_server", "--port", "0", "--device", "cuda", "--model", model])
    assert re.fullmatch(
        r"The policy server cannot start: --device cuda needs a GPU, but PyTorch \S+ sees none "
        r"here: use --device cpu, or check the output of nvidia-smi\n",
        said,
    )


def test_checkpoints_that_have_no_place_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "checkpoints"
    said = run(["worker", "--artifacts", str(tmp_path), "--checkpoints", str(folder)])
    assert f"the folder {folder} cannot be created (Not a directory): give another with" in said
    monkeypatch.delenv("TEMPORAL_ADDRESS", raising=False)
    said = run(["worker", "--artifacts", str(tmp_path), "--checkpoints", str(tmp_path)])
    assert 'is no Temporal server to connect to: start one with "temporal-conductor up"' in said


def test_a_program_ends_with_the_one_that_started_it() -> None:
    program = (
        "import signal\n"
        "from conductor_trainer.starting import end_with_stdin\n"
        "end_with_stdin()\n"
        "print('ready', flush=True)\n"
        "signal.pause()\n"
    )
    reading, writing = os.pipe()
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=reading, stdout=subprocess.PIPE) as process:
        os.close(reading)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        os.close(writing)
        assert process.wait() == -signal.SIGTERM
