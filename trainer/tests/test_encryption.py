"""What both languages encrypted once, in `test/training/vectors.json`, and the store it lies in."""

import base64
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload

from conductor_trainer.encryption import (
    Altered,
    KeyProblem,
    KeyRing,
    name_of_key,
    open_content,
    read_encryption_keys,
)
from conductor_trainer.errors import BadRequest, BatchInvalid, NotInStore
from conductor_trainer.payload_codec import EncryptionCodec
from conductor_trainer.store import open_store, stored_file

VECTORS = json.loads((Path(__file__).parents[2] / "test" / "training" / "vectors.json").read_text())

_SPOILT = b"TCE1\x01a" + bytes(40)
_AGES = {"b": 1_900_000_000, "a": 1_900_000_001}

pytestmark = pytest.mark.anyio


def ring(*ids: str) -> KeyRing:
    entries = dict(entry.split(":") for entry in VECTORS["keys"].split(","))
    return read_encryption_keys("KEYS", {"KEYS": ",".join(f"{id}:{entries[id]}" for id in ids)})


@pytest.mark.parametrize("vector", VECTORS["objects"])
def test_names_and_contents_of_stored_objects_are_those_of_typescript(vector: Any) -> None:
    keys = ring("b", "a")
    sealed = base64.b64decode(vector["sealed"])
    assert name_of_key(vector["storeKey"], keys.find(vector["key"], "it")) == vector["name"]
    assert open_content(sealed, vector["storeKey"], keys).decode() == vector["plain"]


@pytest.mark.parametrize("vector", VECTORS["payloads"])
async def test_payloads_of_either_language_can_be_read(vector: Any) -> None:
    metadata = {"encoding": b"binary/encrypted", "encryption-key-id": vector["key"].encode()}
    sealed = Payload(metadata=metadata, data=base64.b64decode(vector["data"]))
    [payload] = await EncryptionCodec(ring("b", "a")).decode([sealed])
    assert payload.data.decode() == VECTORS["plain"]["data"]
    assert payload.metadata["encoding"].decode() == VECTORS["plain"]["metadata"]["encoding"]


async def test_strict_refuses_what_is_in_the_clear_and_nothing_else() -> None:
    codec = EncryptionCodec(ring("a"), strict=True)
    plain = Payload(metadata={"encoding": b"json/plain"}, data=b'"forged"')
    with pytest.raises(Altered, match="is not encrypted, and this trainer accepts no other"):
        await codec.decode([plain])
    assert await codec.decode(await codec.encode([plain])) == [plain]


async def test_the_first_key_encrypts_and_what_is_in_the_clear_is_handed_on() -> None:
    codec = EncryptionCodec(ring("b", "a"))
    plain = Payload(metadata={"encoding": b"json/plain"}, data=b'"a secret"')
    [sealed] = await codec.encode([plain])
    assert sealed.metadata["encryption-key-id"] == b"b"
    assert b"secret" not in sealed.SerializeToString()
    assert await codec.decode([sealed, plain]) == [plain, plain]


async def test_a_missing_key_is_named_and_a_flipped_bit_is_found() -> None:
    [sealed] = await EncryptionCodec(ring("a")).encode([Payload(data=b"1")])
    with pytest.raises(KeyProblem, match=r'key "a", which KEYS does not hold \(it holds b\)'):
        await EncryptionCodec(ring("b")).decode([sealed])
    sealed.data = sealed.data[:-1] + bytes([sealed.data[-1] ^ 1])
    with pytest.raises(Altered, match="was altered on its way"):
        await EncryptionCodec(ring("a")).decode([sealed])


def test_a_store_is_read_through_a_change_of_keys_newest_first(tmp_path: Path) -> None:
    key = VECTORS["objects"][1]["storeKey"]
    under = {vector["key"]: vector for vector in VECTORS["objects"] if vector["storeKey"] == key}
    store = open_store(f"file:{tmp_path}", ring("b", "a"))
    assert store.read(key) is None
    for id, content in (("b", base64.b64decode(under["b"]["sealed"])), ("a", _SPOILT)):
        path = tmp_path / under[id]["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (_AGES[id], _AGES[id]))
    # Both are there, and the newer one is opened.
    with pytest.raises(Altered, match='with key "a"'):
        store.read(key)
    path.unlink()
    found = store.read(key)
    assert found is not None
    assert found.content.decode() == under["b"]["plain"]


def test_an_object_that_is_not_encrypted_is_refused(tmp_path: Path) -> None:
    (tmp_path / "batch").write_bytes(b"plain")
    with pytest.raises(Altered, match="batch is not encrypted"):
        open_store(f"file:{tmp_path}", ring("a")).read("batch")


def test_no_message_about_keys_shows_one() -> None:
    secret = "c2VjcmV0" * 5
    for text in (secret, f"a:{secret}", f"{secret}:a", f"a:{secret},a:{secret}", "a:?"):
        with pytest.raises(KeyProblem) as caught:
            read_encryption_keys("KEYS", {"KEYS": text})
        assert "KEYS" in str(caught.value)
        assert secret not in str(caught.value)


def test_bytes_of_the_store_are_checked_and_their_copy_is_removed(tmp_path: Path) -> None:
    (tmp_path / "batch").write_bytes(b"rollouts")
    store = open_store(f"file:{tmp_path}", None)
    right = hashlib.sha256(b"rollouts").hexdigest()
    with stored_file(store, {"key": "batch", "sha256": right}) as path:
        assert path.read_bytes() == b"rollouts"
    assert not path.exists()
    for key, sha256, problem, said in (
        ("batch", "0" * 64, BatchInvalid, f"hashes to {right}, not to the 000"),
        ("other", right, NotInStore, "There is no other in the store file:"),
        ("../batch", right, BadRequest, "store key '../batch' is refused"),
    ):
        with (
            pytest.raises(problem, match=said),
            stored_file(store, {"key": key, "sha256": sha256}),
        ):
            pytest.fail("the bytes must not be handed out")
