"""One of the processes that train together: `python -m conductor_trainer.train.rank ORDER`."""

import os
import pickle
import sys
from pathlib import Path

from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import TrainerError
from conductor_trainer.starting import end_with_stdin
from conductor_trainer.step.messages import answer


def main() -> None:
    # Before the imports, which take seconds.
    end_with_stdin()
    from conductor_trainer.train.board import HAS_ANSWERED, join_board

    rank, phases, has_failed = int(os.environ["RANK"]), 0, False
    board = join_board(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))

    def report(phase: str) -> None:
        nonlocal phases
        phases += 1
        board.tell(rank, phases, phase)

    def send(outcome: JsonObject | TrainerError) -> None:
        nonlocal has_failed
        has_failed = isinstance(outcome, TrainerError)
        board.answer(rank, outcome)

    def work() -> JsonObject:
        from transformers.utils import logging

        # They would be its last words.
        logging.disable_progress_bar()
        learn, given = pickle.loads(Path(sys.argv[1]).read_bytes())
        return learn(*given, report)[-1]

    answer(send, work)
    sys.exit(HAS_ANSWERED if has_failed else 0)


if __name__ == "__main__":
    main()
