"""What the processes of a step tell each other: PyTorch's key-value store, with JSON in it.

It has no password, so nothing that it holds may be run: a process finds its work in a file.
"""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from torch.distributed import TCPStore  # pyright: ignore[reportPrivateImportUsage]

from conductor_trainer import errors
from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import TrainerError
from conductor_trainer.starting import free_port
from conductor_trainer.train.nodes import Nodes

HAS_ANSWERED = 70
"""Exit status of a process that failed, and left its error on the board."""

_PATIENCE = timedelta(minutes=10)
_ORDER, _ERROR = "order", "error"


class Board:
    """One step's messages. Methods raise `RuntimeError` once the step has ended."""

    def __init__(self, store: TCPStore) -> None:
        self._store = store

    @property
    def port(self) -> int:
        return self._store.port

    def give(self, order: JsonObject) -> None:
        """Announces a step, and that no process has begun it."""
        for rank in range(order["processes"]):
            self._set(f"phase/{rank}", [0, "starting"])
        self._set(_ORDER, order)

    def order(self) -> JsonObject:
        return self._get(_ORDER)

    def tell(self, rank: int, phases: int, phase: str) -> None:
        """Says that a process has entered its n-th phase."""
        self._set(f"phase/{rank}", [phases, phase])

    def phases(self, processes: int) -> Sequence[tuple[int, str]]:
        """Returns by rank how many phases each process has entered, and the last one's name."""
        return [tuple(self._get(f"phase/{rank}")) for rank in range(processes)]

    def answer(self, rank: int, outcome: JsonObject | TrainerError) -> None:
        """Leaves a result, or an error, of which only the first is kept: others follow from it."""
        if not isinstance(outcome, TrainerError):
            return self._set(f"result/{rank}", outcome)
        plain = type(outcome) is TrainerError
        said = f"{outcome} (rank {rank})" if plain else str(outcome)
        self._store.compare_set(_ERROR, "", json.dumps([type(outcome).__name__, said]))

    def results(self, processes: int) -> Sequence[JsonObject]:
        return [self._get(f"result/{rank}") for rank in range(processes)]

    def error(self) -> TrainerError | None:
        if not self._store.check([_ERROR]):
            return None
        name, said = self._get(_ERROR)
        return getattr(errors, name)(said)

    def mourn(self, said: str) -> None:
        """Leaves the last words of a process that died on another node."""
        self._set("lost", said)

    def lost(self, patience: timedelta) -> str | None:
        """Waits a moment for the last words of a process on another node."""
        try:
            self._store.wait(["lost"], patience)
        except RuntimeError:
            return None
        return self._get("lost")

    def _set(self, key: str, value: object) -> None:
        self._store.set(key, json.dumps(value))

    def _get(self, key: str) -> Any:
        return json.loads(self._store.get(key))


def open_board(nodes: Nodes) -> Board:
    """Opens the board that this node holds. Raises `RuntimeError` if its port is taken."""
    # If PyTorch chose a port that this process had before, it would not find the store again.
    return Board(_store(nodes.host, nodes.port or free_port(), is_master=True))


def join_board(host: str, port: int, patience: timedelta = _PATIENCE) -> Board:
    """Connects to another process's board. Raises `RuntimeError` if there is none."""
    return Board(_store(host, port, is_master=False, patience=patience))


def _store(host: str, port: int, *, is_master: bool, patience: timedelta = _PATIENCE) -> TCPStore:
    # Shared with torchelastic in the same process, so that a step needs one port.
    return TCPStore(
        host,
        port,
        is_master=is_master,
        timeout=patience,
        wait_for_workers=False,
        multi_tenant=is_master,
    )
