"""`temporal-conductor-trainer rank`: trains on this node with a worker on another one.

It waits for the worker's steps and joins each, until it is stopped. Steps that fail are repeated
by the worker.
"""

import json
import os
import sys
import time
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from conductor_trainer.options import add_end_option, program_parser
from conductor_trainer.starting import CannotStart, end_with_stdin, start
from conductor_trainer.train.nodes import Nodes, add_node_options, set_nodes

_PAUSE_SECONDS = 0.5


def main() -> None:
    parser = program_parser("rank", __doc__)
    add_node_options(parser)
    add_end_option(parser)
    options = parser.parse_args()
    if options.end_with_stdin:
        end_with_stdin()
    start("The node", lambda: _join_steps(set_nodes(options)))


def _join_steps(together: Nodes) -> None:
    if together.rank == 0:
        raise CannotStart(
            "node 0 is the worker's: give --rendezvous, --nodes and a --node-rank from 1"
        )
    # Torch would complain several times a second while no step is running.
    os.environ["TORCH_CPP_LOG_LEVEL"] = "FATAL"
    from torch.distributed.elastic.multiprocessing import SignalException

    print(json.dumps({"rendezvous": f"{together.host}:{together.port}"}), flush=True)
    done = ""
    try:
        while True:
            done = _join_next(together, done)
            time.sleep(_PAUSE_SECONDS)
    except SignalException:
        sys.exit(130)


def _join_next(together: Nodes, done: str) -> str:
    """Joins the worker's step, if there is one but that `done`; returns the last one's id."""
    from conductor_trainer.train.board import join_board
    from conductor_trainer.train.launch import ProcessesFailed, run_agent

    try:
        board = join_board(together.host, together.port, timedelta(seconds=5))
        order = board.order()
    except RuntimeError:
        # No step is running.
        return done
    if order["id"] == done:
        return done
    if not Path(order["file"]).exists():
        board.mourn(
            f"Node {together.rank} has no {order['file']}: all nodes must share the folder of "
            "--checkpoints, at the same path."
        )
        return order["id"]
    with TemporaryDirectory() as logs:
        try:
            run_agent(board, together, Path(logs))
        except ProcessesFailed as failed:
            if (said := failed.silent()) is not None:
                board.mourn(said)
        except RuntimeError as error:
            print(f"The worker's step ended: {error}", file=sys.stderr, flush=True)
    return order["id"]


if __name__ == "__main__":
    main()
