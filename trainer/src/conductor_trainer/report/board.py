"""What shows the metrics of a training run."""

from typing import Protocol

from conductor_trainer.report.cycles import Cycle


class Board(Protocol):
    """One run of TensorBoard or Weights & Biases, whose steps are cycles."""

    @property
    def next_cycle(self) -> int:
        """The first cycle that it was not shown yet, in this process or any before."""
        ...

    def show(self, cycle: Cycle) -> None:
        """Shows a cycle: all of it or, where the process is killed, nothing."""
        ...

    def close(self) -> None: ...
