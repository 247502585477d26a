"""Errors of the trainer, each with a stable type and whether a retry can help."""


class TrainerError(Exception):
    """Error that the workflow receives as an application failure of this `type`."""

    type = "Trainer.Failed"
    retryable = True

    def __init_subclass__(cls, *, retryable: bool = False) -> None:
        cls.type, cls.retryable = f"Trainer.{cls.__name__}", retryable


class BatchInvalid(TrainerError):
    """The batch, or another file of the request, is invalid; a retry would fail again."""


class BadRequest(TrainerError):
    """The request cannot be fulfilled; a retry would fail again."""


class CheckpointMissing(TrainerError):
    """A required checkpoint is missing from the trainer's folder or from the artifacts."""


class CheckpointUnreadable(TrainerError):
    """A stored checkpoint's record cannot be read, or one of its files is missing or altered."""


class DiskFull(TrainerError):
    """The disk was full; nothing of the write was kept, and an operator must free some space."""


class OutOfMemory(TrainerError):
    """The settings need more memory than the machine has, as estimated before the work began."""


class Conflict(TrainerError):
    """A checkpoint of that name was made from another request, and checkpoints never change."""


class NonFiniteLoss(TrainerError):
    """The update produced NaN or infinity; nothing was saved."""


class ModelInvalid(TrainerError):
    """A folder holds no trainable model, or its tokenizer cannot be used for training."""


class StepLost(TrainerError, retryable=True):
    """The step's process died before it answered, e.g. out of memory; it left no checkpoint."""


class NotInArtifacts(TrainerError):
    """Nothing is stored under a request's key: the workers use other artifacts."""


class ServerUnavailable(TrainerError, retryable=True):
    """A policy server did not answer, or reported a temporary failure."""


class ServerRefused(TrainerError):
    """A policy server refuses to load or serve the checkpoint; a retry would fail again."""


class ProbeFailed(TrainerError):
    """A policy server serves other weights than those trained, or computes differently."""
