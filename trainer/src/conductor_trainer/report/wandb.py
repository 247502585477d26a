"""Weights & Biases: one run of a fixed id, resumed by whoever reports next."""

# The library is optional, and the type checker's environment is without it.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from pathlib import Path

from conductor_trainer.report.cycles import Cycle

try:
    import wandb
except ImportError as error:
    raise RuntimeError(
        'Weights & Biases is not there: install the trainer as "conductor-trainer[wandb]"'
    ) from error

PROJECT = "temporal-conductor"


class WeightsAndBiases:
    """The run `<training run>` of a project; account and host come from wandb's own settings.

    Its server says at which step a resumed run goes on. In `WANDB_MODE=offline` nobody can: the
    process writes all cycles anew, and `wandb sync` brings them to the one run.
    """

    def __init__(self, run: str, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._run = wandb.init(
            project=PROJECT,
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
