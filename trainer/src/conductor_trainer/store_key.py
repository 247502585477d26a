"""What a key of the store is made of, and what lies under one."""

import re
from dataclasses import dataclass
from datetime import datetime

from conductor_trainer.errors import BadRequest

_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=-]{0,127}")


@dataclass(frozen=True)
class StoredObject:
    """What lies under a key, and when it was written."""

    content: bytes
    modified_at: datetime


def is_key(key: str) -> bool:
    """Whether a key means a place below a store's root, whatever the kind of store."""
    return all(_PART.fullmatch(part) for part in key.split("/"))


def check_key(key: str) -> None:
    """Refuses an invalid key before it becomes a path."""
    if not is_key(key):
        raise BadRequest(
            f"store key {key!r} is refused: each part must begin with a letter or digit and hold "
            "letters, digits and . _ = - only"
        )
