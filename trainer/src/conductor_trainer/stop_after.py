"""Ends training before its schedule does."""

from collections.abc import Callable
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments


class StopAfter(TrainerCallback):
    """Stops after an optimizer step, counted over the whole training run, and tells each one.

    So a process that makes one cycle's steps has a schedule that knows those of the whole run.
    """

    def __init__(self, step: int, report: Callable[[str], None]) -> None:
        self._step = step
        self._report = report

    def on_step_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        self._report(f"step {state.global_step} of {self._step}")
        if state.global_step >= self._step:
            control.should_training_stop = True
