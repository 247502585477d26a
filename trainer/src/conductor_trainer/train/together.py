"""Does a step's work in this process or, the same work, in several at once."""

from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import copy
from typing import Any, TypeAlias, TypeVar

from conductor_trainer.contract import JsonObject
from conductor_trainer.step.messages import Report
from conductor_trainer.whole_folder import workplace

T = TypeVar("T")

Work: TypeAlias = Callable[..., tuple[T, JsonObject]]
"""Called with what it is given, a file and a `Report`: returns what it made, and what it tells.

Named in messages to other processes, so it must be at module level.
"""


def work_together(
    work: Work[T],
    given: tuple[Any, ...],
    file: Path,
    processes: int,
    near: Path,
    report: Report,
) -> tuple[T | None, Sequence[JsonObject]]:
    """Returns what all processes tell, by rank, and what was made if it was made in this one.

    Several processes find their work in a folder beside `near`, which their nodes must share.
    Raises as `launch` does.
    """
    if processes == 1:
        made, told = work(*given, file, report)
        return made, [told]
    # Imported here: only several processes need it.
    from conductor_trainer.train.launch import launch

    with workplace(near) as shared:
        return None, launch(work, (*given, Path(copy(file, shared))), processes, report, shared)
