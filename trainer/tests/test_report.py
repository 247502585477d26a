"""One run on the board, however often the reporter is started."""

# Its boards are optional: tests of one that is not installed are skipped.
# pyright: reportMissingImports=false

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conductor_trainer.artifacts import open_artifacts
from conductor_trainer.report import metrics_key, scalars_of

RUN = "made-up"


def made_up_metrics(cycle: int) -> dict[str, Any]:
    return {
        "schema": 1,
        "cycle": cycle,
        "at": f"2026-11-21T00:00:{cycle:02d}.000Z",
        "rewardMean": 0.5 + cycle / 100,
        "rewardSpread": 0.2,
        "heldOut": None,
        "formatRate": 1,
        "planLength": 2,
        "planTokens": 80,
        "workerTokens": 700,
        "usd": None,
        "draws": 4,
        "dropped": 1,
        "verdicts": {"correct": 3, "wrong": 1, "unparseable": 0, "ungraded": 0},
        "workerShares": {"quick": 0.25, "scholar": 0.75},
        "topologyShares": {"chain": 1},
        "update": None,
        "times": {"sampling": 900, "whole": 2500},
    }


def keep_cycles(store: Path, *cycles: int) -> None:
    opened = open_artifacts(str(store))
    for cycle in cycles:
        opened.write(metrics_key(RUN, cycle), json.dumps(made_up_metrics(cycle)).encode())


def report_once(store: Path, *board: str) -> None:
    command = [sys.executable, "-m", "conductor_trainer.report"]
    source = str(Path(__file__).parents[1] / "src")
    subprocess.run(
        [*command, "--artifacts", str(store), "--run", RUN, "--once", *board],
        env={**os.environ, "PYTHONPATH": source, "WANDB_MODE": "offline"},
        check=True,
    )


def test_scalars_are_named_and_what_was_not_measured_is_left_out() -> None:
    scalars = scalars_of(made_up_metrics(1))
    assert scalars["reward/mean"] == 0.51
    assert scalars["verdicts/correct"] == 0.75
    assert scalars["workers/scholar"] == 0.75
    assert scalars["seconds/whole"] == 2.5
    assert not {"rollouts/usd", "reward/held_out", "update/loss"} & scalars.keys()


def test_tensorboard_has_each_cycle_once(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    store, board = tmp_path / "store", tmp_path / "board"
    keep_cycles(store, 1, 2)
    report_once(store, "--tensorboard", str(board))
    report_once(store, "--tensorboard", str(board))
    keep_cycles(store, 3)
    report_once(store, "--tensorboard", str(board))

    shown = EventAccumulator(str(board / RUN)).Reload()
    # Files of one second are read in the order of their process ids.
    means = sorted(shown.Scalars("reward/mean"), key=lambda event: event.step)
    assert [event.step for event in means] == [1, 2, 3]
    assert [event.value for event in means] == pytest.approx([0.51, 0.52, 0.53])
    assert means[0].wall_time == 1795219201.0


def test_a_cycle_that_was_cut_off_is_written_again(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    store, board = tmp_path / "store", tmp_path / "board"
    keep_cycles(store, 1, 2)
    report_once(store, "--tensorboard", str(board))
    (events,) = (board / RUN).iterdir()
    events.write_bytes(events.read_bytes()[:-1])
    report_once(store, "--tensorboard", str(board))

    shown = EventAccumulator(str(board / RUN)).Reload()
    assert [event.step for event in shown.Scalars("reward/mean")] == [1, 2]


def test_wandb_keeps_one_run_id(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    store, board = tmp_path / "store", tmp_path / "board"
    keep_cycles(store, 1, 2)
    report_once(store, "--wandb", str(board))
    (log,) = (board / "wandb").glob(f"offline-run-*/run-{RUN}.wandb")
    assert b"reward/mean" in log.read_bytes()
