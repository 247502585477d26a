"""A training run begins with a model as it is, wherever that comes from."""

from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from conductor_trainer.checkpoint import require_record
from conductor_trainer.errors import BadRequest, ModelInvalid
from conductor_trainer.train.init import init
from conductor_trainer.weights import weights_sha256
from tiny_run import LORA, RUN, TINY, checkpoint, config_of, write_texts


def request_of(base: Any, **changes: Any) -> Any:
    return {"trainRun": RUN, "base": base, "config": config_of(**changes)}


def test_a_given_model_is_used_in_its_place(tmp_path: Path) -> None:
    made = init(tmp_path / "a", request_of(TINY), write_texts(tmp_path))["checkpoint"]
    given = {"kind": "folder", "path": str(tmp_path / "a" / made["folder"])}
    taken = init(tmp_path / "b", request_of(given), None)
    assert taken == {"checkpoint": made, "replayed": False}
    assert (tmp_path / "b" / RUN / "base" / "model").readlink() == tmp_path / "a" / made["folder"]


def test_with_lora_it_gets_an_adapter_that_changes_nothing(tmp_path: Path) -> None:
    made = init(tmp_path, request_of(TINY, tuning=LORA), write_texts(tmp_path))["checkpoint"]
    assert made["kind"] == "adapter"
    assert made["folder"] == f"{RUN}/base/adapter"
    assert made["weightsSha256"] == weights_sha256(tmp_path / made["folder"])
    whole = init(tmp_path / "whole", request_of(TINY), write_texts(tmp_path))["checkpoint"]
    probes = [
        require_record(root, checkpoint("base")).probe for root in (tmp_path, tmp_path / "whole")
    ]
    assert probes[0].logprobs == pytest.approx(probes[1].logprobs, abs=1e-6)
    assert whole["tokenizerSha256"] == made["tokenizerSha256"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    nowhere = {"kind": "folder", "path": str(tmp_path / "nowhere")}
    with pytest.raises(BadRequest, match=r"There is no folder .*/nowhere on the trainer's machine"):
        init(tmp_path, request_of(nowhere), None)


def test_a_model_whose_replies_would_not_end_is_refused(tmp_path: Path) -> None:
    init(tmp_path / "tiny", request_of(TINY), write_texts(tmp_path))
    folder = tmp_path / "tiny" / RUN / "base/model"
    for file in folder.glob("*token*.json"):
        file.write_text(file.read_text().replace("<|im_end|>", "<|end_of_turn|>"))
    given = request_of({"kind": "folder", "path": str(folder)})
    with pytest.raises(ModelInvalid, match=r"ends a reply with '<\|im_end\|>\\n', and its first"):
        init(tmp_path / "given", given, None)


def test_a_model_that_cannot_think_as_the_settings_say_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelInvalid, match=r"`training.policy.thinking` is `masked`, and nothing"):
        init(tmp_path, request_of(TINY, thinking="masked"), write_texts(tmp_path))
    init(tmp_path / "tiny", request_of(TINY), write_texts(tmp_path))
    folder = tmp_path / "tiny" / RUN / "base/model"
    template = folder / "chat_template.jinja"
    # A control token of its own, which a reply that is given does not have before it.
    template.write_text(
        template.read_text() + "{% if add_generation_prompt %}<|endoftext|>{% endif %}"
    )
    given = request_of({"kind": "folder", "path": str(folder)})
    with pytest.raises(ModelInvalid, match="has it think although it is told not to"):
        init(tmp_path / "given", given, None)


def test_a_model_with_broken_weights_is_refused(tmp_path: Path) -> None:
    init(tmp_path / "tiny", request_of(TINY), write_texts(tmp_path))
    folder = tmp_path / "tiny" / RUN / "base/model"
    weights = load_file(folder / "model.safetensors")
    weights["model.norm.weight"][0] = float("nan")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    for tuning in ({"kind": "full"}, LORA):
        given = request_of({"kind": "folder", "path": str(folder)}, tuning=tuning)
        with pytest.raises(ModelInvalid, match=r"log-probability of nan, so its weights are"):
            init(tmp_path / "given", given, None)
