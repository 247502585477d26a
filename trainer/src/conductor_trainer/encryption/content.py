"""The content of stored objects, as `sealContent` writes it."""

from conductor_trainer.encryption.keys import KeyRing
from conductor_trainer.encryption.seal import Altered, unseal

_MARK = b"TCE1"


def open_content(sealed: bytes, store_key: str, keys: KeyRing) -> bytes:
    """The content that lies under a key of the store; it opens under no other."""
    if not sealed.startswith(_MARK):
        raise Altered(
            f"the stored object {store_key} is not encrypted: start the trainer without "
            "--encryption-key-env, or name the store that the workers write to"
        )
    start = len(_MARK) + 1
    end = start + int.from_bytes(sealed[len(_MARK) : start])
    id = sealed[start:end].decode(errors="replace")
    key = keys.find(id, f"the stored object {store_key}")
    plain = unseal(sealed[end:], key.content, binding=store_key)
    if plain is None:
        raise Altered(
            f'the stored object {store_key} cannot be decrypted with key "{id}", which it names: '
            "it was altered, or the id stands for two different keys"
        )
    return plain
