"""Encryption keys and encrypted artifacts, in the formats of `src/encryption`.

Both sides are tested against the golden vectors in `test/training/vectors.json`.
"""

import base64
import hmac
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CTR
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES = 32
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,15}")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_HOW = f'a key is {KEY_BYTES} random bytes in base64, e.g. from "openssl rand -base64 {KEY_BYTES}"'

NONCE_BYTES = 12
_TAG_BYTES = 16
_MARK = b"TCE1"
_COUNTER_BYTES = 16
_DIGEST = re.compile(
    r"(?:(?<=/)|^)(?:(?P<fan>[0-9a-f]{2})/(?=(?P=fan)))?(?P<digest>[0-9a-f]{64})(?=$|[./])"
)
"""SHA-256 digest in a key, and the fan-out folder of its first two digits, if there is one."""


class KeyProblem(RuntimeError):
    """The keys cannot be read, or the requested one is not among them."""


class Altered(Exception):
    """Data is altered or not encrypted, or its key's id stands for two different keys."""


@dataclass(frozen=True)
class EncryptionKey:
    """Id of a secret, and a key derived from it for each purpose (HKDF-SHA-256, no salt)."""

    id: str
    payload: bytes = field(repr=False)
    """AES-256-GCM key for payloads sent through Temporal."""
    content: bytes = field(repr=False)
    name: bytes = field(repr=False)
    """AES-256-CTR key for the digests in artifact names."""
    name_counter: bytes = field(repr=False)
    """HMAC-SHA-256 key that derives the initial counters for `name`."""


@dataclass(frozen=True)
class KeyRing:
    """All keys that decrypt; the first one encrypts."""

    all: Sequence[EncryptionKey]
    source: str
    """Environment variable that they came from, for messages."""

    def find(self, id: str, what: str) -> EncryptionKey:
        """Returns the key of that id. Raises `KeyProblem`, whose message begins with `what`."""
        for key in self.all:
            if key.id == id:
                return key
        held = ", ".join(key.id for key in self.all)
        raise KeyProblem(
            f'{what} was encrypted with key "{id}", which {self.source} does not hold '
            f"(it holds {held}): add that key after the first one"
        )


def read_encryption_keys(variable: str, env: Mapping[str, str] = os.environ) -> KeyRing:
    """Reads one or more `id:key`, separated by commas. No message shows a secret."""
    text = env.get(variable, "").strip()
    if text == "":
        raise KeyProblem(
            f"the encryption keys belong in the environment variable {variable}, which is not "
            f'set in this process: set it to "id:key", as on every other worker; {_HOW}'
        )
    keys = [
        _read_key(entry.strip(), f"entry {number} of {variable}")
        for number, entry in enumerate(text.split(","), start=1)
    ]
    if len({key.id for key in keys}) < len(keys):
        raise KeyProblem(f"{variable} holds two keys with the same id: give each an id of its own")
    return KeyRing(keys, variable)


def _read_key(entry: str, place: str) -> EncryptionKey:
    id, colon, encoded = entry.partition(":")
    # An invalid id may be a misplaced secret, so the message does not repeat it.
    if not colon or not _ID.fullmatch(id):
        raise KeyProblem(f'{place} does not start with an id: write "id:key"; {_HOW}')
    secret = _from_base64(encoded)
    if secret is None or len(secret) != KEY_BYTES:
        raise KeyProblem(f'key "{id}" ({place}) is not {KEY_BYTES} bytes in base64: {_HOW}')
    purposes = ("payload", "content", "name", "name counter")
    return EncryptionKey(id, *(_derive(secret, purpose) for purpose in purposes))


def _from_base64(encoded: str) -> bytes | None:
    bare = encoded.rstrip("=")
    try:
        padded = bare.encode("ascii") + b"=" * (-len(bare) % 4)
        return base64.b64decode(padded.translate(_URL_SAFE), validate=True)
    except ValueError:
        return None


def _derive(secret: bytes, purpose: str) -> bytes:
    info = f"temporal-conductor {purpose}".encode()
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(secret)


def seal(plain: bytes, key: bytes, nonce: bytes, binding: str = "") -> bytes:
    """Returns AES-256-GCM's nonce, ciphertext and tag. A key must never use a nonce twice."""
    return nonce + AESGCM(key).encrypt(nonce, plain, binding.encode())


def unseal(sealed: bytes, key: bytes, binding: str = "") -> bytes | None:
    """Decrypts; returns None if any bit was altered, or the key or the binding differs."""
    if len(sealed) < NONCE_BYTES + _TAG_BYTES:
        return None
    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], binding.encode())
    except InvalidTag:
        return None


def open_content(sealed: bytes, artifact_key: str, keys: KeyRing) -> bytes:
    if not sealed.startswith(_MARK):
        raise Altered(
            f"the artifact {artifact_key} is not encrypted: start the trainer without "
            "--encryption-key-env, or name the artifacts that the workers write"
        )
    start = len(_MARK) + 1
    end = start + int.from_bytes(sealed[len(_MARK) : start])
    id = sealed[start:end].decode(errors="replace")
    key = keys.find(id, f"the artifact {artifact_key}")
    plain = unseal(sealed[end:], key.content, binding=artifact_key)
    if plain is None:
        raise Altered(
            f'the artifact {artifact_key} cannot be decrypted with key "{id}", which it names: '
            "it was altered, or the id stands for two different keys"
        )
    return plain


def name_of_key(artifact_key: str, key: EncryptionKey) -> str:
    """Returns the name for a key's encrypted content: the key with its digests encrypted."""

    def seal_match(found: re.Match[str]) -> str:
        digest = bytes.fromhex(found["digest"])
        counter = hmac.digest(key.name_counter, digest, "sha256")[:_COUNTER_BYTES]
        cipher = Cipher(AES256(key.name), CTR(counter)).encryptor()
        sealed = (counter + cipher.update(digest)).hex()
        fan = "" if found["fan"] is None else f"{sealed[:2]}/"
        return f"{fan}{key.id}.{sealed}"

    return _DIGEST.sub(seal_match, artifact_key)
