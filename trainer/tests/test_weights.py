"""Weights are safetensors, all of them are in their fingerprint, and none of them can run code."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from conductor_trainer.errors import ModelInvalid
from conductor_trainer.model import add_adapter, load_model, save_policy
from conductor_trainer.policy_server.policy_cache import load_policy
from conductor_trainer.weights import weights_sha256
from policies import make_policy


class Bomb:
    """Unpickled, it leaves a file."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, str]]:
        return (open, (str(self.trace), "w"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_policy(tmp_path / "policy", seed=1)


@pytest.fixture
def adapter(folder: Path, tmp_path: Path) -> Path:
    tuning = {"kind": "lora", "rank": 4, "alpha": 8, "targets": "all-linear"}
    save_policy(
        add_adapter(load_model(folder), tuning, seed=0), str(folder), folder, tmp_path / "lora"
    )
    return tmp_path / "lora"


@pytest.mark.parametrize("load", [load_model, load_policy, weights_sha256])
def test_pickled_weights_are_never_read(
    load: Callable[[Path], object], folder: Path, tmp_path: Path
) -> None:
    (folder / "model.safetensors").unlink()
    with (folder / "pytorch_model.bin").open("wb") as file:
        pickle.dump(Bomb(tmp_path / "trace"), file)
    with pytest.raises(ModelInvalid, match=r"has no weights as safetensors .*pytorch_model\.bin"):
        load(folder)
    assert not (tmp_path / "trace").exists()


def test_pickled_weights_of_an_adapter_are_never_read(adapter: Path, tmp_path: Path) -> None:
    tensors = load_file(adapter / "adapter_model.safetensors")
    (adapter / "adapter_model.safetensors").unlink()
    torch.save(tensors, adapter / "adapter_model.bin")
    with pytest.raises(ModelInvalid, match="has no weights as safetensors"):
        load_policy(adapter)


def test_an_adapter_of_something_that_is_no_folder_here_is_refused(adapter: Path) -> None:
    config = json.loads((adapter / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = "someone/model-of-the-hub"
    (adapter / "adapter_config.json").write_text(json.dumps(config))
    with pytest.raises(ModelInvalid, match="someone/model-of-the-hub"):
        load_policy(adapter)


def shard(folder: Path, second: str) -> None:
    """Spreads the weights over two files, as an index says."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    half = len(tensors) // 2
    names = sorted(tensors)
    files = dict.fromkeys(names[:half], "a.safetensors") | dict.fromkeys(names[half:], second)
    for file in set(files.values()):
        (folder / file).parent.mkdir(exist_ok=True)
        part = {name: tensors[name] for name in names if files[name] == file}
        save_file(part, folder / file, metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": files}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def test_a_shard_in_a_folder_below_counts(folder: Path, tmp_path: Path) -> None:
    whole = weights_sha256(folder)
    shard(folder, "more/b.safetensors")
    assert weights_sha256(folder) == whole
    file = folder / "more/b.safetensors"
    tensors = {name: tensor + 1 for name, tensor in load_file(file).items()}
    save_file(tensors, file, metadata={"format": "pt"})
    assert weights_sha256(folder) != whole


@pytest.mark.parametrize("load", [load_model, load_policy, weights_sha256])
def test_a_shard_outside_of_the_folder_is_refused(
    load: Callable[[Path], object], folder: Path
) -> None:
    shard(folder, "../b.safetensors")
    with pytest.raises(ModelInvalid, match=r"\.\./b\.safetensors"):
        load(folder)


def test_a_link_out_of_the_folder_is_followed_by_its_fingerprint(
    folder: Path, tmp_path: Path
) -> None:
    """Hugging Face's cache holds such links."""
    whole = weights_sha256(folder)
    shutil.move(folder / "model.safetensors", tmp_path / "blob")
    (folder / "model.safetensors").symlink_to(tmp_path / "blob")
    assert weights_sha256(folder) == whole


def test_code_that_a_model_brings_is_not_run(folder: Path, tmp_path: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "strange",
        "auto_map": {"AutoConfig": "strange.C", "AutoModelForCausalLM": "strange.M"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "strange.py").write_text(f"open({str(tmp_path / 'trace')!r}, 'w')")
    with pytest.raises(ModelInvalid):
        load_model(folder)
    assert not (tmp_path / "trace").exists()
