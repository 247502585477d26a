"""`temporal-conductor-trainer fetching-server --upstream URL …`: fetches adapters for a vLLM."""

import argparse

from conductor_trainer.options import add_address_options, add_artifact_options, program_parser
from conductor_trainer.starting import listen, start


def main() -> None:
    start("The fetching server", lambda: _serve(_read_arguments()))


def _serve(options: argparse.Namespace) -> None:
    listening = listen(options.host, options.port)
    from conductor_trainer.fetching_service import FetchingService
    from conductor_trainer.http_answers import locate_of, serve

    serve(FetchingService(options.upstream, locate_of(options)).routes, listening)


def _read_arguments() -> argparse.Namespace:
    parser = program_parser(
        "fetching-server", "Fetches adapters from the artifacts for a vLLM on this machine."
    )
    add_address_options(parser, port=8001)
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
