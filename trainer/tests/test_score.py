"""Scores tell the answers of a checkpoint from those of other weights."""

from pathlib import Path
from typing import Any

import pytest

from conductor_trainer.contract import Config, fault_in, validator_of
from conductor_trainer.errors import BatchInvalid
from conductor_trainer.score import score
from tiny_run import (
    SHA,
    begin,
    checkpoint,
    config_of,
    learn,
    pack_batch,
    rows_of_batch,
    signed,
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("score")
    config = config_of()
    begin(root, tmp_path_factory.mktemp("files"), config)
    learn(root, 1, "warm", config, rows_of_batch(root, "warm", config))
    return root


def scored(root: Path, served_by: str, config: Config, **changes: Any) -> Any:
    """Scores rows for cycle 1's checkpoint that `served_by` sampled, whatever its weights are."""
    sampled = rows_of_batch(root, served_by, config, rewards=[0.5] * 8)
    rows = signed(sampled, "night/000001")
    batch = root / "served.jsonl.gz"
    batch.write_bytes(pack_batch(root, 1, "000001", config, rows))
    request: Any = {
        "checkpoint": checkpoint("000001"),
        "cycle": 1,
        "batch": {"key": "served", "sha256": SHA},
        "rollouts": len(rows),
        "temperature": config["temperature"],
        "config": config,
        **changes,
    }
    assert fault_in(validator_of("scoreRequest"), request) is None
    result = score(root, request, batch)
    assert fault_in(validator_of("scoreResult"), result) is None
    return result


def test_a_server_with_the_right_weights_is_far_from_those_before_them(root: Path) -> None:
    gaps = scored(root, "000001", config_of())
    # One for each group, though all of its replies earned the same.
    assert gaps["own"] == pytest.approx([0, 0], abs=1e-5)
    assert min(gaps["parent"]) > 0.01


def test_yesterdays_weights_are_nearer_to_yesterdays_checkpoint(root: Path) -> None:
    gaps = scored(root, "warm", config_of())
    assert gaps["parent"] == pytest.approx([0, 0], abs=1e-5)
    assert min(gaps["own"]) > 0.01


def test_a_first_checkpoint_has_none_before_it(root: Path) -> None:
    config = config_of()
    rows = rows_of_batch(root, "warm", config)
    batch = root / "first.jsonl.gz"
    batch.write_bytes(pack_batch(root, 1, "warm", config, rows))
    about: Any = {"checkpoint": checkpoint("warm"), "cycle": 1, "rollouts": 8, "temperature": 1.0}
    gaps = score(root, about | {"config": config}, batch)
    assert gaps["own"] == pytest.approx([0, 0], abs=1e-5)
    assert gaps["parent"] is None


def test_replies_at_another_temperature_are_refused(root: Path) -> None:
    with pytest.raises(BatchInvalid, match="temperature"):
        scored(root, "000001", config_of(), temperature=0.2)
