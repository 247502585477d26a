"""Weights on disk: safetensors alone, since pickled ones run code when they are read."""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from conductor_trainer.errors import ModelInvalid

SAFELY = {"trust_remote_code": False, "local_files_only": True}
"""For every `from_pretrained`: nothing is fetched, and no code that a folder brings is run."""

_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")

_CHUNK_BYTES = 1 << 22


def require_safetensors(folder: Path) -> list[Path]:
    """The files that hold a folder's weights, those below it that an index names included.

    Raises `ModelInvalid` where there are none, or where an index names one outside: what is loaded
    and what the fingerprint covers must be the same.
    """
    files = set(folder.glob("*.safetensors"))
    for index in folder.glob("*.safetensors.index.json"):
        for shard in map(Path, json.loads(index.read_text())["weight_map"].values()):
            if shard.is_absolute() or ".." in shard.parts or not (folder / shard).is_file():
                raise ModelInvalid(
                    f"{index} names the shard {shard}, which is no file below {folder}: put the "
                    "whole model into one folder."
                )
            files.add(folder / shard)
    if not files:
        pickled = sorted(path.name for kind in _PICKLED for path in folder.glob(kind))
        beside = f" (it has {', '.join(pickled)}, which could run code)" if pickled else ""
        raise ModelInvalid(
            f"{folder} holds no weights as safetensors{beside}: save the model with "
            "`save_pretrained`, which writes them."
        )
    return sorted(files)


class _Tensor(NamedTuple):
    """A tensor's name and type, and where its bytes lie."""

    name: str
    dtype: str
    file: Path
    start: int
    end: int


def weights_sha256(folder: Path) -> str:
    """SHA-256 over names, types and bytes of all tensors in ascending order of names.

    The number of files does not matter, and nothing is loaded into memory. Raises `ModelInvalid`.
    """
    digest = hashlib.sha256()
    for tensor in sorted(_tensors(folder)):
        digest.update(f"{tensor.name}\0{tensor.dtype}\0".encode())
        with tensor.file.open("rb") as file:
            file.seek(tensor.start)
            remaining = tensor.end - tensor.start
            while remaining > 0 and (chunk := file.read(min(_CHUNK_BYTES, remaining))):
                digest.update(chunk)
                remaining -= len(chunk)
    return digest.hexdigest()


def _tensors(folder: Path) -> list[_Tensor]:
    """From the headers: a safetensors file is 8 bytes of length, JSON of that length, and data.

    Source: the format's description at https://github.com/huggingface/safetensors#format.
    """
    tensors: list[_Tensor] = []
    for path in require_safetensors(folder):
        with path.open("rb") as file:
            header_bytes = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(header_bytes))
        header.pop("__metadata__", None)
        data = 8 + header_bytes
        for name, entry in header.items():
            start, end = entry["data_offsets"]
            tensors.append(_Tensor(name, entry["dtype"], path, data + start, data + end))
    return tensors
