"""The names of stored objects, as `nameOfKey` makes them: every SHA-256 within is encrypted."""

import hmac
import re

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CTR

from conductor_trainer.encryption.keys import EncryptionKey

_COUNTER_BYTES = 16
_DIGEST = re.compile(
    r"(?:(?<=/)|^)(?:(?P<fan>[0-9a-f]{2})/(?=(?P=fan)))?(?P<digest>[0-9a-f]{64})(?=$|[./])"
)
"""A digest, with the two letters of it that spread a folder, where they stand before it."""


def name_of_key(store_key: str, key: EncryptionKey) -> str:
    """Where an encrypted store keeps what belongs to a key."""

    def seal_match(found: re.Match[str]) -> str:
        sealed = _seal_digest(bytes.fromhex(found["digest"]), key).hex()
        fan = "" if found["fan"] is None else f"{sealed[:2]}/"
        return f"{fan}{key.id}.{sealed}"

    return _DIGEST.sub(seal_match, store_key)


def _seal_digest(digest: bytes, key: EncryptionKey) -> bytes:
    counter = hmac.digest(key.name_counter, digest, "sha256")[:_COUNTER_BYTES]
    return counter + Cipher(AES256(key.name), CTR(counter)).encryptor().update(digest)
