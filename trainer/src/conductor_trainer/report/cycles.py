"""The cycles of a training run, as their metrics appear in the store."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from threading import Event

from conductor_trainer.report.scalars import scalars_of
from conductor_trainer.store.store import Store

_RUN = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


@dataclass(frozen=True)
class Cycle:
    """A cycle that is over."""

    number: int
    at: datetime
    scalars: dict[str, float]


def metrics_key(run: str, cycle: int) -> str:
    """Where `metricsKey` of the TypeScript side keeps a cycle's metrics."""
    return f"training/{run}/metrics/{cycle:06d}.json"


def read_cycle(store: Store, run: str, cycle: int) -> Cycle | None:
    """None where that cycle is not over yet."""
    found = store.read(metrics_key(run, cycle))
    if found is None:
        return None
    metrics = json.loads(found.content)
    return Cycle(cycle, datetime.fromisoformat(metrics["at"]), scalars_of(metrics))


def follow(
    store: Store, run: str, first: int, *, stop: Event, wait_s: float | None
) -> Iterator[Cycle]:
    """Each cycle from `first` on, once, in order: a run counts its cycles without a gap.

    Waits `wait_s` seconds at a time for the next one, until `stop` is set; None ends it there.
    """
    if not _RUN.fullmatch(run):
        raise ValueError(
            f"{run!r} is no training run: expected up to 63 small letters, digits and dashes"
        )
    number = first
    while not stop.is_set():
        cycle = read_cycle(store, run, number)
        if cycle is not None:
            yield cycle
            number += 1
        elif wait_s is None or stop.wait(wait_s):
            return
