"""`temporal-conductor-trainer COMMAND …`: the programs of this package, by one name."""

import argparse
import sys
from importlib import import_module, metadata

PACKAGE = "temporal-conductor-trainer"

# Names, imported on use: torch takes seconds to load, and some commands do without it.
_COMMANDS = {
    "worker": ("conductor_trainer.worker.__main__", "makes checkpoints, as a Temporal worker"),
    "rank": ("conductor_trainer.train.join", "trains together with a worker on another node"),
    "policy-server": ("conductor_trainer.policy_server.__main__", "serves checkpoints on a CPU"),
    "restarting-server": (
        "conductor_trainer.restarting_server.__main__",
        "serves whole models with a server that holds one at a time",
    ),
    "fetching-server": (
        "conductor_trainer.fetching_server",
        "fetches adapters from the artifacts for a vLLM on this machine",
    ),
    "estimate": ("conductor_trainer.estimate", "prints what a night would need"),
    "report": ("conductor_trainer.report", "shows metrics of a training run on a board"),
}


def main() -> None:
    """Runs the program that the first argument names; what follows belongs to it."""
    width = max(map(len, _COMMANDS))
    summary = "\n".join(f"  {name:<{width}}  {does}" for name, (_, does) in _COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog=PACKAGE,
        description="The Python half of training a Conductor.",
        epilog=f"commands:\n{summary}\n\n`{PACKAGE} COMMAND --help` shows the options of each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=_version())
    parser.add_argument("command", choices=_COMMANDS, metavar="COMMAND")
    command = parser.parse_args(sys.argv[1:2]).command
    module, _ = _COMMANDS[command]
    # Gives the command its own name and arguments.
    sys.argv[:2] = [f"{PACKAGE} {command}"]
    import_module(module).main()


def _version() -> str:
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return "run from its sources, not installed"


if __name__ == "__main__":
    main()
