"""Encrypts Temporal payloads, as `encryptionCodec` does on the TypeScript side."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
    SerializationContext,
    WithSerializationContext,
)

from conductor_trainer.encryption import NONCE_BYTES, Altered, EncryptionKey, KeyRing, seal, unseal

_ENCRYPTED = b"binary/encrypted"
_KEY_ID = "encryption-key-id"
_BOUND_TO = "encryption-bound-to"
_DUE_TIME = re.compile(r"-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")


class EncryptionCodec(PayloadCodec, WithSerializationContext):
    """With `strict`, refuses payloads that are unencrypted or encrypted for another workflow."""

    def __init__(self, keys: KeyRing, strict: bool = False, binding: str = "") -> None:
        self._keys = keys
        self._strict = strict
        self._binding = binding

    def with_context(self, context: SerializationContext) -> Self:
        """Returns the same codec, bound to the payloads of one workflow and its activities."""
        return type(self)(self._keys, self._strict, _binding_of(context))

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [_encrypt(payload, self._keys.all[0], self._binding) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        if self._strict:
            for payload in payloads:
                _refuse_strangers(payload, self._binding)
        return [_decrypt(payload, self._keys) for payload in payloads]


def encryption_converter(keys: KeyRing, strict: bool = False) -> DataConverter:
    """Returns a data converter that encrypts payloads and the messages of failures."""
    return replace(
        DataConverter.default,
        payload_codec=EncryptionCodec(keys, strict),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )


def _binding_of(context: SerializationContext) -> str:
    """Returns `NAMESPACE/WORKFLOW_ID` without a schedule's time suffix, or empty if unknown."""
    workflow_id: str | None = getattr(context, "workflow_id", None)
    namespace: str | None = getattr(context, "namespace", None)
    if not workflow_id or not namespace:
        return ""
    if workflow_id.startswith(("nightly-", "scheduled-")):
        workflow_id = _DUE_TIME.sub("", workflow_id)
    return f"{namespace}/{workflow_id}"


def _encrypt(payload: Payload, key: EncryptionKey, binding: str) -> Payload:
    nonce = os.urandom(NONCE_BYTES)
    sealed = seal(payload.SerializeToString(), key.payload, nonce, binding)
    metadata = {"encoding": _ENCRYPTED, _KEY_ID: key.id.encode()}
    if binding:
        metadata[_BOUND_TO] = binding.encode()
    return Payload(metadata=metadata, data=sealed)


def _refuse_strangers(payload: Payload, binding: str) -> None:
    if payload.metadata.get("encoding") != _ENCRYPTED:
        raise Altered(
            "a payload is not encrypted, and this trainer accepts only encrypted ones "
            "(--encryption-strict): its sender must use the same keys"
        )
    claim = payload.metadata.get(_BOUND_TO, b"").decode(errors="replace")
    if binding and claim != binding:
        bound_to = f'"{claim}"' if claim else "no workflow"
        raise Altered(
            f'a payload is encrypted for {bound_to}, but was sent to "{binding}" '
            "(--encryption-strict): its sender must bind it to that workflow's id"
        )


def _decrypt(payload: Payload, keys: KeyRing) -> Payload:
    if payload.metadata.get("encoding") != _ENCRYPTED:
        return payload
    id = payload.metadata.get(_KEY_ID, b"").decode(errors="replace")
    binding = payload.metadata.get(_BOUND_TO, b"").decode(errors="replace")
    plain = unseal(payload.data, keys.find(id, "a payload").payload, binding)
    if plain is None:
        raise Altered(
            f'a payload that names key "{id}" cannot be decrypted with it: it was altered on its '
            "way, or the id stands for two different keys; give every process the same keys"
        )
    return Payload.FromString(plain)
