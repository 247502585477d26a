"""What the clients here have in common."""

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

URL, KEY, MODEL = (os.environ[f"GATEWAY_{name}"] for name in ("URL", "KEY", "MODEL"))


def report(**ways: Callable[[str], dict]) -> None:
    """Asks in several ways at once, each with its name at the end of the question.

    Prints what came of each by its name: `text` and `tokens`, or `error`.
    """
    with ThreadPoolExecutor() as threads:
        outcomes = threads.map(outcome_of, ways, ways.values())
    print(json.dumps(dict(zip(ways, outcomes, strict=True))))


def outcome_of(name: str, ask: Callable[[str], dict]) -> dict:
    try:
        return ask(f"{os.environ['GATEWAY_QUESTION']} ({name})")
    except Exception as error:  # noqa: BLE001 - whatever a client throws is what its user sees.
        return {"error": f"{type(error).__name__}: {error}"}
