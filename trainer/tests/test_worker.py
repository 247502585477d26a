"""What the worker's command says; what it does is tried from TypeScript, over a Temporal server."""

import subprocess
import sys
from pathlib import Path

import pytest

from conductor_trainer.worker import main


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["--store", "ftp://store"], "store 'ftp://store' is none: expected file:PATH or s3://"),
        (["--encryption-key-env", "NO_SUCH_KEYS"], "environment variable NO_SUCH_KEYS, which is"),
        ([], "Connection refused"),
    ],
)
def test_a_worker_that_cannot_start_says_why_in_a_sentence(
    changes: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:9")
    places = ["--store", f"file:{tmp_path}", "--checkpoints", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["worker", *places, *changes])
    with pytest.raises(SystemExit, match="The trainer cannot start: ") as caught:
        main()
    assert said in str(caught.value)


def test_the_worker_loads_no_torch() -> None:
    program = "import sys, conductor_trainer.worker; print('torch' in sys.modules)"
    path = str(Path(__file__).parents[1] / "src")
    ran = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": path}, capture_output=True, text=True
    )
    assert ran.stdout == "False\n", ran.stderr
