"""Encrypts what travels through Temporal, as `encryptionCodec` does on the TypeScript side."""

import os
from collections.abc import Sequence
from dataclasses import replace

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
)

from conductor_trainer.encryption import (
    NONCE_BYTES,
    Altered,
    EncryptionKey,
    KeyRing,
    seal,
    unseal,
)

_ENCRYPTED = b"binary/encrypted"
_KEY_ID = "encryption-key-id"


class EncryptionCodec(PayloadCodec):
    """Encrypts what the trainer sends; what comes in the clear is passed on, unless `strict`."""

    def __init__(self, keys: KeyRing, strict: bool = False) -> None:
        self._keys = keys
        self._strict = strict

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Encrypts each payload with the first key, under a random nonce."""
        return [_encrypt(payload, self._keys.first) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Decrypts each payload with the key that it names."""
        return [_decrypt(payload, self._keys, self._strict) for payload in payloads]


def encryption_converter(keys: KeyRing, strict: bool = False) -> DataConverter:
    """A data converter that encrypts payloads, and the messages of failures with them."""
    return replace(
        DataConverter.default,
        payload_codec=EncryptionCodec(keys, strict),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )


def _encrypt(payload: Payload, key: EncryptionKey) -> Payload:
    sealed = seal(payload.SerializeToString(), key.payload, os.urandom(NONCE_BYTES))
    return Payload(metadata={"encoding": _ENCRYPTED, _KEY_ID: key.id.encode()}, data=sealed)


def _decrypt(payload: Payload, keys: KeyRing, strict: bool) -> Payload:
    if payload.metadata.get("encoding") != _ENCRYPTED:
        if strict:
            raise Altered(
                "a payload is not encrypted, and this trainer accepts no other "
                "(--encryption-strict): whatever sent it must use the same keys"
            )
        return payload
    id = payload.metadata.get(_KEY_ID, b"").decode(errors="replace")
    plain = unseal(payload.data, keys.find(id, "a payload").payload)
    if plain is None:
        raise Altered(
            f'a payload that names key "{id}" cannot be decrypted with it: it was altered on its '
            "way, or the id stands for two different keys; give every process the same keys"
        )
    return Payload.FromString(plain)
