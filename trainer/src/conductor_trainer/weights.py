"""The fingerprint of a model's weights, read from its files without loading them."""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

_CHUNK_BYTES = 1 << 22


class _Tensor(NamedTuple):
    """What a tensor is called, what it is made of, and where its bytes lie."""

    name: str
    dtype: str
    file: Path
    start: int
    end: int


def weights_sha256(folder: Path) -> str:
    """SHA-256 over names, types and bytes of all tensors in ascending order of names.

    It does not depend on how many files they are split over.
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
    """As the headers say: a safetensors file is 8 bytes of length, JSON of that length, and data.

    Source: the format's description at https://github.com/huggingface/safetensors#format.
    """
    tensors: list[_Tensor] = []
    for path in folder.glob("*.safetensors"):
        with path.open("rb") as file:
            header_bytes = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(header_bytes))
        header.pop("__metadata__", None)
        data = 8 + header_bytes
        for name, entry in header.items():
            start, end = entry["data_offsets"]
            tensors.append(_Tensor(name, entry["dtype"], path, data + start, data + end))
    return tensors
