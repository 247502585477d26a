"""A store whose contents, and the digests in whose names, are encrypted."""

from conductor_trainer.encryption.content import open_content
from conductor_trainer.encryption.keys import KeyRing
from conductor_trainer.encryption.names import name_of_key
from conductor_trainer.store.store import Store, StoredObject


class EncryptedStore:
    """Another store, decrypted. During a change of keys, what was written last counts."""

    def __init__(self, inner: Store, keys: KeyRing) -> None:
        self._inner = inner
        self._keys = keys
        self.url = inner.url

    def read(self, key: str) -> StoredObject | None:
        """What lies there under any of the keys, decrypted."""
        names = {name_of_key(key, each) for each in self._keys.all}
        found = [stored for name in sorted(names) if (stored := self._inner.read(name))]
        if not found:
            return None
        newest = max(found, key=lambda stored: stored.modified_at)
        return StoredObject(open_content(newest.content, key, self._keys), newest.modified_at)
