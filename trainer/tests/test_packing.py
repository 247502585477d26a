"""Rows that are passed through a model end to end do not see each other."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM
from trl.trainer.utils import add_fused_lm_head, pad

from conductor_trainer.train.packing import PACKED_MODELS, pack

# A window that is shorter than some rows, on one layer or all, as the kind of model has it.
WINDOWS: dict[str, dict[str, Any]] = {
    "gemma3_text": {"sliding_window": 6, "layer_types": ["sliding_attention", "full_attention"]},
    "mistral": {"sliding_window": 6},
    "qwen2": {"use_sliding_window": True, "sliding_window": 6, "max_window_layers": 1},
    "qwen3": {"use_sliding_window": True, "sliding_window": 6, "max_window_layers": 1},
}
# Its wave lengths depend on the last position, which all rows together would pass.
STRETCHED = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10_000.0}
LENGTHS = ((5, 9), (1, 0), (3, 4), (12, 2))
"""Tokens of each prompt and reply."""


def model_of(kind: str, **changes: Any) -> Any:
    torch.manual_seed(5)
    config = AutoConfig.for_model(
        kind,
        vocab_size=48,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=16,
        initializer_range=0.3,
        pad_token_id=0,
        **changes,
    )
    model = AutoModelForCausalLM.from_config(config)
    add_fused_lm_head(model, outputs=("log_probs", "entropy"))
    return model


def padded(lengths: tuple[tuple[int, int], ...] = LENGTHS) -> dict[str, torch.Tensor]:
    """Prompts are padded left and replies right, as in a micro batch; only replies are scored."""
    torch.manual_seed(6)
    prompts, replies = (
        [torch.randint(1, 48, (length,)) for length in each] for each in zip(*lengths, strict=True)
    )
    ids = torch.cat([pad(prompts, 0, "left"), pad(replies, 0)], dim=1)
    labels = ids.masked_fill(ids == 0, -100)
    labels[:, : max(prompt for prompt, _ in lengths)] = -100
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": labels}


def require_equal(found: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


def scored(model: Any, forward: Any, batch: dict[str, torch.Tensor]) -> tuple[Any, ...]:
    """Log-probabilities, entropies, and the gradients of all weights by both."""
    output = forward(**batch, fused_lm_head=True)
    (output.log_probs.sum() + 0.5 * (output.entropy * (output.log_probs != 0)).sum()).backward()
    return output.log_probs, output.entropy, *(each.grad for each in model.parameters())


def each_alone(model: Any, batch: dict[str, torch.Tensor]) -> tuple[Any, ...]:
    rows: list[tuple[torch.Tensor, torch.Tensor]] = []
    for ids, mask, labels in zip(*batch.values(), strict=True):
        is_read = mask.bool()
        if is_read.sum() < 2:
            rows.append((torch.zeros(len(ids) - 1), torch.zeros(len(ids) - 1)))
            continue
        inputs = {"input_ids": ids[is_read][None], "labels": labels[is_read][None]}
        output = model(**inputs, fused_lm_head=True)
        is_scored = output.log_probs != 0
        (output.log_probs.sum() + 0.5 * (output.entropy * is_scored).sum()).backward()
        placed = []
        for values in (output.log_probs[0], output.entropy[0]):
            whole = torch.zeros(len(ids))
            whole[is_read] = torch.nn.functional.pad(values.detach(), (1, 0))
            placed.append(whole[1:])
        rows.append((placed[0], placed[1]))
    logprobs, entropies = zip(*rows, strict=True)
    found = (torch.stack(logprobs), torch.stack(entropies))
    return *found, *(each.grad for each in model.parameters())


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        *((kind, {}) for kind in PACKED_MODELS),
        *WINDOWS.items(),
        ("llama", {"rope_parameters": STRETCHED}),
    ],
)
def test_each_row_is_scored_and_learned_from_as_if_it_were_alone(kind: str, changes: Any) -> None:
    model, batch = model_of(kind, **changes), padded()
    alone = each_alone(copy.deepcopy(model), batch)
    forward = pack(model, model)
    assert forward is not model
    require_equal(scored(model, forward, batch), alone)


def test_no_padding_passes_through_the_model() -> None:
    model, batch = model_of("qwen2"), padded()
    passed: list[int] = []
    model.get_input_embeddings().register_forward_hook(
        lambda _, given, __: passed.append(given[0].numel())
    )
    pack(model, model)(**batch, fused_lm_head=True)
    assert passed == [sum(prompt + reply for prompt, reply in LENGTHS)]
    assert passed[0] < 0.5 * batch["input_ids"].numel()


def test_a_row_of_one_token_teaches_nothing_and_reaches_all_weights() -> None:
    model = model_of("qwen2")
    batch = {"input_ids": [[7, 0]], "attention_mask": [[1, 0]], "labels": [[-100, -100]]}
    tensors = {name: torch.tensor(each) for name, each in batch.items()}
    output = pack(model, model)(**tensors, fused_lm_head=True)
    output.log_probs.sum().backward()
    assert output.log_probs.tolist() == [[0.0]]
    # Processes that share a model wait for each other's gradients.
    assert all(each.grad is not None and not each.grad.any() for each in model.parameters())


def test_a_model_of_another_kind_keeps_its_padding_and_attention() -> None:
    model = model_of("gemma2")
    attention = model.config._attn_implementation
    assert pack(model, model) is model
    assert model.config._attn_implementation == attention


def test_other_passes_of_a_packed_model_are_as_before() -> None:
    """Such as that of the probe, or one with padding."""
    model, batch = model_of("mistral", sliding_window=6), padded()
    ids = {"input_ids": torch.arange(1, 15)[None]}
    masked = {name: batch[name] for name in ("input_ids", "attention_mask")}
    with torch.no_grad():
        expected = [model(**given).logits[given["input_ids"] > 0] for given in (ids, masked)]
        pack(model, model)
        found = [model(**given).logits[given["input_ids"] > 0] for given in (ids, masked)]
    require_equal(tuple(found), tuple(expected))


def test_how_a_model_attends_is_not_saved_with_it(tmp_path: Path) -> None:
    model = model_of("qwen2")
    model.save_pretrained(tmp_path / "before")
    pack(model, model)
    model.save_pretrained(tmp_path / "after")
    before, after = ((tmp_path / name / "config.json").read_text() for name in ("before", "after"))
    assert after == before
