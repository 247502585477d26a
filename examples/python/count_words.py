"""A custom worker in Python: an activity that counts the words of earlier steps' outputs."""

import asyncio
import os
import signal
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.envconfig import ClientConfig
from temporalio.worker import Worker

# Store named in conductor.yaml, which holds texts over 4 KB.
STORE = os.environ.get("CONDUCTOR_STORE", ".conductor/store.db")


@activity.defn(name="countWords")
def count_words(request: dict[str, Any]) -> dict[str, Any]:
    """Takes the request of a step and returns its output."""
    lines = [
        f"The output of step {seen['step'] + 1} has {len(read_text(seen['output']).split())} words."
        for seen in request["sees"]
    ]
    # Reports 0 tokens, so that the run's token count is known. The cost stays unknown.
    usage = {"inputTokens": 0, "outputTokens": 0}
    return {"text": "\n".join(lines) or "There is no text to count.", "usage": usage}


def read_text(text: str | dict[str, Any]) -> str:
    """Returns a short text as is; loads a long one by its reference, {"ref": "sha256-…", …}."""
    if isinstance(text, str):
        return text
    digest = text["ref"].removeprefix("sha256-")
    query = "SELECT bytes FROM entries WHERE key = ?"
    with closing(sqlite3.connect(f"file:{STORE}?mode=ro", uri=True)) as store:
        (content,) = store.execute(query, (f"texts/{digest[:2]}/{digest}",)).fetchone()
    return content.decode()


async def main() -> None:
    config = ClientConfig.load_client_connect_config()
    config.setdefault("target_host", "localhost:7233")
    client = await Client.connect(**config)

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    with ThreadPoolExecutor() as threads:
        activities = [count_words]
        async with Worker(
            client, task_queue="counters", activities=activities, activity_executor=threads
        ):
            print("Counting words. Press Ctrl-C to stop.", flush=True)
            await stop.wait()


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)  # see ask.py
