"""Locates the model folders that a server is told to load."""

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
    # Needs packages that an environment with only vLLM lacks.
    from conductor_trainer.checkpoint_cache import CheckpointCache

Locate = Callable[[Path], AbstractContextManager[Path]]
"""Resolves a requested path to a local folder, which stays in place until the context exits."""


def locate_of(options: argparse.Namespace) -> Locate:
    """Reads a server's options; without `--artifacts`, paths are local. Raises `CannotStart`."""
    if (options.artifacts is None) != (options.checkpoints is None):
        raise CannotStart("--artifacts and --checkpoints belong together: give both or neither")
    return nullcontext if options.artifacts is None else locate_in(open_cache(options))


def locate_in(cache: "CheckpointCache") -> Locate:
    """Locates folders through a cache. Raises `ApiError`: 503 if a retry may succeed, else 404."""

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
