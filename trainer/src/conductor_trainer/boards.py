"""What shows the metrics of a training run: TensorBoard, or Weights & Biases.

Both libraries are optional, so each is imported by the board that needs it. Neither needs torch.
"""

# The type checker's environment is without them.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

WANDB_PROJECT = "temporal-conductor"


@dataclass(frozen=True)
class Cycle:
    """A cycle that is over."""

    number: int
    at: datetime
    scalars: dict[str, float]


class Board(Protocol):
    """One run, however many nights; its steps are cycles."""

    @property
    def next_cycle(self) -> int:
        """The first cycle that it was not shown yet, in this process or any before."""
        ...

    def show(self, cycle: Cycle) -> None:
        """Shows a cycle: all of it or, where the process is killed, nothing."""
        ...

    def close(self) -> None: ...


class TensorBoard:
    """The run in one folder: each process appends a file of its own after those of earlier ones."""

    def __init__(self, folder: Path) -> None:
        try:
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError as error:
            raise _missing("TensorBoard", "tensorboard") from error
        folder.mkdir(parents=True, exist_ok=True)
        self.next_cycle = _last_step(folder) + 1
        self._writer = EventFileWriter(str(folder))

    def show(self, cycle: Cycle) -> None:
        """One event for the whole cycle: a reader takes a record of a file whole or not at all."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        values = [
            Summary.Value(tag=name, simple_value=value) for name, value in cycle.scalars.items()
        ]
        self._writer.add_event(
            Event(
                wall_time=cycle.at.timestamp(),
                step=cycle.number,
                summary=Summary(value=values),
            )
        )
        self._writer.flush()
        self.next_cycle = cycle.number + 1

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
        try:
            import wandb
        except ImportError as error:
            raise _missing("Weights & Biases", "wandb") from error
        folder.mkdir(parents=True, exist_ok=True)
        self._run = wandb.init(
            project=WANDB_PROJECT,
            id=run,
            name=run,
            resume="allow",
            dir=str(folder),
            settings=wandb.Settings(console="off", silent=True, x_disable_stats=True),
        )
        # A step that was shown is over; the first is cycle 1.
        self.next_cycle = max(1, self._run.step)

    def show(self, cycle: Cycle) -> None:
        self._run.log({"cycle": cycle.number, **cycle.scalars}, step=cycle.number, commit=True)
        self.next_cycle = cycle.number + 1

    def close(self) -> None:
        self._run.finish()


def _missing(name: str, extra: str) -> RuntimeError:
    return RuntimeError(f'{name} is not there: install the trainer as "conductor-trainer[{extra}]"')
