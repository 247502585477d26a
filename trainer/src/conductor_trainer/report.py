"""`temporal-conductor-trainer report`: shows a training run on a board as its cycles end.

TensorBoard and Weights & Biases are optional, so each is imported by the board that needs it.
"""

# The type checker's environment lacks both packages.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

import argparse
import json
import signal
from collections.abc import Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Any

from conductor_trainer.artifacts import ARTIFACT_FORMS, open_artifacts, read_sealed
from conductor_trainer.options import add_key_option, program_parser, read_keys
from conductor_trainer.starting import start

WAIT_S = 5.0

# Field of the metrics for each name on a board.
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
    keys, artifacts = read_keys(options), open_artifacts(options.artifacts)
    is_local = options.tensorboard is not None
    board = (
        TensorBoard(options.tensorboard / run) if is_local else WeightsAndBiases(run, options.wandb)
    )
    with closing(board):
        # Cycles are numbered without gaps, so a missing one has not ended yet.
        cycle = board.first
        while not stop.is_set():
            found = read_sealed(artifacts, metrics_key(run, cycle), keys)
            if found is not None:
                metrics = json.loads(found)
                board.show(cycle, datetime.fromisoformat(metrics["at"]), scalars_of(metrics))
                cycle += 1
            elif options.once or stop.wait(WAIT_S):
                break


class TensorBoard:
    """Event files of a run in one folder; each process adds its own after those of earlier ones."""

    def __init__(self, folder: Path) -> None:
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        folder.mkdir(parents=True, exist_ok=True)
        # The first cycle that no earlier process has shown.
        self.first = _last_step(folder) + 1
        self._writer = EventFileWriter(str(folder))

    def show(self, cycle: int, at: datetime, scalars: Mapping[str, float]) -> None:
        """Writes one event for the whole cycle: a reader reads each record whole or not at all."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        values = [Summary.Value(tag=name, simple_value=value) for name, value in scalars.items()]
        summary = Summary(value=values)
        self._writer.add_event(Event(wall_time=at.timestamp(), step=cycle, summary=summary))
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


def _last_step(folder: Path) -> int:
    """Returns the last step written, or 0 if there is none."""
    from tensorboard.backend.event_processing.directory_watcher import DirectoryWatcher
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.backend.event_processing.io_wrapper import IsSummaryEventsFile

    watcher = DirectoryWatcher(str(folder), EventFileLoader, IsSummaryEventsFile)
    return max((event.step for event in watcher.Load()), default=0)


class WeightsAndBiases:
    """A project's run with the training run's name as its id; wandb's settings name the account.

    wandb's server knows the step at which a resumed run continues. With `WANDB_MODE=offline` it is
    unknown: the process writes all cycles again, and `wandb sync` adds them to the same run.
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
        # `step` is the one after the last shown, or 0 in a new run; cycles start at 1.
        self.first = max(1, self._run.step)

    def show(self, cycle: int, at: datetime, scalars: Mapping[str, float]) -> None:
        self._run.log({"cycle": cycle, **scalars}, step=cycle, commit=True)

    def close(self) -> None:
        self._run.finish()


def metrics_key(run: str, cycle: int) -> str:
    """Returns the key of a cycle's metrics, as `metricsKey` does on the TypeScript side."""
    return f"training/{run}/metrics/{cycle:06d}.json"


def scalars_of(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Returns a cycle's numbers by name, in ascending order of names; omits missing ones."""
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
