"""What can go wrong in the trainer, each with a stable type and whether trying again can help."""


class TrainerError(Exception):
    """Passed to the workflow as an application failure of this `type`."""

    type = "Trainer.Failed"
    retryable = True

    def __init_subclass__(cls, *, retryable: bool = False) -> None:
        cls.type, cls.retryable = f"Trainer.{cls.__name__}", retryable


class BatchInvalid(TrainerError):
    """The batch is not what the contract says; it would be wrong again on the next attempt."""


class BadRequest(TrainerError):
    """The request asks for something that cannot be done, however often it is tried."""


class CheckpointMissing(TrainerError):
    """The checkpoint to go on from is not below the trainer's root."""


class CheckpointUnreadable(TrainerError):
    """The record of a checkpoint exists but cannot be read."""


class DiskFull(TrainerError):
    """There was no room for a checkpoint; nothing was kept, and an operator must make room."""


class OutOfMemory(TrainerError):
    """The machine has less memory than the settings take, as was reckoned before the work began."""


class Conflict(TrainerError):
    """A checkpoint of that name was made from another input, and checkpoints never change."""


class NonFiniteLoss(TrainerError):
    """The update came to NaN or infinity; nothing was saved."""


class ModelInvalid(TrainerError):
    """A folder holds no model that can be trained, or no tokenizer that gives back its text."""


class StepLost(TrainerError, retryable=True):
    """The step's process died (killed, out of memory) unanswered; it left no checkpoint."""


class NotInArtifacts(TrainerError):
    """Nothing lies under the key of a request: the workers have their artifacts elsewhere."""


class ServerUnavailable(TrainerError, retryable=True):
    """A policy server did not answer, or answered that it cannot now."""


class ServerRefused(TrainerError):
    """A policy server will not load or serve the checkpoint, however often it is asked."""


class ProbeFailed(TrainerError):
    """A policy server serves other weights than were trained, or computes otherwise with them."""
