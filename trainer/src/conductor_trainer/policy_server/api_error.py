"""Refusals, in the form in which vLLM's server answers them."""

from collections.abc import Iterable
from pathlib import Path


class ApiError(Exception):
    """A request that cannot be answered: HTTP status, vLLM's word for the kind, what to do."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message

    def body(self) -> dict[str, object]:
        """The response body."""
        return {"error": {"message": self.message, "type": self.kind, "code": self.status}}


def bad_request(message: str) -> ApiError:
    """The request itself is wrong; to send it again is no use."""
    return ApiError(400, "BadRequestError", message)


def not_found(message: str) -> ApiError:
    """What the request names is not there."""
    return ApiError(404, "NotFoundError", message)


def unknown_model(name: str, known: Iterable[str]) -> ApiError:
    """Nobody has loaded a model of that name: clients that know its folder do, and ask again."""
    there = ", ".join(known) or "none"
    return not_found(
        f"The model `{name}` does not exist (there is: {there}): it was never loaded, or not since "
        "the server was started; POST /v1/load_lora_adapter loads it."
    )


def loaded_already(name: str, folder: Path) -> ApiError:
    """A name means one folder until it is unloaded."""
    said = f"The lora adapter '{name}' has already been loaded from {folder}."
    return ApiError(400, "InvalidUserInput", said)


def never_loaded(name: str) -> ApiError:
    """There is nothing of that name to unload."""
    return not_found(f"The lora adapter '{name}' cannot be found.")
