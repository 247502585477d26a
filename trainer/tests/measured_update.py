"""Updates by several processes: they tell what they hold, counted from their tensors, or wait."""

import ctypes
import gc
import os
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch._C._profiler import _EventType
from torch.distributed.fsdp._fully_shard._fsdp_param import FSDPParam
from torch.distributed.tensor import DTensor
from torch.profiler import ProfilerActivity, profile
from torch.profiler._utils import traverse_dfs

from conductor_trainer.model import Policy, load_policy
from conductor_trainer.step.messages import Report
from conductor_trainer.train import record, update
from conductor_trainer.train.grpo_trainer import ExternalGRPOTrainer
from conductor_trainer.train.record import Made


class Measured(ExternalGRPOTrainer):
    gradients = 0

    def training_step(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        loss = super().training_step(*args, **kwargs)
        self.gradients = max(self.gradients, bytes_of(self._gradients()))
        return loss

    def _gradients(self) -> Iterable[torch.Tensor | None]:
        wrapped: Any = self.model_wrapped
        yield from (weight.grad for weight in wrapped.parameters())
        # Where FSDP keeps gradients that it has not yet reduced to shards.
        for each in gc.get_objects():
            if isinstance(each, FSDPParam):
                yield each.unsharded_accumulated_grad
                yield getattr(each, "_unsharded_param", each.sharded_param).grad

    def held(self) -> dict[str, int]:
        wrapped: Any = self.model_wrapped
        optimizer: Any = self.optimizer
        moments = (
            each
            for state in optimizer.state.values()
            for kind, each in state.items()
            # One codebook of bitsandbytes is shared by all, which also counts steps as a number.
            if isinstance(each, torch.Tensor) and not kind.startswith("qmap")
        )
        return {
            "weights": bytes_of([*wrapped.parameters(), *_scales_of(wrapped.parameters())]),
            "gradients": self.gradients,
            "optimizer": bytes_of(moments),
        }


def _scales_of(weights: Iterable[Any]) -> Iterable[torch.Tensor]:
    """Scales of weights in 4 bits, of which there are two levels."""
    for weight in weights:
        if (state := getattr(weight, "quant_state", None)) is not None:
            yield from (state.absmax, state.state2.absmax)


def bytes_of(tensors: Iterable[torch.Tensor | None]) -> int:
    own = (each.to_local() if isinstance(each, DTensor) else each for each in tensors)
    return sum(each.numel() * each.element_size() for each in own if each is not None)


def learn(made: Made, batch: Path, report: Report) -> tuple[Policy, Any]:
    trainers: list[Measured] = []

    def measured(**given: Any) -> Measured:
        trainers.append(Measured(**given))
        return trainers[0]

    update.ExternalGRPOTrainer = measured  # pyright: ignore[reportAttributeAccessIssue]
    policy, told = update.learn(made, batch, report)
    return policy, {**told, "held": trainers[0].held()}


def learn_and_tell_the_peak(made: Made, batch: Path, report: Report) -> tuple[Policy, Any]:
    """Tells the most bytes that PyTorch's allocator had given out at one time, weights included."""
    # Has the allocator count in all threads: gloo frees copies of gradients in threads of its own.
    in_all_threads = "FLAGS_caffe2_report_cpu_memory_usage"
    ctypes.c_bool.in_dll(ctypes.CDLL(torch._C.__file__), in_all_threads).value = True
    gc.collect()
    with (
        patch.object(update, "load_policy", _load_copied),
        profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler,
    ):
        policy, told = update.learn(made, batch, report)
    recorded: Any = profiler.profiler
    every = traverse_dfs(recorded.kineto_results.experimental_event_tree())
    events: Any = [each for each in every if each.tag == _EventType.Allocation]
    first = min(events, key=lambda each: each.start_time_ns).extra_fields
    before = first.total_allocated - first.alloc_size
    return policy, {
        **told,
        "peak": max(each.extra_fields.total_allocated for each in events) - before,
    }


def _load_copied(*given: Any, **options: Any) -> Policy:
    """Loads weights into memory of their own: a mapped file is whole, however little is used."""
    policy: Any = load_policy(*given, **options)
    return policy._apply(torch.clone)


def learn_while_the_disk_is_slow(made: Made, batch: Path, report: Report) -> tuple[Policy, Any]:
    """The first process saves its weights only when the other one's part of the work has ended."""
    ended, save = made.temporary / "ended", record.save_policy

    def save_late(*given: Any, **options: Any) -> None:
        ended.read_text()
        save(*given, **options)

    record.save_policy = save_late
    record._PATIENCE = timedelta(minutes=1)
    if os.environ["RANK"] == "0":
        os.mkfifo(ended)
    policy, told = update.learn(made, batch, report)
    if dist.get_rank() > 0:
        ended.write_text("ended")
    return policy, told
