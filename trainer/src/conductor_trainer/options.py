"""Options that several programs have. What may be missing is imported late, see `starting.py`."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from conductor_trainer.starting import CannotStart

if TYPE_CHECKING:
    from conductor_trainer.checkpoint_cache import CheckpointCache


def program_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    prog = f"temporal-conductor-trainer {name}"
    return argparse.ArgumentParser(prog=prog, description=description)


def add_address_options(parser: argparse.ArgumentParser, *, port: int) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="default: this machine only")
    parser.add_argument(
        "--port", type=int, default=port, help=f"0 takes a free one (default: {port})"
    )


def add_device_option(parser: argparse.ArgumentParser, *, default: str) -> None:
    parser.add_argument(
        "--device",
        choices=("cpu", "cuda"),
        default=default,
        help=f"what computes, the processor or a GPU (default: {default})",
    )


def require_device(device: str) -> None:
    """Raises `CannotStart` where a GPU is asked for and PyTorch sees none."""
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise CannotStart(
            f"--device cuda needs a GPU, and PyTorch {torch.__version__} sees none here: use "
            "--device cpu, or look at what nvidia-smi says"
        )


def add_artifact_options(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument(
        "--artifacts",
        required=required,
        metavar="URL",
        help="where batches and checkpoints lie, as `training.artifacts`: FOLDER or "
        "s3://BUCKET/PREFIX",
    )
    parser.add_argument(
        "--checkpoints",
        required=required,
        type=Path,
        metavar="FOLDER",
        help="where checkpoints are kept ready on this machine; programs may share it",
    )
    parser.add_argument(
        "--cached",
        type=_count,
        default=4,
        metavar="NUMBER",
        help="how many of them stay there, the last used ones (default: 4)",
    )


def add_key_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--encryption-key-env", metavar="NAME", help="environment variable with the encryption keys"
    )


def add_end_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--end-with-stdin",
        action="store_true",
        help="stop when standard input ends, as it does with the program that started this one",
    )


def open_cache(options: argparse.Namespace) -> "CheckpointCache":
    """The folder before the artifacts that the options name. Raises `CannotStart`."""
    from conductor_trainer.artifacts import open_artifacts
    from conductor_trainer.checkpoint_cache import CheckpointCache

    root = options.checkpoints.resolve()
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotStart(
            f"the folder {root} cannot be made ({error.strerror}): name another with --checkpoints"
        ) from error
    return CheckpointCache(root, open_artifacts(options.artifacts), most=options.cached)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)
