"""The fingerprint of a model's weights, read from its files without loading them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

CHUNK_BYTES = 1 << 22


class TensorPlace(NamedTuple):
    """Where a tensor's bytes lie, and what they are."""

    name: str
    dtype: str
    file: Path
    start: int
    end: int


def weights_sha256(folder: Path) -> str:
    """SHA-256 over names, types and bytes of all tensors in ascending order of names, whatever files they are split over."""
    digest = hashlib.sha256()
    for place in sorted(tensor_places(folder)):
        digest.update(f"{place.name}\0{place.dtype}\0".encode())
        with place.file.open("rb") as file:
            file.seek(place.start)
            remaining = place.end - place.start
            while remaining > 0 and (chunk := file.read(min(CHUNK_BYTES, remaining))):
                digest.update(chunk)
                remaining -= len(chunk)
    return digest.hexdigest()


def tensor_places(folder: Path) -> list[TensorPlace]:
    """All tensors in the folder's safetensors files, by the format's header: its length in 8 bytes, then JSON, then bytes."""
    places: list[TensorPlace] = []
    for path in folder.glob("*.safetensors"):
        with path.open("rb") as file:
            header_bytes = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(header_bytes))
        data = 8 + header_bytes
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            start, end = entry["data_offsets"]
            places.append(TensorPlace(name, entry["dtype"], path, data + start, data + end))
    return places
