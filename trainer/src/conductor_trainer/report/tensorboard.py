"""TensorBoard, by the event files that it reads. Needs no torch."""

# The library is optional, and the type checker's environment is without it.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from pathlib import Path

from conductor_trainer.report.cycles import Cycle

try:
    from tensorboard.backend.event_processing.directory_watcher import DirectoryWatcher
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.backend.event_processing.io_wrapper import IsSummaryEventsFile
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
except ImportError as error:
    raise RuntimeError(
        'TensorBoard is not there: install the trainer as "conductor-trainer[tensorboard]"'
    ) from error


class TensorBoard:
    """The run in one folder: a process appends a file of its own, after what earlier ones wrote."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.next_cycle = last_step(folder) + 1
        self._writer = EventFileWriter(str(folder))

    def show(self, cycle: Cycle) -> None:
        """One event for the whole cycle: a file's reader takes a record whole or not at all."""
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


def last_step(folder: Path) -> int:
    """0 where nothing was written yet."""
    watcher = DirectoryWatcher(str(folder), EventFileLoader, IsSummaryEventsFile)
    return max((event.step for event in watcher.Load()), default=0)
