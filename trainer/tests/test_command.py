"""The one command that the package installs, and the programs it runs by name."""

import os
import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-m", "conductor_trainer"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, env=os.environ)


@pytest.mark.parametrize(
    "name",
    [
        *["worker", "rank", "policy-server", "restarting-server", "fetching-server"],
        *["estimate", "report"],
    ],
)
def test_each_program_has_its_name_and_its_own_options(name: str) -> None:
    assert name in run("--help").stdout
    shown = run(name, "--help")
    assert shown.returncode == 0
    assert shown.stdout.startswith(f"usage: temporal-conductor-trainer {name} ")


def test_a_name_that_there_is_not_is_answered_with_those_that_there_are() -> None:
    refused = run("policy_server")
    assert refused.returncode == 2
    assert "invalid choice: 'policy_server' (choose from" in refused.stderr
    assert "policy-server" in refused.stderr
