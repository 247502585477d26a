"""`temporal-conductor-trainer worker`: serves the trainer's task queue until it is stopped."""

import argparse
import asyncio
import signal
import sys
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.converter import DataConverter
from temporalio.envconfig import ClientConfig
from temporalio.worker import Worker

from conductor_trainer.encryption import KeyProblem, read_encryption_keys
from conductor_trainer.errors import TrainerError
from conductor_trainer.payload_codec import encryption_converter
from conductor_trainer.store import open_store
from conductor_trainer.worker.activities import Allowed, TrainerActivities
from conductor_trainer.worker.steps import StepRunner, claim_stdout


async def serve(options: argparse.Namespace) -> None:
    """Works until SIGTERM or SIGINT, then lets running activities finish for a while."""
    stop = asyncio.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, stop.set)

    variable = options.encryption_key_env
    keys = None if variable is None else read_encryption_keys(variable)
    root = options.checkpoints.resolve()
    root.mkdir(parents=True, exist_ok=True)
    steps = StepRunner(root)
    allowed = Allowed(options.allow_server, options.export_root)
    activities = TrainerActivities(root, open_store(options.store, keys), steps, allowed)
    # TEMPORAL_ADDRESS, TEMPORAL_API_KEY, TLS and profiles, as the TypeScript side reads them.
    connection = ClientConfig.load_client_connect_config()
    if options.namespace is not None:
        connection["namespace"] = options.namespace
    client = await Client.connect(
        **connection,
        data_converter=DataConverter.default
        if keys is None
        else encryption_converter(keys, options.encryption_strict),
    )
    say = claim_stdout()
    await steps.start()
    async with Worker(
        client,
        task_queue=options.task_queue,
        activities=activities.all,
        graceful_shutdown_timeout=timedelta(seconds=options.drain_seconds),
    ):
        say({"taskQueue": options.task_queue, "namespace": client.namespace})
        await stop.wait()


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="temporal-conductor-trainer worker", description=__doc__)
    parser.add_argument(
        "--store", required=True, metavar="URL", help="file:PATH or s3://BUCKET/PREFIX"
    )
    parser.add_argument(
        "--checkpoints",
        required=True,
        type=Path,
        metavar="FOLDER",
        help="where checkpoints are kept",
    )
    parser.add_argument(
        "--allow-server",
        action="append",
        default=[],
        metavar="URL",
        help="a policy server that checkpoints may be loaded into, as `training.policy.baseUrl` "
        "names it; may be given more than once",
    )
    parser.add_argument(
        "--export-root",
        type=Path,
        metavar="FOLDER",
        help="below which `train export` may write (default: there are no exports)",
    )
    parser.add_argument("--task-queue", default="conductor-trainer", metavar="NAME")
    parser.add_argument(
        "--namespace", metavar="NAME", help="default: TEMPORAL_NAMESPACE, else default"
    )
    parser.add_argument(
        "--encryption-key-env", metavar="NAME", help="environment variable with the encryption keys"
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
        help="how long a step may go on after SIGTERM; it is tried again elsewhere (default: 30)",
    )
    options = parser.parse_args()
    if options.encryption_strict and options.encryption_key_env is None:
        parser.error("--encryption-strict needs the keys: add --encryption-key-env NAME")
    return options


def main() -> None:
    """Serves, or says in one sentence why it cannot."""
    try:
        asyncio.run(serve(_read_arguments()))
    except (KeyProblem, TrainerError, RuntimeError, ValueError) as error:
        sys.exit(f"The trainer cannot start: {error}")


if __name__ == "__main__":
    main()
