"""`temporal-conductor-trainer policy-server --model NAME=FOLDER …`: serves policies."""

import argparse
import os
from pathlib import Path

from conductor_trainer.artifact_options import add_artifact_options, locate_of
from conductor_trainer.starting import CannotStart, end_with_stdin, require_port, start

# Before torch reads it: a tiny model loses more time to a second thread than it gains, and one
# thread always adds its sums in the same order.
os.environ["OMP_NUM_THREADS"] = "1"


def main() -> None:
    """Serves, or says in one sentence why it cannot."""
    options = _read_arguments()
    if options.end_with_stdin:
        end_with_stdin()
    start("The policy server", lambda: _serve(options))


def _serve(options: argparse.Namespace) -> None:
    """Prints one line on stdout, `{"url": …}`, and serves policies there."""
    require_port(options.host, options.port)
    for name, folder in options.model:
        if not folder.is_dir():
            raise CannotStart(
                f"there is no folder {folder}, which --model {name}={folder} names: "
                "put the model there, or name its folder"
            )

    import torch
    import transformers

    from conductor_trainer.policy_server.policy_cache import PolicyCache
    from conductor_trainer.policy_server.service import PolicyHttpServer, PolicyService

    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    locate = locate_of(options)
    policies = PolicyCache(dict(options.model), in_memory=options.in_memory, locate=locate)
    for name in policies.names:
        policies.find(name)
    server = PolicyHttpServer((options.host, options.port), PolicyService(policies))
    server.serve_until_stopped()
    # At once: nobody waits any more for the reply that a thread is still writing.
    os._exit(0)


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="temporal-conductor-trainer policy-server", description=__doc__
    )
    parser.add_argument("--host", default="127.0.0.1", help="default: this machine only")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one")
    parser.add_argument(
        "--model",
        type=_named_folder,
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="a policy to begin with; may be given more than once",
    )
    add_artifact_options(parser, required=False)
    parser.add_argument(
        "--in-memory",
        type=int,
        default=4,
        help="how many policies, those used last, stay in memory (default: 4)",
    )
    parser.add_argument(
        "--end-with-stdin",
        action="store_true",
        help="stop when standard input ends, as it does with the program that started this one",
    )
    return parser.parse_args()


def _named_folder(text: str) -> tuple[str, Path]:
    name, equals, folder = text.partition("=")
    if not name or not equals or not folder:
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=FOLDER")
    return name, Path(folder).absolute()


if __name__ == "__main__":
    main()
