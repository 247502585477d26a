"""Refusals, in the form in which vLLM's server answers them."""


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
