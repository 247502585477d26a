"""Weights on disk: only safetensors, since pickled ones can run code when they are loaded."""

import hashlib
import json
from contextlib import ExitStack
from pathlib import Path

from safetensors import safe_open

from conductor_trainer.errors import ModelInvalid

SAFELY = {"trust_remote_code": False, "local_files_only": True}
"""Arguments of every `from_pretrained`: download nothing, and run no code from a folder."""

_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


def require_safetensors(folder: Path) -> list[Path]:
    """Returns the files with a folder's weights, including those in subfolders that an index names.

    Raises `ModelInvalid` if there are none, or if an index names one outside the folder: the
    fingerprint must cover exactly what is loaded.
    """
    files = set(folder.glob("*.safetensors"))
    for index in folder.glob("*.safetensors.index.json"):
        for shard in map(Path, json.loads(index.read_text())["weight_map"].values()):
            if shard.is_absolute() or ".." in shard.parts or not (folder / shard).is_file():
                raise ModelInvalid(
                    f"{index} names the shard {shard}, which is not a file below {folder}: put "
                    "the whole model into one folder."
                )
            files.add(folder / shard)
    if not files:
        pickled = sorted(path.name for kind in _PICKLED for path in folder.glob(kind))
        beside = f" (only {', '.join(pickled)}, which could run code)" if pickled else ""
        raise ModelInvalid(
            f"The model in {folder} cannot be loaded: it has no weights as safetensors{beside}; "
            "save it with `save_pretrained`, which writes them."
        )
    return sorted(files)


def weights_sha256(folder: Path) -> str:
    """Hashes the names, types and bytes of all tensors, in ascending order of names."""
    # The worker must not load torch.
    import torch

    digest = hashlib.sha256()
    with ExitStack() as stack:
        opened = [
            stack.enter_context(safe_open(path, framework="pt"))
            for path in require_safetensors(folder)
        ]
        file_of = {name: file for file in opened for name in [*file.keys()]}
        for name, file in sorted(file_of.items()):
            digest.update(f"{name}\0{file.get_slice(name).get_dtype()}\0".encode())
            digest.update(file.get_tensor(name).reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()
