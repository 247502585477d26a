"""Scores tell the answers of a checkpoint from those of other weights."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers import Qwen2Config, Qwen2ForCausalLM

import measured_score
from conductor_trainer import score as scoring
from conductor_trainer.contract import Config, fault_in, validator_of
from conductor_trainer.errors import BatchInvalid, StepLost
from conductor_trainer.model import logprobs_of
from conductor_trainer.score import score
from conductor_trainer.train.memory import LOGITS_AT_ONCE, needed_to_score, shape_of
from phases import ignore
from tiny_run import (
    FULL,
    LORA,
    RUN,
    SHA,
    begin,
    checkpoint,
    config_of,
    learn,
    pack_batch,
    rows_of_batch,
    signed,
)


@pytest.fixture(scope="module", params=[FULL, LORA], ids=["full", "lora"])
def config(request: pytest.FixtureRequest) -> Config:
    return config_of(tuning=request.param)


@pytest.fixture(scope="module")
def root(config: Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("score")
    begin(root, tmp_path_factory.mktemp("files"), config)
    learn(root, 1, "warm", config, rows_of_batch(root, "warm", config))
    return root


def scored(root: Path, served_by: str, config: Config, *, replies: int = 8, **changes: Any) -> Any:
    """Scores rows for cycle 1's checkpoint that `served_by` sampled, whatever its weights are."""
    sampled = rows_of_batch(root, served_by, config, rewards=[0.5] * 8)[:replies]
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
    result = score(root, request, batch, ignore)
    assert fault_in(validator_of("scoreResult"), result) is None
    return result


def test_a_server_with_the_right_weights_is_far_from_those_before_them(
    root: Path, config: Config
) -> None:
    gaps = scored(root, "000001", config)
    # One for each group, though all of its replies earned the same.
    assert gaps["own"] == pytest.approx([0, 0], abs=1e-5)
    assert min(gaps["parent"]) > 0.01


def test_yesterdays_weights_are_nearer_to_yesterdays_checkpoint(root: Path, config: Config) -> None:
    gaps = scored(root, "warm", config)
    assert gaps["parent"] == pytest.approx([0, 0], abs=1e-5)
    assert min(gaps["own"]) > 0.01


def test_two_processes_find_what_one_finds_and_hold_a_share_each(
    root: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An odd number, so that one process has no reply of its own in the end.
    alone = scored(root, "warm", config, replies=7)
    together = {**config, "processes": 2}
    monkeypatch.setattr(scoring, "compare", measured_score.compare)
    found = scored(root, "warm", together, replies=7)
    for name, gaps in alone.items():
        assert found[name] == pytest.approx(gaps, abs=1e-5)
    reckoned = needed_to_score(shape_of(root / f"{RUN}/base/model", together), together)
    for rank in range(2):
        for held, left in json.loads((root / f"held-{rank}").read_text()):
            # Weights that cannot be halved are left out.
            assert held == pytest.approx(reckoned["weights"], rel=0.02)
            assert left == 0
    assert not list((root / RUN).glob(".tmp-*"))


@pytest.mark.parametrize("config", [LORA], indirect=True)
def test_a_process_that_dies_ends_the_comparison_which_can_be_repeated(
    root: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "compare", measured_score.die)
    said = r"Rank 1 of 2 was killed by SIGKILL in its phase 'comparing'\.[\s\S]*alas"
    with pytest.raises(StepLost, match=said) as lost:
        scored(root, "warm", {**config, "processes": 2})
    assert lost.value.retryable


def test_a_first_checkpoint_has_none_before_it(root: Path, config: Config) -> None:
    rows = rows_of_batch(root, "warm", config)
    batch = root / "first.jsonl.gz"
    batch.write_bytes(pack_batch(root, 1, "warm", config, rows))
    about: Any = {"checkpoint": checkpoint("warm"), "cycle": 1, "rollouts": 8, "temperature": 1.0}
    gaps = score(root, about | {"config": config}, batch, ignore)
    assert gaps["own"] == pytest.approx([0, 0], abs=1e-5)
    assert gaps["parent"] is None


def test_replies_at_another_temperature_are_refused(root: Path, config: Config) -> None:
    with pytest.raises(BatchInvalid, match="temperature"):
        scored(root, "000001", config, temperature=0.2)


class Largest(TorchDispatchMode):
    """The largest number of elements of any tensor that is made."""

    elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        sizes = [each.numel() for each in tree_leaves(made) if isinstance(each, torch.Tensor)]
        self.elements = max([self.elements, *sizes])
        return made


def test_no_more_logits_than_are_reckoned_are_held_at_once() -> None:
    vocabulary, tokens = 4 * LOGITS_AT_ONCE, 32
    shape: Any = dict(num_attention_heads=2, num_key_value_heads=1, num_hidden_layers=1)
    config = Qwen2Config(vocab_size=vocabulary, hidden_size=8, intermediate_size=8, **shape)
    policy = Qwen2ForCausalLM(config).eval()
    ids = list(range(tokens))
    with Largest() as largest:
        found = logprobs_of(policy, ids, 0.5)
    # The model's own weights are no larger.
    assert largest.elements <= tokens * LOGITS_AT_ONCE
    with torch.no_grad():
        logits_TV = policy(torch.tensor([ids])).logits[0, :-1] / 0.5
    logprobs_TV = torch.log_softmax(logits_TV, -1)
    wanted = [float(row[token]) for row, token in zip(logprobs_TV, ids[1:], strict=True)]
    assert found == pytest.approx(wanted, abs=1e-5)
