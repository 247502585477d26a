"""`temporal-conductor-trainer fetching-server …`: fetches adapters for a vLLM.

`--upstream URL` names a vLLM that runs already; a command after `--` is one that this server runs.
"""

import argparse

from conductor_trainer.options import (
    add_address_options,
    add_artifact_options,
    add_end_option,
    add_start_options,
    program_parser,
)
from conductor_trainer.starting import end_with_stdin, listen, start


def main() -> None:
    options = _read_arguments()
    if options.end_with_stdin:
        end_with_stdin()
    start("The fetching server", lambda: _serve(options))


def _serve(options: argparse.Namespace) -> None:
    listening = listen(options.host, options.port)
    from conductor_trainer.fetching_service import FetchingService
    from conductor_trainer.http_answers import locate_of, serve
    from conductor_trainer.server_behind import ServerBehind

    locate = locate_of(options)
    if options.upstream is not None:
        serve(FetchingService(options.upstream, locate).routes, listening)
        return
    behind = ServerBehind(options.command, start_limit=options.start_limit, grace=options.grace)
    serve(FetchingService(behind.url, locate).routes, listening, behind.close)


def _read_arguments() -> argparse.Namespace:
    parser = program_parser(
        "fetching-server", "Fetches adapters from the artifacts for a vLLM on this machine."
    )
    add_address_options(parser, port=8001)
    parser.add_argument(
        "--upstream",
        metavar="URL",
        help="where a vLLM answers already, without /v1, e.g. http://127.0.0.1:8000",
    )
    add_artifact_options(parser, required=True)
    add_start_options(parser)
    add_end_option(parser)
    parser.add_argument(
        "command",
        nargs="*",
        help="after --: what starts vLLM; {port} is filled in, and it ends with this server",
    )
    options = parser.parse_args()
    if (options.upstream is None) == (not options.command):
        parser.error("give either --upstream, or after -- a command that starts vLLM")
    if options.command and not any("{port}" in word for word in options.command):
        parser.error("the command has no {port}: add what is missing")
    return options


if __name__ == "__main__":
    main()
