"""The keys of one process, as `readEncryptionKeys` and `KeyRing` have them in TypeScript."""

import base64
import binascii
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES = 32
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,15}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_HOW = f'a key is {KEY_BYTES} random bytes in base64, e.g. of "openssl rand -base64 {KEY_BYTES}"'


class KeyProblem(Exception):
    """The keys cannot be read, or the one that is asked for is not among them."""


@dataclass(frozen=True)
class EncryptionKey:
    """One secret by its id, and a key derived of it for each purpose (HKDF-SHA-256, no salt)."""

    id: str
    payload: bytes = field(repr=False)
    """AES-256-GCM of what travels through Temporal."""
    content: bytes = field(repr=False)
    """AES-256-GCM of what lies in the store."""
    name: bytes = field(repr=False)
    """AES-256-CTR of digests in the names of stored objects."""
    name_counter: bytes = field(repr=False)
    """HMAC-SHA-256 that the counters of those are made with."""


@dataclass(frozen=True)
class KeyRing:
    """All keys that decrypt; the first one encrypts."""

    all: Sequence[EncryptionKey]
    source: str
    """Where they came from, for messages: the name of an environment variable."""

    @property
    def first(self) -> EncryptionKey:
        """The key that encrypts."""
        return self.all[0]

    def find(self, id: str, what: str) -> EncryptionKey:
        """The key of that id; `what` begins the sentence where there is none."""
        for key in self.all:
            if key.id == id:
                return key
        held = ", ".join(key.id for key in self.all)
        raise KeyProblem(
            f'{what} was encrypted with key "{id}", which {self.source} does not hold '
            f"(it holds {held}): add that key behind the first one"
        )


def read_encryption_keys(variable: str, env: Mapping[str, str] = os.environ) -> KeyRing:
    """Reads `id:key`, or several with commas between them. No message shows any of the content."""
    text = env.get(variable, "").strip()
    if text == "":
        raise KeyProblem(
            f"the encryption keys are to be in the environment variable {variable}, which is not "
            f'set in this process: set it to "id:key", as on every other worker; {_HOW}'
        )
    keys = [
        _read_key(entry.strip(), f"entry {number} of {variable}")
        for number, entry in enumerate(text.split(","), start=1)
    ]
    ids = [key.id for key in keys]
    for id in ids:
        if ids.count(id) > 1:
            raise KeyProblem(f'{variable} holds two keys named "{id}": give each its own id')
    return KeyRing(keys, variable)


def _read_key(entry: str, place: str) -> EncryptionKey:
    id, colon, encoded = entry.partition(":")
    # What is no id may be a key in the wrong place, so it is not repeated.
    if not colon or not _ID.fullmatch(id):
        raise KeyProblem(f'{place} begins with no id: write "id:key"; {_HOW}')
    secret = _from_base64(encoded)
    if secret is None or len(secret) != KEY_BYTES:
        raise KeyProblem(f'key "{id}" ({place}) is not {KEY_BYTES} bytes in base64: {_HOW}')
    return EncryptionKey(
        id,
        payload=_derive(secret, "payload"),
        content=_derive(secret, "content"),
        name=_derive(secret, "name"),
        name_counter=_derive(secret, "name counter"),
    )


def _from_base64(encoded: str) -> bytes | None:
    if not _BASE64.fullmatch(encoded):
        return None
    bare = encoded.rstrip("=")
    try:
        return base64.urlsafe_b64decode(bare.translate(_URL_SAFE) + "=" * (-len(bare) % 4))
    except binascii.Error:
        return None


_URL_SAFE = str.maketrans("+/", "-_")


def _derive(secret: bytes, purpose: str) -> bytes:
    info = f"temporal-conductor {purpose}".encode()
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(secret)
