"""`temporal-conductor-trainer restarting-server --port 8001 -- COMMAND…`: serves whole models."""

import argparse

from conductor_trainer.options import (
    add_address_options,
    add_artifact_options,
    add_end_option,
    add_start_options,
    program_parser,
)
from conductor_trainer.starting import end_with_stdin, listen, start

_FIELDS = ("{model}", "{folder}", "{port}")


def main() -> None:
    options = _read_arguments()
    if options.end_with_stdin:
        end_with_stdin()
    start("The restarting server", lambda: _serve(options))


def _serve(options: argparse.Namespace) -> None:
    listening = listen(options.host, options.port)
    from conductor_trainer.http_answers import locate_of, serve
    from conductor_trainer.restarting_server.inner import InnerServer
    from conductor_trainer.restarting_server.service import RestartingService

    inner = InnerServer(
        options.command,
        start_limit=options.start_limit,
        grace=options.grace,
        locate=locate_of(options),
    )
    serve(RestartingService(inner).routes, listening, inner.close)


def _read_arguments() -> argparse.Namespace:
    parser = program_parser(
        "restarting-server", "Serves whole models with a server that holds one at a time."
    )
    add_address_options(parser, port=8001)
    add_artifact_options(parser, required=False)
    add_start_options(parser)
    add_end_option(parser)
    parser.add_argument(
        "command",
        nargs="+",
        help="after --: what serves one model; {model}, {folder} and {port} are filled in",
    )
    options = parser.parse_args()
    missing = [each for each in _FIELDS if not any(each in word for word in options.command)]
    if missing:
        parser.error(f"the command has no {' and no '.join(missing)}: add what is missing")
    return options


if __name__ == "__main__":
    main()
