"""Asks temporal-conductor a question, steers the run, and prints the answer with its cost."""

import asyncio
import os
import sys
from typing import Any
from uuid import uuid4

from temporalio.client import Client, WorkflowFailureError
from temporalio.envconfig import ClientConfig


async def ask(question: str) -> dict[str, Any]:
    # The server is set by TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY and so on.
    config = ClientConfig.load_client_connect_config()
    config.setdefault("target_host", "localhost:7233")
    client = await Client.connect(**config)

    run = await client.start_workflow(
        "conductorSolve",
        {"question": question, "limits": {"depth": 1}},
        id=f"solve-{uuid4()}",
        task_queue="conductor",
        result_type=dict[str, Any],
    )
    print(f"Run {run.id}", flush=True)

    await run.signal("addHint", "Answer in one sentence.")
    limits = await run.execute_update("setLimits", {"calls": 20}, result_type=dict[str, Any])
    print(f"It may make {limits['calls']} calls to models.", flush=True)
    return await run.result()


def main() -> int:
    question = sys.argv[1] if len(sys.argv) > 1 else "How many words are in 'to be or not to be'?"
    try:
        trace = asyncio.run(ask(question))
    except WorkflowFailureError as failure:
        print(f"No answer. {failure.cause}", file=sys.stderr)
        return 1
    least = "at least " if trace["costIsLowerBound"] else ""
    print(trace["answer"])
    print(f"{trace['usage']['calls']} calls, {least}${trace['costUsd']:.4f}", flush=True)
    return 0


if __name__ == "__main__":
    # Skips the interpreter's shutdown, during which an SDK thread may crash a short program:
    # https://github.com/temporalio/sdk-python/issues/300
    os._exit(main())
