"""Messages of the worker's command; TypeScript tests run its activities on a Temporal server."""

import subprocess
import sys
from pathlib import Path

import pytest

from conductor_trainer.worker.__main__ import main


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["--artifacts", "ftp://host"], "is not a place for artifacts: expected FOLDER or s3:"),
        (["--encryption-key-env", "NO_SUCH_KEYS"], "environment variable NO_SUCH_KEYS, which is"),
        ([], "Connection refused"),
    ],
)
def test_a_worker_that_cannot_start_says_why_in_a_sentence(
    changes: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:9")
    places = ["--artifacts", f"{tmp_path}/artifacts", "--checkpoints", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["worker", *places, *changes])
    with pytest.raises(SystemExit, match="The trainer cannot start: ") as caught:
        main()
    assert said in str(caught.value)


def run_python(program: str) -> tuple[str, str]:
    tests = Path(__file__).parent
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, cwd=tests, capture_output=True, text=True)
    return ran.stdout, ran.stderr


def test_the_worker_loads_no_torch() -> None:
    imports = "import sys, conductor_trainer.worker.serve"
    assert run_python(f"{imports}; print('torch' in sys.modules)") == ("False\n", "")


def test_what_libraries_print_does_not_disturb_the_lines_of_the_worker() -> None:
    stdout, stderr = run_python(
        "import asyncio, os\n"
        "from pathlib import Path\n"
        "from conductor_trainer.step.runner import StepRunner, claim_stdout\n"
        "say = claim_stdout()\n"
        "os.system('echo a program')\n"
        "stubs = StepRunner(Path(), 'stub_jobs:perform')\n"
        "asyncio.run(stubs.run('print', {}, {}, lambda _: None))\n"
        "say({'is': 'ready'})\n"
    )
    assert stdout == '{"is": "ready"}\n'
    assert "a program\n" in stderr
    assert "a library\n" in stderr
