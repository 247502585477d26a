"""A warm start learns replies and where they end, and nothing of the prompts."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from conductor_trainer.checkpoint import require_record
from conductor_trainer.errors import BadRequest
from conductor_trainer.model import load_policy, load_tokenizer
from conductor_trainer.step import main
from conductor_trainer.train import launch as launching
from conductor_trainer.train.warm_start import IGNORED, ScoredReplies, read_examples
from tiny_run import (
    FULL,
    LORA,
    TINY_CHAT,
    begin,
    checkpoint,
    config_of,
    learn,
    prompt_of,
    reply_of,
    rows_of_batch,
    warm_start_request,
    weights,
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("full")
    begin(root, tmp_path_factory.mktemp("files"), config_of())
    return root


def tokenizer_of(root: Path) -> Any:
    return load_tokenizer(root / require_record(root, checkpoint("base")).folder)


def write_examples(path: Path, *examples: Any) -> Path:
    path.write_text("".join(json.dumps(example) + "\n" for example in examples))
    return path


def test_loss_is_taken_on_the_reply_and_its_end_alone(root: Path, tmp_path: Path) -> None:
    tokenizer = tokenizer_of(root)
    open_end = {"prompt": prompt_of("law"), "completion": reply_of("law", 1)}
    closed = {**open_end, "completion": open_end["completion"] + "<|im_end|>"}
    path = write_examples(tmp_path / "examples", open_end, closed)
    first, second = read_examples(path, tokenizer, TINY_CHAT)
    assert first == second
    prompt_ids = tokenizer.encode(prompt_of("law"))
    reply_ids = tokenizer.encode(closed["completion"])
    assert first["input_ids"] == prompt_ids + reply_ids
    assert first["labels"] == [IGNORED] * len(prompt_ids) + reply_ids


def test_replies_alone_are_scored_and_lose_what_they_lose_in_whole_rows(
    root: Path, tmp_path: Path
) -> None:
    tokenizer = tokenizer_of(root)
    examples = [
        {"prompt": prompt_of("law" * n), "completion": reply_of("x" * n, n)} for n in (1, 4)
    ]
    rows = read_examples(write_examples(tmp_path / "examples", *examples), tokenizer, TINY_CHAT)
    model = load_policy(root, require_record(root, checkpoint("base")), config_of()).eval()
    batch = ScoredReplies(tokenizer)(rows)
    scored = model(**batch)
    replies = [sum(label != IGNORED for label in row["labels"]) for row in rows]
    assert scored.logits.shape[1] == max(replies) + 1
    whole = [{name: torch.tensor([row[name]]) for name in ("input_ids", "labels")} for row in rows]
    losses: list[float] = [model(**row).loss.item() for row in whole]
    mean = sum(loss * count for loss, count in zip(losses, replies, strict=True)) / sum(replies)
    assert scored.loss.item() == pytest.approx(mean, abs=1e-5)


def test_what_was_shown_becomes_likely(root: Path) -> None:
    mean = {
        name: sum(sum(row["sampledLogprobs"]) for row in rows_of_batch(root, name, config_of())) / 8
        for name in ("base", "warm")
    }
    assert mean["warm"] > mean["base"] / 3


def test_the_same_examples_make_the_same_weights(root: Path, tmp_path: Path) -> None:
    examples = [
        {"prompt": prompt_of(topic), "completion": reply_of(topic, n)}
        for topic in ("trivia", "algebra")
        for n in range(4)
    ]
    path = write_examples(tmp_path / "examples", *examples)
    phases: list[str] = []
    request = warm_start_request(config_of(), name="warm-again")
    again = main.perform("warmStart", root, request, path, phases.append)
    first = require_record(root, checkpoint("warm"))
    assert again["checkpoint"]["weightsSha256"] == first.weightsSha256
    assert again["loss"] == first.outcome["loss"]
    assert phases[0] == "loading"
    assert phases[-2:] == ["step 30 of 30", "saving"]


def test_an_adapter_of_a_run_adapts_what_a_warm_start_of_all_weights_made(
    root: Path, tmp_path: Path
) -> None:
    begin(tmp_path, tmp_path, config_of(tuning=LORA), weights="all")
    record = require_record(tmp_path, checkpoint("warm"))
    assert (record.kind, record.base) == ("adapter", "night/warm/model")
    learned, alone = load_file(tmp_path / record.base / "model.safetensors"), weights(root, "warm")
    assert all(torch.equal(tensor, learned[name]) for name, tensor in alone.items())
    # The adapter changes nothing yet, so the plans of both are equally likely.
    assert record.probe == require_record(root, checkpoint("warm")).probe
    config = config_of(tuning=LORA)
    learn(tmp_path, 1, "warm", config, rows_of_batch(tmp_path, "warm", config))
    assert require_record(tmp_path, checkpoint("000001")).base == record.base


def test_a_warm_start_of_all_weights_takes_no_adapter_that_has_learned(tmp_path: Path) -> None:
    config = config_of(tuning=LORA)
    begin(tmp_path, tmp_path, config)
    request = warm_start_request(
        config, weights="all", parent=checkpoint("warm"), name="warm-again"
    )
    with pytest.raises(BadRequest, match="must start from night/base, not from night/warm"):
        main.perform("warmStart", tmp_path, request, tmp_path / "examples.jsonl", lambda _: None)


def test_an_update_takes_plans_of_the_checkpoint_before_an_imitation(tmp_path: Path) -> None:
    config = config_of()
    begin(tmp_path, tmp_path, config)
    rows = rows_of_batch(tmp_path, "warm", config)
    request = warm_start_request(config, parent=checkpoint("warm"), name="000001")
    main.perform("warmStart", tmp_path, request, tmp_path / "examples.jsonl", lambda _: None)
    learn(tmp_path, 2, "000001", config, rows)
    assert require_record(tmp_path, checkpoint("000002")).parent == checkpoint("000001")


def test_a_batch_passes_through_the_model_in_parts(root: Path, tmp_path: Path) -> None:
    """Whole and in parts it learns the same, but for rounding."""
    example = {"prompt": prompt_of("law"), "completion": reply_of("law", 1)}
    path = write_examples(tmp_path / "examples", *[example] * 8)
    losses = [
        main.perform(
            "warmStart",
            root,
            warm_start_request(config_of(microBatch=micro), name=f"warm-{micro}", steps=3),
            path,
            lambda _: None,
        )["loss"]
        for micro in (8, 2)
    ]
    assert losses[0] == pytest.approx(losses[1], abs=1e-4)


@pytest.mark.parametrize("tuning", [pytest.param(FULL, marks=pytest.mark.nightly), LORA])
def test_two_processes_learn_what_one_learns(
    tmp_path: Path, tuning: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch, told = launching.launch, []
    monkeypatch.setattr(launching, "launch", lambda *given: told.extend(launch(*given)) or told)
    config = config_of(tuning=tuning, microBatch=2)
    begin(tmp_path, tmp_path, config)
    examples = [
        {"prompt": prompt_of("law" * n), "completion": reply_of("x" * n, n)} for n in range(12)
    ]
    path = write_examples(tmp_path / "examples", *examples)
    made = [
        main.perform(
            "warmStart",
            tmp_path,
            warm_start_request(
                {**config, "processes": processes}, name=f"by-{processes}", steps=7, batch=6
            ),
            path,
            lambda _: None,
        )
        for processes in (1, 2)
    ]
    assert [len(each["losses"]) for each in told] == [7, 7]
    assert made[1]["loss"] == pytest.approx(made[0]["loss"], abs=1e-5)
    for name, tensor in weights(tmp_path, "by-1").items():
        torch.testing.assert_close(weights(tmp_path, "by-2")[name], tensor, atol=1e-5, rtol=0)
