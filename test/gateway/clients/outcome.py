"""What the clients here have in common."""

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

URL, KEY, MODEL, QUESTION = (os.environ[f"GATEWAY_{name}"] for name in ("URL", "KEY", "MODEL", "QUESTION"))


def report(**ways: Callable[[], dict]) -> None:
    """Asks in several ways at once; prints what came of each by its name: `text` and `tokens`, or `error`."""
    with ThreadPoolExecutor() as threads:
        outcomes = threads.map(outcome_of, ways.values())
    print(json.dumps(dict(zip(ways, outcomes, strict=True))))


def outcome_of(ask: Callable[[], dict]) -> dict:
    try:
        return ask()
    except Exception as error:  # noqa: BLE001 - whatever a client throws is what its user sees.
        return {"error": f"{type(error).__name__}: {error}"}
