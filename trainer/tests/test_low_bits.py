"""With weights in 4 bits, or moments in 8, updates learn nearly what they learn without."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import measured_update
import tiny_run
from conductor_trainer.checkpoint import require_record
from conductor_trainer.contract import Config
from conductor_trainer.errors import BadRequest
from conductor_trainer.model import load_merged, load_tokenizer
from conductor_trainer.step.main import perform
from conductor_trainer.step.runner import StepRunner
from conductor_trainer.train import update
from conductor_trainer.train.memory import needed_by_process, shape_of
from conductor_trainer.train.record import Made, probed_tokens, take_probe
from phases import ignore
from tiny_run import (
    FULL,
    LORA,
    RUN,
    TINY,
    TINY_CHAT,
    begin,
    checkpoint,
    config_of,
    learn,
    rows_of_batch,
    signed,
    update_request,
    weights,
    write_batch,
)
from uninterrupted import learn_uninterrupted

# Large enough for moments in 8 bits: bitsandbytes spares matrices of fewer than 4,096 weights.
WIDE = {**TINY, "hidden": 64, "feedForward": 128}
ADAPTER = {**LORA, "rank": 64}
QUANTIZED = {"tuning": {**ADAPTER, "quantize": "4bit"}}
SMALL_MOMENTS = {"tuning": ADAPTER, "optimizer": {"name": "adamw8bit"}}
BOTH = {**SMALL_MOMENTS, **QUANTIZED}


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("lora")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiny_run, "TINY", WIDE)
        begin(root, tmp_path_factory.mktemp("files"), config_of(tuning=ADAPTER))
    return root


@pytest.fixture
def root(warm: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(warm, tmp_path / "checkpoints"))


def learn_anew(root: Path, config: Config, rows: list[dict[str, Any]]) -> Any:
    shutil.rmtree(root / RUN / "000001", ignore_errors=True)
    return learn(root, 1, "warm", config, rows)


@pytest.mark.parametrize("changes", [QUANTIZED, SMALL_MOMENTS, BOTH])
def test_an_update_learns_nearly_what_it_learns_with_all_bits(root: Path, changes: Any) -> None:
    rows = rows_of_batch(root, "warm", config_of(tuning=ADAPTER))
    # So that the loss tells what steps gained in the passes after them, and nothing else.
    same: Any = {"loss": {"correction": "none"}, "iterations": 3}
    fast = {"warmupSteps": 0, "learningRate": 1e-3}
    plain = learn_anew(root, config_of(tuning=ADAPTER, optimizer=fast, **same), rows)["metrics"]
    few = config_of(**{**changes, "optimizer": {**changes.get("optimizer", {}), **fast}}, **same)
    found = learn_anew(root, few, rows)["metrics"]
    assert plain["loss"] < -1e-3
    # NF4 rounds a weight by a tenth of its size: the sum over many moves a token's log-probability
    # by as much. Moments in 8 bits are rounded by less than a hundredth.
    noise = 0.2 if "quantize" in few["tuning"] else 0.01
    assert found["samplerGap"] < noise
    for name in ("loss", "gradNorm", "policyGap"):
        assert found[name] == pytest.approx(plain[name], rel=noise), name
    # Steps are not lost in bfloat16, to which TRL rounds.
    after = weights(root, "000001").values()
    assert all(not torch.equal(each, each.bfloat16().float()) for each in after)


def test_updates_of_their_own_equal_one_uninterrupted_run_bit_by_bit(root: Path) -> None:
    config = config_of(**BOTH)
    rows = rows_of_batch(root, "warm", config)
    for cycle, parent in enumerate(("warm", "000001", "000002"), start=1):
        learn(root, cycle, parent, config, signed(rows, f"{RUN}/{parent}"))
    whole = learn_uninterrupted(root, config, rows, cycles=3)
    for name, tensor in weights(root, "000003").items():
        assert torch.equal(tensor, whole[name]), name


def test_a_kl_term_compares_with_the_first_checkpoint_on_the_same_base(root: Path) -> None:
    config = config_of(**QUANTIZED, loss={"beta": 0.5}, iterations=1)
    rows = rows_of_batch(root, "warm", config)
    first = learn(root, 1, "warm", config, rows)["metrics"]
    none = learn_anew(root, {**config, "loss": {**config["loss"], "beta": 0.0}}, rows)["metrics"]
    # The policy is the first checkpoint itself, and so no further from it than from itself.
    assert first["loss"] == pytest.approx(none["loss"], abs=1e-6)


def test_what_is_published_is_the_adapter_of_the_base_as_it_is(root: Path) -> None:
    config = config_of(**BOTH)
    learn(root, 1, "warm", config, rows_of_batch(root, "warm", config))
    record = require_record(root, checkpoint("000001"))
    served = load_merged(root / record.folder)
    probe = take_probe(served, probed_tokens(load_tokenizer(root / record.folder), TINY_CHAT))
    assert probe.logprobs == pytest.approx(record.probe.logprobs, abs=1e-5)


@pytest.mark.anyio
async def test_a_step_that_needs_bitsandbytes_is_no_fork(root: Path, tmp_path: Path) -> None:
    here = Path(shutil.copytree(root, tmp_path / "here"))
    config = config_of(**BOTH)
    rows = rows_of_batch(root, "warm", config)
    batch, request = write_batch(root, 1, "warm", config, rows), update_request(1, "warm", config)
    found = await StepRunner(root).run("update", request, batch, ignore)
    own = learn(here, 1, "warm", config, rows)
    assert found["checkpoint"]["weightsSha256"] == own["checkpoint"]["weightsSha256"]


@pytest.mark.parametrize("changes", [QUANTIZED, SMALL_MOMENTS])
def test_without_bitsandbytes_such_settings_are_refused_in_a_sentence(
    root: Path, monkeypatch: pytest.MonkeyPatch, changes: Any
) -> None:
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    request = {"checkpoint": checkpoint("warm"), "config": config_of(**changes)}
    with pytest.raises(BadRequest, match=r"needs bitsandbytes, which .* install") as refused:
        perform("preflight", root, request, None, lambda _: None)
    assert not refused.value.retryable
    perform("preflight", root, {**request, "config": config_of(tuning=ADAPTER)}, None, ignore)


@pytest.mark.parametrize("changes", [BOTH, {"tuning": FULL, "optimizer": {"name": "adamw8bit"}}])
def test_weights_and_moments_take_the_bytes_that_are_reckoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: Any
) -> None:
    monkeypatch.setattr(tiny_run, "TINY", WIDE)
    monkeypatch.setattr(update, "ExternalGRPOTrainer", update.ExternalGRPOTrainer)
    config, root = config_of(**changes), tmp_path / "checkpoints"
    begin(root, tmp_path, config, steps=1)
    batch = write_batch(root, 1, "warm", config, rows_of_batch(root, "warm", config))
    request = update_request(1, "warm", config)
    made = Made(root, tmp_path, "update", "000001", request, f"{RUN}/base/model", 2)
    _, told = measured_update.learn(made, batch, ignore)
    shape = shape_of(root / made.base, config)
    reckoned = needed_by_process(shape, config)
    for what, held in told["held"].items():
        assert held == pytest.approx(reckoned[what], rel=0.01), what
    (saved,) = (tmp_path / "trainer" / "optimizer").iterdir()
    # Names and counters of steps are beside the moments.
    assert shape.moments < saved.stat().st_size < shape.moments + 50_000
