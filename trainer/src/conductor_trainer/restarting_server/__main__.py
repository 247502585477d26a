"""`temporal-conductor-trainer restarting-server --port 8001 -- COMMAND…`: serves whole models."""

import argparse

from conductor_trainer.artifact_options import add_artifact_options, locate_of
from conductor_trainer.starting import require_port, start

_FIELDS = ("{model}", "{folder}", "{port}")


def main() -> None:
    """Serves, or says in one sentence why it cannot."""
    start("The restarting server", lambda: _serve(_read_arguments()))


def _serve(options: argparse.Namespace) -> None:
    """Serves whole models, after one line on stdout, `{"url": …}`, that says where."""
    require_port(options.host, options.port)
    from conductor_trainer.http_answers import AnsweringServer
    from conductor_trainer.restarting_server.inner_server import InnerServer
    from conductor_trainer.restarting_server.service import RestartingService

    inner = InnerServer(
        options.command,
        start_limit=options.start_limit,
        grace=options.grace,
        locate=locate_of(options),
    )
    server = AnsweringServer((options.host, options.port), RestartingService(inner).respond)
    server.serve_until_stopped()
    inner.close()


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="temporal-conductor-trainer restarting-server",
        description="Serves whole models with a server that is started anew for each.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="default: this machine only")
    parser.add_argument("--port", type=int, default=8001, help="0 takes a free one")
    add_artifact_options(parser, required=False)
    parser.add_argument(
        "--start-limit",
        type=float,
        default=600,
        help="seconds until the server must answer /health (default: 600)",
    )
    parser.add_argument(
        "--grace",
        type=float,
        default=30,
        help="seconds from SIGTERM to SIGKILL when it is stopped (default: 30)",
    )
    parser.add_argument(
        "command",
        nargs="+",
        help="what serves one model, after --, with {model}, {folder} and {port} in their places",
    )
    options = parser.parse_args()
    missing = [each for each in _FIELDS if not any(each in word for word in options.command)]
    if missing:
        parser.error(f"the command has no {' and no '.join(missing)}: it must serve that")
    return options


if __name__ == "__main__":
    main()
