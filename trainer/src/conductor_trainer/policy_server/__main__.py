"""`temporal-conductor-trainer policy-server --model NAME=FOLDER …`: serves policies."""

import argparse
import os
from functools import partial
from pathlib import Path

from conductor_trainer.options import (
    add_address_options,
    add_artifact_options,
    add_device_option,
    add_end_option,
    program_parser,
    require_device,
)
from conductor_trainer.starting import CannotStart, end_with_stdin, listen, start

# Must be set before torch is imported. A second thread costs a tiny model more time than it saves,
# and one thread always adds in the same order.
os.environ["OMP_NUM_THREADS"] = "1"


def main() -> None:
    options = _read_arguments()
    if options.end_with_stdin:
        end_with_stdin()
    start("The policy server", lambda: _serve(options))


def _serve(options: argparse.Namespace) -> None:
    listening = listen(options.host, options.port)
    for name, folder in options.model:
        if not folder.is_dir():
            raise CannotStart(
                f"there is no folder {folder}, which --model {name}={folder} names: "
                "put the model there, or give its folder"
            )
    require_device(options.device)

    from transformers.utils import logging

    from conductor_trainer.http_answers import locate_of, serve
    from conductor_trainer.policy_server.policy_cache import PolicyCache, load_policy
    from conductor_trainer.policy_server.service import PolicyService

    logging.disable_progress_bar()
    policies = PolicyCache(
        dict(options.model),
        in_memory=options.in_memory,
        read=partial(load_policy, device=options.device),
        locate=locate_of(options),
    )
    for name in policies.names:
        policies.find(name)
    serve(PolicyService(policies).routes, listening)


def _read_arguments() -> argparse.Namespace:
    parser = program_parser("policy-server", __doc__)
    add_address_options(parser, port=8000)
    parser.add_argument(
        "--model",
        type=_named_folder,
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="a policy to serve from the start; may be given more than once",
    )
    add_device_option(parser, default="cpu")
    add_artifact_options(parser, required=False)
    parser.add_argument(
        "--in-memory",
        type=int,
        default=4,
        help="how many of the last used policies stay in memory (default: 4)",
    )
    add_end_option(parser)
    return parser.parse_args()


def _named_folder(text: str) -> tuple[str, Path]:
    name, equals, folder = text.partition("=")
    if not name or not equals or not folder:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=FOLDER")
    return name, Path(folder).absolute()


if __name__ == "__main__":
    main()
