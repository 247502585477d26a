"""An exported checkpoint is a model like any other, and thinks what the checkpoint thought."""

from pathlib import Path

import pytest

from conductor_trainer.checkpoint import Record, require_record
from conductor_trainer.errors import BadRequest
from conductor_trainer.export import export
from conductor_trainer.model import load_model, load_tokenizer
from conductor_trainer.train.record import probed_tokens, take_probe
from tiny_run import FULL, LORA, begin, checkpoint, config_of


@pytest.fixture(scope="module", params=[FULL, LORA], ids=["full", "lora"])
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("checkpoints")
    begin(root, tmp_path_factory.mktemp("files"), config_of(tuning=request.param))
    return root


def export_warm(root: Path, directory: Path) -> Record:
    result = export(root, {"checkpoint": checkpoint("warm"), "directory": str(directory)})
    assert result["files"] == sorted(path.name for path in directory.iterdir())
    return require_record(root, checkpoint("warm"))


def test_it_thinks_what_the_checkpoint_thought(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "exported" / "policy"
    record = export_warm(root, folder)
    assert record.chat is not None
    probe = take_probe(load_model(folder), probed_tokens(load_tokenizer(folder), record.chat))
    assert probe.tokenIds == record.probe.tokenIds
    assert probe.logprobs == pytest.approx(record.probe.logprobs, abs=1e-5)
    card = (folder / "README.md").read_text()
    for fact in (record.weightsSha256, "night/warm", "transformers"):
        assert fact in card
    assert str(root) not in card


def test_its_template_writes_prompts_as_they_were_in_training(root: Path, tmp_path: Path) -> None:
    export_warm(root, tmp_path / "policy")
    tokenizer = load_tokenizer(tmp_path / "policy")
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Why?"}], tokenize=False, add_generation_prompt=True
    )
    assert prompt == "<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"


def test_exporting_twice_is_the_same_as_once(root: Path, tmp_path: Path) -> None:
    export_warm(root, tmp_path / "policy")
    export_warm(root, tmp_path / "policy")


def test_a_folder_with_something_else_is_left_alone(root: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    with pytest.raises(BadRequest, match="is not empty"):
        export_warm(root, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]
