"""What memory the trainer's machine has."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from conductor_trainer.contract import Config

_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""Of a container, by the second and the first version of Linux's control groups."""


@dataclass(frozen=True)
class Gpu:
    """Bytes of its memory, and those that other programs hold now."""

    total: int
    taken: int


@dataclass(frozen=True)
class Machine:
    """Bytes of its own memory, and its GPUs."""

    host: int
    gpus: Sequence[Gpu]

    def with_gpus(self, number: int, share: float) -> "Machine":
        """The same with so many GPUs, all as its first one, of whose memory a share is used."""
        some = [replace(each, total=int(share * each.total)) for each in self.gpus[:1]]
        return replace(self, gpus=some * number)


def this_machine(config: Config) -> Machine:
    """The GPUs only where they are to be used: to ask for them takes seconds."""
    gpus = range(torch.cuda.device_count()) if config["device"] == "cuda" else ()
    return Machine(_host_memory(), [_read_gpu(number) for number in gpus])


def _read_gpu(number: int) -> Gpu:
    free, total = torch.cuda.mem_get_info(number)
    return Gpu(total, total - free)


def _host_memory() -> int:
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in _LIMITS:
        # Not every kernel has it, and one without a limit says `max`.
        with contextlib.suppress(OSError, ValueError):
            sizes.append(int(file.read_text()))
    return min(sizes)
