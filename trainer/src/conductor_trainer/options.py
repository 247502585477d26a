"""Shared options. Packages that may be missing are imported late, see `starting.py`."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from conductor_trainer.starting import CannotStart

if TYPE_CHECKING:
    from conductor_trainer.checkpoint_cache import CheckpointCache
    from conductor_trainer.encryption import KeyRing


def program_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    prog = f"temporal-conductor-trainer {name}"
    return argparse.ArgumentParser(prog=prog, description=description)


def add_address_options(parser: argparse.ArgumentParser, *, port: int) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="default: this machine only")
    parser.add_argument(
        "--port", type=int, default=port, help=f"0 picks a free one (default: {port})"
    )


def add_device_option(parser: argparse.ArgumentParser, *, default: str) -> None:
    parser.add_argument(
        "--device",
        choices=("cpu", "cuda"),
        default=default,
        help=f"what to compute on, the processor or a GPU (default: {default})",
    )


def require_device(device: str) -> None:
    """Raises `CannotStart` if a GPU is requested but PyTorch sees none."""
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise CannotStart(
            f"--device cuda needs a GPU, but PyTorch {torch.__version__} sees none here: use "
            "--device cpu, or check the output of nvidia-smi"
        )


def add_artifact_options(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument(
        "--artifacts",
        required=required,
        metavar="URL",
        help="where batches and checkpoints are stored, as in `training.artifacts`: FOLDER or "
        "s3://BUCKET/PREFIX",
    )
    parser.add_argument(
        "--checkpoints",
        required=required,
        type=Path,
        metavar="FOLDER",
        help="folder for checkpoints on this machine; programs may share it",
    )
    parser.add_argument(
        "--cached",
        type=_count,
        default=4,
        metavar="NUMBER",
        help="how many of the last used ones stay there (default: 4)",
    )


def add_key_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--encryption-key-env", metavar="NAME", help="environment variable with the encryption keys"
    )


def add_start_options(parser: argparse.ArgumentParser) -> None:
    """Adds how long a server that the program runs may take to start and to stop."""
    parser.add_argument(
        "--start-limit",
        type=float,
        default=600,
        metavar="SECONDS",
        help="until the server must answer /health (default: 600)",
    )
    parser.add_argument(
        "--grace",
        type=float,
        default=30,
        metavar="SECONDS",
        help="from SIGTERM to SIGKILL when it is stopped (default: 30)",
    )


def add_end_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--end-with-stdin",
        action="store_true",
        help="stop when standard input ends, as it does when the program that started this one "
        "ends",
    )


def read_keys(options: argparse.Namespace) -> "KeyRing | None":
    """Reads the keys that the options name. Raises `KeyProblem`."""
    from conductor_trainer.encryption import read_encryption_keys

    variable = options.encryption_key_env
    return None if variable is None else read_encryption_keys(variable)


def open_cache(options: argparse.Namespace) -> "CheckpointCache":
    """Opens the local cache of the artifacts that the options name. Raises `CannotStart`."""
    from conductor_trainer.artifacts import open_artifacts
    from conductor_trainer.checkpoint_cache import CheckpointCache

    root = options.checkpoints.resolve()
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotStart(
            f"the folder {root} cannot be created ({error.strerror}): give another with "
            "--checkpoints"
        ) from error
    return CheckpointCache(root, open_artifacts(options.artifacts), most=options.cached)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)
