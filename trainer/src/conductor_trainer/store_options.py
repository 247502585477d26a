"""How programs are told where the store is, and where checkpoints lie on this machine.

What may be missing is imported late, see `starting.py`.
"""

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from conductor_trainer.starting import CannotStart

if TYPE_CHECKING:
    from conductor_trainer.checkpoint_cache import CheckpointCache
    from conductor_trainer.encryption import KeyRing
    from conductor_trainer.locate import Locate
    from conductor_trainer.store import Store

_CACHED = 4


def add_store_options(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Adds `--store`, `--checkpoints`, `--cached` and `--encryption-key-env`."""
    parser.add_argument(
        "--store",
        required=required,
        metavar="URL",
        help="sqlite:PATH, postgres://USER@HOST/DATABASE (the password in PGPASSWORD) "
        "or s3://BUCKET/PREFIX",
    )
    parser.add_argument(
        "--checkpoints",
        required=required,
        type=Path,
        metavar="FOLDER",
        help="where checkpoints of the store are kept ready on this machine; programs may share it",
    )
    parser.add_argument(
        "--cached",
        type=_count,
        default=_CACHED,
        metavar="NUMBER",
        help=f"how many of them stay there, the last used ones (default: {_CACHED})",
    )
    parser.add_argument(
        "--encryption-key-env", metavar="NAME", help="environment variable with the encryption keys"
    )


def read_keys(options: argparse.Namespace) -> "KeyRing | None":
    """The keys that the options name. Raises `CannotStart`."""
    from conductor_trainer.encryption import KeyProblem, read_encryption_keys

    variable = options.encryption_key_env
    try:
        return None if variable is None else read_encryption_keys(variable)
    except KeyProblem as error:
        raise CannotStart(str(error)) from error


def open_cache(options: argparse.Namespace) -> "tuple[Store, CheckpointCache]":
    """The store that the options name, and the folder before it. Raises `CannotStart`."""
    from conductor_trainer.checkpoint_cache import CheckpointCache
    from conductor_trainer.store import open_store

    root = options.checkpoints.resolve()
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotStart(
            f"the folder {root} cannot be made ({error.strerror}): name another with --checkpoints"
        ) from error
    store = open_store(options.store, read_keys(options))
    return store, CheckpointCache(root, store, most=options.cached)


def locate_of(options: argparse.Namespace) -> "Locate":
    """How a server finds what it is to load: where no store is named, a folder is where it is."""
    if (options.store is None) != (options.checkpoints is None):
        raise CannotStart("--store and --checkpoints belong together: name both, or neither")
    if options.store is None:
        return nullcontext
    from conductor_trainer.locate import locate_in

    return locate_in(open_cache(options)[1])


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)
