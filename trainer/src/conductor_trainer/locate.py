"""Where a policy server finds what it is told to load."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from conductor_trainer.checkpoint_cache import CheckpointCache
from conductor_trainer.errors import TrainerError
from conductor_trainer.http_answers import ApiError

Locate = Callable[[Path], AbstractContextManager[Path]]
"""From what a request calls a folder to one on this machine, which stays until the end."""


def locate_in(cache: CheckpointCache) -> Locate:
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
