"""Messages between processes: one JSON object a line."""

import json
import os
from collections.abc import Callable
from typing import Any

from conductor_trainer.requests import JsonObject

_READ_BYTES = 1 << 16


class LineReader:
    """Cuts what comes through a descriptor into messages, as it comes."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._rest = b""

    def read(self) -> list[Any] | None:
        """Waits for something, and returns what is complete by now; None once it is closed."""
        data = os.read(self.descriptor, _READ_BYTES)
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines if line]


def line_writer(descriptor: int) -> Callable[[JsonObject], None]:
    """Returns what sends a message through a descriptor."""

    def send(message: JsonObject) -> None:
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(descriptor, data) :]

    return send


def claim_stdout() -> Callable[[JsonObject], None]:
    """Keeps stdout for messages; what libraries print goes to stderr."""
    descriptor = os.dup(1)
    os.dup2(2, 1)
    return line_writer(descriptor)
