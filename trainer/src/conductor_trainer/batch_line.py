"""One line of a batch, whose fields are checked as they are read."""

import math
from dataclasses import dataclass
from typing import Any

from conductor_trainer.errors import BatchInvalid


@dataclass(frozen=True)
class BatchLine:
    """A line's number, from 1, and what it holds. Every reader raises `BatchInvalid`."""

    number: int
    fields: Any

    def get(self, name: str) -> Any:
        if not isinstance(self.fields, dict):
            raise BatchInvalid(f"Line {self.number}: not a JSON object. Write the batch again.")
        if name not in self.fields:
            raise self.wrong(name, "is missing")
        return self.fields[name]

    def wrong(self, name: str, what: str) -> BatchInvalid:
        return BatchInvalid(f"Line {self.number}, {name}: {what}. Write the batch again.")

    def text(self, name: str) -> str:
        value = self.get(name)
        if not isinstance(value, str) or value == "":
            raise self.wrong(name, f"is {value!r}, but must be a text")
        return value

    def number_or_null(self, name: str) -> float | None:
        value = self.get(name)
        if value is not None and not _is_finite(value):
            raise self.wrong(name, f"is {value!r}, but must be finite, or null")
        return value

    def token_ids(self, name: str, vocabulary: int, most: int) -> list[int]:
        ids = self._list(name)
        if not 0 < len(ids) <= most:
            raise self.wrong(name, f"has {len(ids)} tokens, but must have 1 to {most}")
        for at, token in enumerate(ids):
            if type(token) is not int or not 0 <= token < vocabulary:
                raise self.wrong(
                    f"{name}[{at}]", f"is {token!r}, but the vocabulary has 0 to {vocabulary - 1}"
                )
        return ids

    def logprobs(self, name: str, tokens: int) -> list[float]:
        values = self._list(name)
        if len(values) != tokens:
            raise self.wrong(name, f"has {len(values)} values for {tokens} completion tokens")
        for at, value in enumerate(values):
            if not _is_finite(value) or value > 0:
                raise self.wrong(f"{name}[{at}]", f"is {value!r}, but must be finite and at most 0")
        return values

    def _list(self, name: str) -> list[Any]:
        value = self.get(name)
        if not isinstance(value, list):
            raise self.wrong(name, f"is {value!r}, but must be a list")
        return value


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)
