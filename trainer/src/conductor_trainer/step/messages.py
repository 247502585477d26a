"""Messages of a step's process: its phases while it works, then its result or its error."""

from collections.abc import Callable
from typing import Any

from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import TrainerError
from conductor_trainer.starting import explain_missing

Report = Callable[[str], None]
"""Receives the name of each phase as it begins."""


def hear(receive: Callable[[], Any], report: Report) -> JsonObject:
    """Reports phases as they arrive, then returns the result. Raises a received `TrainerError`."""
    while isinstance(message := receive(), str):
        report(message)
    if isinstance(message, TrainerError):
        raise message
    return message


def answer(send: Callable[[Any], None], work: Callable[[], Any]) -> None:
    """Sends the result of the work, or its error as a `TrainerError`."""
    try:
        outcome = work()
    except TrainerError as error:
        outcome = error
    except ModuleNotFoundError as error:
        outcome = TrainerError(explain_missing(error))
    except Exception as error:
        outcome = TrainerError(f"The step failed: {type(error).__name__}: {error}")
    send(outcome)
