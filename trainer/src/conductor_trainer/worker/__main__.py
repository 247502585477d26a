"""`temporal-conductor-trainer worker`: serves the trainer's task queue until it is stopped."""

import argparse
import asyncio
from pathlib import Path

from conductor_trainer.options import (
    add_artifact_options,
    add_end_option,
    add_key_option,
    program_parser,
)
from conductor_trainer.starting import CannotStart, end_with_stdin, start
from conductor_trainer.train.nodes import add_node_options, set_nodes


def _read_arguments() -> argparse.Namespace:
    parser = program_parser("worker", __doc__)
    add_artifact_options(parser, required=True)
    add_key_option(parser)
    parser.add_argument(
        "--allow-server",
        action="append",
        default=[],
        metavar="URL",
        help="a policy server that checkpoints may be loaded into, as in "
        "`training.policy.baseUrl`; may be given more than once",
    )
    parser.add_argument(
        "--export-root",
        type=Path,
        metavar="FOLDER",
        help="folder below which `train export` may write (default: none, exports are refused)",
    )
    parser.add_argument(
        "--base-root",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="a base model that training may start from, or a folder of base models; may be given "
        "more than once (default: only tiny models, which the trainer makes)",
    )
    parser.add_argument("--task-queue", default="conductor-trainer", metavar="NAME")
    parser.add_argument(
        "--namespace", metavar="NAME", help="default: TEMPORAL_NAMESPACE, or else `default`"
    )
    parser.add_argument(
        "--encryption-strict",
        action="store_true",
        help="refuse what is not encrypted, as `encryption.strict` does",
    )
    parser.add_argument(
        "--drain-seconds",
        type=float,
        default=30.0,
        metavar="SECONDS",
        help="how long a step may keep running after SIGTERM; then it is retried (default: 30)",
    )
    add_node_options(parser)
    add_end_option(parser)
    options = parser.parse_args()
    if options.encryption_strict and options.encryption_key_env is None:
        parser.error("--encryption-strict needs the keys: add --encryption-key-env NAME")
    return options


def main() -> None:
    options = _read_arguments()
    if options.end_with_stdin:
        end_with_stdin()
    start("The trainer", lambda: _serve(options))


def _serve(options: argparse.Namespace) -> None:
    from conductor_trainer.worker.serve import serve

    if set_nodes(options).rank > 0:
        raise CannotStart(
            "the worker is node 0: give the other nodes `temporal-conductor-trainer rank`"
        )
    asyncio.run(serve(options))


if __name__ == "__main__":
    main()
