"""`python -m conductor_trainer.report`: shows a training run on a board, as its cycles end."""

import argparse
import signal
from pathlib import Path
from threading import Event

from conductor_trainer.encryption.keys import read_encryption_keys
from conductor_trainer.report.board import Board
from conductor_trainer.report.cycles import follow
from conductor_trainer.store.open_store import open_store

WAIT_S = 5.0


def report(options: argparse.Namespace, stop: Event) -> None:
    """Shows every cycle that the board was not shown yet, and waits for more if asked to."""
    variable = options.encryption_key_env
    keys = None if variable is None else read_encryption_keys(variable)
    store = open_store(options.store, keys)
    board = open_board(options)
    wait_s = None if options.once else WAIT_S
    try:
        for cycle in follow(store, options.run, board.next_cycle, stop=stop, wait_s=wait_s):
            board.show(cycle)
    finally:
        board.close()


def open_board(options: argparse.Namespace) -> Board:
    """Loads the one library that is wanted."""
    if options.tensorboard is not None:
        from conductor_trainer.report.tensorboard import TensorBoard

        return TensorBoard(options.tensorboard / options.run)
    from conductor_trainer.report.wandb import WeightsAndBiases

    return WeightsAndBiases(options.run, options.wandb)


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="conductor_trainer.report", description=__doc__)
    parser.add_argument(
        "--store", required=True, metavar="URL", help="file:PATH or s3://BUCKET/PREFIX"
    )
    parser.add_argument("--run", required=True, metavar="NAME", help="the training run")
    parser.add_argument(
        "--encryption-key-env", metavar="NAME", help="environment variable with the encryption keys"
    )
    parser.add_argument("--once", action="store_true", help="show what there is, and end")
    boards = parser.add_mutually_exclusive_group(required=True)
    boards.add_argument(
        "--tensorboard", type=Path, metavar="FOLDER", help="writes event files below FOLDER/NAME"
    )
    boards.add_argument(
        "--wandb",
        type=Path,
        metavar="FOLDER",
        help="logs to the run NAME; wandb keeps its files below FOLDER",
    )
    return parser.parse_args()


def main() -> None:
    stop = Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: stop.set())
    report(_read_arguments(), stop)


if __name__ == "__main__":
    main()
