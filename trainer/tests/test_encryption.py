"""Encryption against the golden vectors of both languages, `test/training/vectors.json`."""

import base64
import hashlib
import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.converter import WorkflowSerializationContext

from conductor_trainer.artifacts import open_artifacts, read_sealed, stored_file
from conductor_trainer.encryption import (
    Altered,
    KeyProblem,
    KeyRing,
    name_of_key,
    open_content,
    read_encryption_keys,
)
from conductor_trainer.errors import BadRequest, BatchInvalid, NotInArtifacts
from conductor_trainer.payload_codec import EncryptionCodec

VECTORS = json.loads((Path(__file__).parents[2] / "test" / "training" / "vectors.json").read_text())

_SPOILT = b"TCE1\x01a" + bytes(40)

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
    if "boundTo" in vector:
        metadata["encryption-bound-to"] = vector["boundTo"].encode()
    sealed = Payload(metadata=metadata, data=base64.b64decode(vector["data"]))
    [payload] = await EncryptionCodec(ring("b", "a")).decode([sealed])
    assert payload.data.decode() == VECTORS["plain"]["data"]
    assert payload.metadata["encoding"].decode() == VECTORS["plain"]["metadata"]["encoding"]


async def test_strict_refuses_what_is_in_the_clear_and_nothing_else() -> None:
    codec = EncryptionCodec(ring("a"), strict=True)
    plain = Payload(metadata={"encoding": b"json/plain"}, data=b'"forged"')
    with pytest.raises(Altered, match="is not encrypted, and this trainer accepts only encrypted"):
        await codec.decode([plain])
    assert await codec.decode(await codec.encode([plain])) == [plain]


def context_of(workflow_id: str) -> WorkflowSerializationContext:
    return WorkflowSerializationContext(namespace="default", workflow_id=workflow_id)


async def test_strict_takes_what_was_encrypted_for_its_workflow_alone() -> None:
    keys = ring("a")
    plain = Payload(metadata={"encoding": b"json/plain"}, data=b'"copied"')
    codec = EncryptionCodec(keys, strict=True)
    [bound] = await codec.with_context(context_of("one")).encode([plain])
    assert await codec.with_context(context_of("one")).decode([bound]) == [plain]
    [unbound] = await codec.encode([plain])
    for stranger in (bound, unbound):
        with pytest.raises(Altered, match='was sent to "default/two"'):
            await codec.with_context(context_of("two")).decode([stranger])
    bound.metadata["encryption-bound-to"] = b"default/two"
    with pytest.raises(Altered, match="was altered on its way"):
        await codec.with_context(context_of("two")).decode([bound])


@pytest.mark.parametrize(("scheduled", "taken"), [("nightly-x", True), ("solve-x", False)])
async def test_what_a_schedule_starts_has_its_time_behind_its_id(
    scheduled: str, taken: bool
) -> None:
    codec = EncryptionCodec(ring("a"), strict=True)
    [bound] = await codec.with_context(context_of(scheduled)).encode([Payload(data=b"1")])
    reader = codec.with_context(context_of(f"{scheduled}-2026-11-23T02:00:00Z"))
    with nullcontext() if taken else pytest.raises(Altered):
        await reader.decode([bound])


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


def test_artifacts_are_read_through_a_change_of_keys_newest_first(tmp_path: Path) -> None:
    key = VECTORS["objects"][1]["storeKey"]
    under = {vector["key"]: vector for vector in VECTORS["objects"] if vector["storeKey"] == key}
    keys, artifacts = ring("b", "a"), open_artifacts(str(tmp_path))
    assert read_sealed(artifacts, key, keys) is None
    artifacts.write(under["b"]["name"], base64.b64decode(under["b"]["sealed"]))
    artifacts.write(under["a"]["name"], _SPOILT)
    os.utime(tmp_path / under["b"]["name"], (1, 1))
    # Both are there, and the newer one is opened.
    with pytest.raises(Altered, match='with key "a"'):
        read_sealed(artifacts, key, keys)
    os.utime(tmp_path / under["a"]["name"], (0, 0))
    assert (read_sealed(artifacts, key, keys) or b"").decode() == under["b"]["plain"]


def test_an_object_that_is_not_encrypted_is_refused(tmp_path: Path) -> None:
    artifacts = open_artifacts(str(tmp_path))
    artifacts.write("batch", b"plain")
    with pytest.raises(Altered, match="batch is not encrypted"):
        read_sealed(artifacts, "batch", ring("a"))


def test_no_message_about_keys_shows_one() -> None:
    secret = "c2VjcmV0" * 5
    for text in (secret, f"a:{secret}", f"{secret}:a", f"a:{secret},a:{secret}", "a:?"):
        with pytest.raises(KeyProblem) as caught:
            read_encryption_keys("KEYS", {"KEYS": text})
        assert "KEYS" in str(caught.value)
        assert secret not in str(caught.value)


def test_artifacts_are_checked_and_their_copy_is_removed(tmp_path: Path) -> None:
    artifacts = open_artifacts(str(tmp_path))
    artifacts.write("batch", b"rollouts")
    right = hashlib.sha256(b"rollouts").hexdigest()
    with stored_file(artifacts, None, {"key": "batch", "sha256": right}) as path:
        assert path.read_bytes() == b"rollouts"
    assert not path.exists()
    for key, sha256, problem, said in (
        ("batch", "0" * 64, BatchInvalid, f"hashes to {right}, not to the 000"),
        ("other", right, NotInArtifacts, "There is no other in /"),
        ("../batch", right, BadRequest, "key '../batch' is refused"),
    ):
        with (
            pytest.raises(problem, match=said),
            stored_file(artifacts, None, {"key": key, "sha256": sha256}),
        ):
            pytest.fail("the bytes must not be handed out")
