"""Where a server finds what it is told to load."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from conductor_trainer.errors import TrainerError
from conductor_trainer.http_answers import ApiError
from conductor_trainer.options import open_cache
from conductor_trainer.starting import CannotStart

if TYPE_CHECKING:
    # It needs packages that an environment with only vLLM lacks.
    from conductor_trainer.checkpoint_cache import CheckpointCache

Locate = Callable[[Path], AbstractContextManager[Path]]
"""From what a request calls a folder to one on this machine, which stays until the end."""


def locate_of(options: argparse.Namespace) -> Locate:
    """By the options of a server: without artifacts, a folder is where it is."""
    if (options.artifacts is None) != (options.checkpoints is None):
        raise CannotStart("--artifacts and --checkpoints belong together: give both or neither")
    return nullcontext if options.artifacts is None else locate_in(open_cache(options))


def locate_in(cache: "CheckpointCache") -> Locate:
    """Raises `ApiError`: 404 for good, 503 where a later attempt may succeed."""

    @contextmanager
    def locate(place: Path) -> Iterator[Path]:
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(cache.located(place))
            except TrainerError as error:
                raise ApiError(404, str(error)) from error
            except Exception as error:
                said = f"{place} cannot be fetched now ({type(error).__name__}: {error})."
                raise ApiError(503, said) from error
            yield folder

    return locate
