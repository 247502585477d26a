"""Tells a disk that takes no more from everything else that can go wrong while writing."""

import errno
import os
from pathlib import Path

_SIGNS = tuple(os.strerror(each) for each in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))

_A_LITTLE = bytes(1 << 20)


def is_disk_full(error: BaseException, folder: Path) -> bool:
    """Whether an error came of a lack of room below a folder, in which what was written still lies.

    safetensors repeats what the system says, but torch tells of a position in a stream: where the
    words say nothing, the disk is asked to take a little more.
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
