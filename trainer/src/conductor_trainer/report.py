"""`temporal-conductor-trainer report`: shows a training run on a board, as its cycles end.

TensorBoard and Weights & Biases are optional, so each is imported by the board that needs it.
"""

# The type checker's environment is without them.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

import argparse
import json
import re
import signal
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Any

from conductor_trainer.artifacts import ARTIFACT_FORMS, open_artifacts, read_sealed
from conductor_trainer.options import add_key_option, program_parser, read_keys
from conductor_trainer.starting import start

WAIT_S = 5.0

_RUN = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")

# Names on a board, by the field of the metrics.
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
_NESTED = {"workers": "workerShares", "shapes": "topologyShares", "update": "update"}


def report(options: argparse.Namespace, stop: Event) -> None:
    run = options.run
    if not _RUN.fullmatch(run):
        raise ValueError(
            f"{run!r} is not a training run: expected up to 63 lower-case letters, digits and "
            "dashes"
        )
    keys, artifacts = read_keys(options), open_artifacts(options.artifacts)
    is_local = options.tensorboard is not None
    board = (
        TensorBoard(options.tensorboard / run) if is_local else WeightsAndBiases(run, options.wandb)
    )
    try:
        # A run counts its cycles without a gap.
        cycle = board.first
        while not stop.is_set():
            found = read_sealed(artifacts, metrics_key(run, cycle), keys)
            if found is not None:
                metrics = json.loads(found)
                board.show(cycle, datetime.fromisoformat(metrics["at"]), scalars_of(metrics))
                cycle += 1
            elif options.once or stop.wait(WAIT_S):
                break
    finally:
        board.close()


class TensorBoard:
    """The run in one folder: each process appends a file of its own after those of earlier ones."""

    def __init__(self, folder: Path) -> None:
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        folder.mkdir(parents=True, exist_ok=True)
        # The first cycle that it was not shown yet, in any process before.
        self.first = _last_step(folder) + 1
        self._writer = EventFileWriter(str(folder))

    def show(self, cycle: int, at: datetime, scalars: Mapping[str, float]) -> None:
        """One event for the whole cycle: a reader takes a record of a file whole or not at all."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        values = [Summary.Value(tag=name, simple_value=value) for name, value in scalars.items()]
        summary = Summary(value=values)
        self._writer.add_event(Event(wall_time=at.timestamp(), step=cycle, summary=summary))
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


def _last_step(folder: Path) -> int:
    """0 where nothing was written yet."""
    from tensorboard.backend.event_processing.directory_watcher import DirectoryWatcher
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.backend.event_processing.io_wrapper import IsSummaryEventsFile

    watcher = DirectoryWatcher(str(folder), EventFileLoader, IsSummaryEventsFile)
    return max((event.step for event in watcher.Load()), default=0)


class WeightsAndBiases:
    """The run `<training run>` of a project, by a fixed id; wandb's own settings name the account.

    Its server knows at which step a resumed run continues. In `WANDB_MODE=offline` no one does:
    the process writes all cycles anew, and `wandb sync` adds them to the one run.
    """

    def __init__(self, run: str, folder: Path) -> None:
        import wandb

        folder.mkdir(parents=True, exist_ok=True)
        self._run = wandb.init(
            project="temporal-conductor",
            id=run,
            name=run,
            resume="allow",
            dir=str(folder),
            settings=wandb.Settings(console="off", silent=True, x_disable_stats=True),
        )
        # A step that was shown is over; the first is cycle 1.
        self.first = max(1, self._run.step)

    def show(self, cycle: int, at: datetime, scalars: Mapping[str, float]) -> None:
        self._run.log({"cycle": cycle, **scalars}, step=cycle, commit=True)

    def close(self) -> None:
        self._run.finish()


def metrics_key(run: str, cycle: int) -> str:
    """Where `metricsKey` of the TypeScript side copies a cycle's metrics."""
    return f"training/{run}/metrics/{cycle:06d}.json"


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
    parser = program_parser("report", "Shows a training run on a board, cycle by cycle.")
    parser.add_argument("--artifacts", required=True, metavar="URL", help=ARTIFACT_FORMS)
    parser.add_argument("--run", required=True, metavar="NAME", help="the training run")
    add_key_option(parser)
    parser.add_argument("--once", action="store_true", help="show what there is, then exit")
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
    options = _read_arguments()
    start("The reporter", lambda: report(options, stop))


if __name__ == "__main__":
    main()
