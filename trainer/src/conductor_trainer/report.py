"""`python -m conductor_trainer.report`: shows a training run on a board, as its cycles end."""

import argparse
import json
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

from conductor_trainer.artifacts import ARTIFACT_FORMS, open_artifacts, read_sealed
from conductor_trainer.boards import Board, Cycle, TensorBoard, WeightsAndBiases
from conductor_trainer.encryption import read_encryption_keys

WAIT_S = 5.0

Read = Callable[[str], bytes | None]
"""The bytes under a key; None where there are none."""

_RUN = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")

# The names on a board, by the field of the metrics.
_PLAIN = {
    "reward/mean": "rewardMean",
    "reward/spread": "rewardSpread",
    "reward/held_out": "heldOut",
    "plans/format_rate": "formatRate",
    "plans/length": "planLength",
    "plans/tokens": "planTokens",
    "rollouts/worker_tokens": "workerTokens",
    "rollouts/usd": "usd",
    "groups/drawn": "draws",
    "groups/dropped": "dropped",
}
_NESTED = {
    "workers": "workerShares",
    "shapes": "topologyShares",
    "update": "update",
}


def report(options: argparse.Namespace, stop: Event) -> None:
    """Shows every cycle that the board was not shown yet, and waits for more if asked to."""
    variable = options.encryption_key_env
    keys = None if variable is None else read_encryption_keys(variable)
    read = partial(read_sealed, open_artifacts(options.artifacts), keys=keys)
    board = _open_board(options)
    wait_s = None if options.once else WAIT_S
    try:
        for cycle in follow(read, options.run, board.next_cycle, stop=stop, wait_s=wait_s):
            board.show(cycle)
    finally:
        board.close()


def _open_board(options: argparse.Namespace) -> Board:
    if options.tensorboard is not None:
        return TensorBoard(options.tensorboard / options.run)
    return WeightsAndBiases(options.run, options.wandb)


def follow(
    read: Read, run: str, first: int, *, stop: Event, wait_s: float | None
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
        cycle = _read_cycle(read, run, number)
        if cycle is not None:
            yield cycle
            number += 1
        elif wait_s is None or stop.wait(wait_s):
            return


def metrics_key(run: str, cycle: int) -> str:
    """Where `metricsKey` of the TypeScript side copies a cycle's metrics."""
    return f"training/{run}/metrics/{cycle:06d}.json"


def _read_cycle(read: Read, run: str, cycle: int) -> Cycle | None:
    """None where that cycle is not over yet."""
    found = read(metrics_key(run, cycle))
    if found is None:
        return None
    metrics = json.loads(found)
    return Cycle(cycle, datetime.fromisoformat(metrics["at"]), scalars_of(metrics))


def scalars_of(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Named numbers in ascending order of names; what a cycle did not have is left out."""
    scalars = {name: metrics.get(field) for name, field in _PLAIN.items()}
    for prefix, field in _NESTED.items():
        scalars |= {f"{prefix}/{name}": value for name, value in (metrics.get(field) or {}).items()}
    scalars |= {f"seconds/{part}": ms / 1000 for part, ms in metrics["times"].items()}
    rollouts = sum(metrics["verdicts"].values())
    for verdict, count in metrics["verdicts"].items():
        scalars[f"verdicts/{verdict}"] = count / max(1, rollouts)
    return {name: float(value) for name, value in sorted(scalars.items()) if value is not None}


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="temporal-conductor-trainer report", description=__doc__)
    parser.add_argument("--artifacts", required=True, metavar="URL", help=ARTIFACT_FORMS)
    parser.add_argument("--run", required=True, metavar="NAME", help="the training run")
    parser.add_argument(
        "--encryption-key-env", metavar="NAME", help="environment variable with the encryption keys"
    )
    parser.add_argument("--once", action="store_true", help="show what there is, and end")
    boards = parser.add_mutually_exclusive_group(required=True)
    boards.add_argument(
        "--tensorboard", type=Path, metavar="FOLDER", help="writes event files below FOLDER/NAME"
    )
    boards.add_argument(
        "--wandb",
        type=Path,
        metavar="FOLDER",
        help="logs to the run NAME; wandb keeps its files below FOLDER",
    )
    return parser.parse_args()


def main() -> None:
    stop = Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: stop.set())
    report(_read_arguments(), stop)


if __name__ == "__main__":
    main()
