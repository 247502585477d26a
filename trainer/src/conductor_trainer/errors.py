"""What can go wrong in the trainer, each with a stable type and whether trying again can help."""

from __future__ import annotations

import errno
import os
from pathlib import Path


class TrainerError(Exception):
    """Passed to the workflow as an application failure of this `type`."""

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
    """The record of a checkpoint exists but cannot be read."""

    type = "Trainer.CheckpointUnreadable"
    retryable = False


class DiskFull(TrainerError):
    """There was no room for a checkpoint; nothing was kept, and an operator must make room."""

    type = "Trainer.DiskFull"
    retryable = False


class OutOfMemory(TrainerError):
    """The machine has less memory than the settings take, as was reckoned before the work began."""

    type = "Trainer.OutOfMemory"
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


class NotInArtifacts(TrainerError):
    """Nothing lies under the key of a request: the workers have their artifacts elsewhere."""

    type = "Trainer.NotInArtifacts"
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


_SIGNS = tuple(os.strerror(each) for each in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))

_A_LITTLE = bytes(1 << 20)


def is_disk_full(error: BaseException, folder: Path) -> bool:
    """Whether an error came from a lack of room; what was written must still lie in the folder.

    safetensors repeats the system's message, but torch only names a position in a stream. Where the
    message says nothing, a small trial file shows whether there is room.
    """
    return _says_so(error) or not _takes_more(folder)


def _says_so(error: BaseException) -> bool:
    return any(sign in str(error) for sign in _SIGNS)


def _takes_more(folder: Path) -> bool:
    trial = folder / ".trial"
    try:
        trial.write_bytes(_A_LITTLE)
    except OSError as error:
        return not _says_so(error)
    finally:
        trial.unlink(missing_ok=True)
    return True
