"""AES-256-GCM in one piece: nonce of 12 bytes, ciphertext, tag of 16 bytes."""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12
_TAG_BYTES = 16


class Altered(Exception):
    """Something is not what was encrypted, or its key's id stands for two different keys."""


def seal(plain: bytes, key: bytes, nonce: bytes) -> bytes:
    """Encrypts; the nonce must never be the same for two texts under one key."""
    return nonce + AESGCM(key).encrypt(nonce, plain, None)


def unseal(sealed: bytes, key: bytes, binding: str = "") -> bytes | None:
    """Decrypts; None where a single bit is not as it was, or key or binding are others."""
    if len(sealed) < NONCE_BYTES + _TAG_BYTES:
        return None
    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], binding.encode())
    except InvalidTag:
        return None
