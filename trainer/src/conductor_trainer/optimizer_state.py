"""The state, besides weights, that the next update resumes from, for any number of processes."""

from pathlib import Path
from typing import Any

import torch
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_optimizer_state_dict,
    set_optimizer_state_dict,
)
from transformers import Trainer

from conductor_trainer.checkpoint import MOMENTS_FILE

_SCHEDULE_FILE = "scheduler.pt"


def save_state(trainer: Trainer, folder: Path) -> None:
    """All processes must call it together; the first writes all but the others' random state."""
    model, optimizer = _bare(trainer)
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    moments = get_optimizer_state_dict(model, optimizer, options=options)
    folder.mkdir(exist_ok=True)
    trainer._save_rng_state(str(folder))
    if trainer.is_world_process_zero():
        schedule: Any = trainer.lr_scheduler
        trainer.state.log_history = []
        torch.save(moments, folder / MOMENTS_FILE)
        torch.save(schedule.state_dict(), folder / _SCHEDULE_FILE)
        trainer.state.save_to_json(str(folder / "trainer_state.json"))


def load_state(trainer: Trainer, folder: Path) -> None:
    """Restores the parent's gradient moments and position in the schedule.

    Learning rates and other settings come from the request: a plain load would silently restore
    the old ones. Only the newest checkpoint has moments; from an older one they start at 0.
    """
    schedule: Any = trainer.lr_scheduler
    model, optimizer = _bare(trainer)
    settings = [dict(group) for group in optimizer.param_groups]
    file = folder / MOMENTS_FILE
    if file.exists():
        # Memory-mapped, since each process reads only its own part.
        moments = torch.load(file, weights_only=True, map_location="cpu", mmap=True)
        options = StateDictOptions(full_state_dict=True)
        set_optimizer_state_dict(model, optimizer, moments, options=options)
    place = torch.load(folder / _SCHEDULE_FILE, weights_only=True)
    schedule.load_state_dict({**place, "base_lrs": schedule.base_lrs})
    shares = [share(schedule.last_epoch) for share in schedule.lr_lambdas]
    rates = [peak * share for peak, share in zip(schedule.base_lrs, shares, strict=True)]
    schedule._last_lr = rates
    for group, now, rate in zip(optimizer.param_groups, settings, rates, strict=True):
        group.update({**now, "lr": rate})


def _bare(trainer: Trainer) -> tuple[Any, Any]:
    """Returns the model and the optimizer without accelerate's wrappers."""
    wrapped: Any = trainer.optimizer
    return trainer.accelerator.unwrap_model(trainer.model), wrapped.optimizer
