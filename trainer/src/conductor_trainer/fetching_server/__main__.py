"""`temporal-conductor-trainer fetching-server --upstream URL …`: fetches adapters for a vLLM."""

import argparse

from conductor_trainer.artifact_options import add_artifact_options, locate_of
from conductor_trainer.starting import require_port, start


def main() -> None:
    """Serves, or says in one sentence why it cannot."""
    start("The fetching server", lambda: _serve(_read_arguments()))


def _serve(options: argparse.Namespace) -> None:
    """Serves after one line on stdout, `{"url": …}`, that says where."""
    require_port(options.host, options.port)
    from conductor_trainer.fetching_server.service import FetchingService
    from conductor_trainer.http_answers import AnsweringServer

    service = FetchingService(options.upstream, locate_of(options))
    server = AnsweringServer((options.host, options.port), service.respond)
    server.serve_until_stopped()


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="temporal-conductor-trainer fetching-server",
        description="Fetches adapters of the artifacts for a vLLM on this machine.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="default: this machine only")
    parser.add_argument("--port", type=int, default=8001, help="0 takes a free one")
    parser.add_argument(
        "--upstream",
        required=True,
        metavar="URL",
        help="where vLLM answers, without /v1, e.g. http://127.0.0.1:8000",
    )
    add_artifact_options(parser, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
