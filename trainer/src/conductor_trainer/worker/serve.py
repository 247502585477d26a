"""The trainer's worker: takes activities from its task queue, and runs jobs in steps."""

import argparse
import asyncio
import re
import signal
from datetime import timedelta
from functools import partial

from temporalio.client import Client
from temporalio.converter import DataConverter
from temporalio.envconfig import ClientConfig, ClientConnectConfig
from temporalio.worker import Worker

from conductor_trainer.artifacts import stored_file
from conductor_trainer.options import open_cache, read_keys
from conductor_trainer.payload_codec import encryption_converter
from conductor_trainer.starting import CannotStart
from conductor_trainer.step.runner import StepRunner, claim_stdout
from conductor_trainer.worker.activities import Allowed, TrainerActivities
from conductor_trainer.worker.proxies import proxy_for


async def serve(options: argparse.Namespace) -> None:
    """Serves until SIGTERM or SIGINT, then gives running activities `drain_seconds` to finish."""
    stop = asyncio.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, stop.set)

    cache, keys = open_cache(options), read_keys(options)
    fetch, steps = partial(stored_file, cache.artifacts, keys), StepRunner(cache.root)
    allowed = Allowed(options.allow_server, options.export_root, options.base_root)
    activities = TrainerActivities(cache, fetch, steps, allowed)
    strict = options.encryption_strict
    converter = DataConverter.default if keys is None else encryption_converter(keys, strict)
    # Reads TEMPORAL_ADDRESS, TEMPORAL_API_KEY, TLS and profiles, as the TypeScript side does.
    connection = ClientConfig.load_client_connect_config()
    if options.namespace is not None:
        connection["namespace"] = options.namespace
    client = await _connect(connection, converter)
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


async def _connect(connection: ClientConnectConfig, converter: DataConverter) -> Client:
    remedy = 'start one with "temporal-conductor up", or set TEMPORAL_ADDRESS to a running one'
    address = connection.get("target_host")
    if address is None:
        raise CannotStart(f"there is no Temporal server to connect to: {remedy}")
    is_encrypted = bool(connection.get("tls", connection.get("api_key") is not None))
    proxy = proxy_for(address, encrypted=is_encrypted)
    try:
        return await Client.connect(
            **connection, data_converter=converter, http_connect_proxy_config=proxy
        )
    except RuntimeError as error:
        # The library's message holds the whole chain of errors, the system's own message last.
        said = re.findall(r'message: "([^"]+)"', str(error))
        why = said[-1] if said else str(error)
        through = "" if proxy is None else f" through the proxy {proxy.target_host}"
        raise CannotStart(
            f"the Temporal server at {address}{through} cannot be used ({why}): {remedy}"
        ) from error
