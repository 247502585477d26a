"""What can go wrong in the trainer, each with a stable type and whether trying again can help."""

from __future__ import annotations


class TrainerError(Exception):
    """Told to the workflow as an application failure of this `type`."""

    type = "Trainer.Failed"
    retryable = True


class BatchInvalid(TrainerError):
    """The batch is not what the contract says; it would be wrong again on the next attempt."""

    type = "Trainer.BatchInvalid"
    retryable = False


class BadRequest(TrainerError):
    """The request asks for something that cannot be done, however often it is tried."""

    type = "Trainer.BadRequest"
    retryable = False


class CheckpointMissing(TrainerError):
    """The checkpoint to go on from is not below the trainer's root."""

    type = "Trainer.CheckpointMissing"
    retryable = False


class CheckpointUnreadable(TrainerError):
    """The record of a checkpoint is there, and says nothing that can be read."""

    type = "Trainer.CheckpointUnreadable"
    retryable = False


class DiskFull(TrainerError):
    """The disk took no more of a checkpoint; nothing was kept, and somebody must make room."""

    type = "Trainer.DiskFull"
    retryable = False


class Conflict(TrainerError):
    """A checkpoint of that name was made from another input, and checkpoints never change."""

    type = "Trainer.Conflict"
    retryable = False


class NonFiniteLoss(TrainerError):
    """The update came to NaN or infinity; nothing was saved."""

    type = "Trainer.NonFiniteLoss"
    retryable = False


class ModelInvalid(TrainerError):
    """A folder holds no model that can be trained, or no tokenizer that gives back its text."""

    type = "Trainer.ModelInvalid"
    retryable = False


class StepLost(TrainerError):
    """The step's process died (killed, out of memory) unanswered; it left no checkpoint."""

    type = "Trainer.StepLost"
    retryable = True


class NotInStore(TrainerError):
    """The store has no bytes under the key of a request: it is not the one that the workers use."""

    type = "Trainer.NotInStore"
    retryable = False


class ServerUnavailable(TrainerError):
    """A policy server did not answer, or answered that it cannot now."""

    type = "Trainer.ServerUnavailable"
    retryable = True


class ServerRefused(TrainerError):
    """A policy server will not load or serve the checkpoint, however often it is asked."""

    type = "Trainer.ServerRefused"
    retryable = False


class ProbeFailed(TrainerError):
    """A policy server serves other weights than were trained, or computes otherwise with them."""

    type = "Trainer.ProbeFailed"
    retryable = False
