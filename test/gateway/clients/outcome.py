"""What each client here has in common."""

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

URL, KEY, MODEL, QUESTION = (os.environ[f"GATEWAY_{name}"] for name in ("URL", "KEY", "MODEL", "QUESTION"))


def report(ask_whole: Callable[[], dict], ask_streamed: Callable[[], dict]) -> None:
    """Asks for a whole answer and a streamed one at once, and prints what came of each: `text` and `tokens`, or `error`."""
    with ThreadPoolExecutor() as threads:
        whole, streamed = threads.map(outcome_of, (ask_whole, ask_streamed))
    print(json.dumps({"whole": whole, "streamed": streamed}))


def outcome_of(ask: Callable[[], dict]) -> dict:
    try:
        return ask()
    except Exception as error:  # Whatever a client throws is what a user of it sees.
        return {"error": f"{type(error).__name__}: {error}"}
