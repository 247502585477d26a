"""`temporal-conductor-trainer policy-server --model NAME=FOLDER …`: serves policies."""

import argparse
import os
import sys
from pathlib import Path

# Before torch reads it: a tiny model loses more time to a second thread than it gains, and one
# thread always adds its sums in the same order.
os.environ["OMP_NUM_THREADS"] = "1"


def main() -> None:
    """Prints one line on stdout, `{"url": …}`, and serves policies there."""
    options = _read_arguments()

    import torch
    import transformers

    from conductor_trainer.policy_server.policy_cache import PolicyCache
    from conductor_trainer.policy_server.service import PolicyHttpServer, PolicyService

    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    policies = PolicyCache(dict(options.model), in_memory=options.in_memory)
    for name in policies.names:
        policies.find(name)
    server = PolicyHttpServer((options.host, options.port), PolicyService(policies))
    server.serve_until_stopped()
    sys.exit(0)


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
    parser.add_argument(
        "--in-memory",
        type=int,
        default=4,
        help="how many policies, those used last, stay in memory (default: 4)",
    )
    return parser.parse_args()


def _named_folder(text: str) -> tuple[str, Path]:
    name, equals, folder = text.partition("=")
    if not name or not equals or not folder:
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=FOLDER")
    return name, Path(folder)


if __name__ == "__main__":
    main()
