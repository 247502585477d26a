"""The contract between workflows and trainer, and the check of messages against it.

`contract.json` is written from `src/training/trainer-contract.ts` by `npm run contract`.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from conductor_trainer.errors import BadRequest


def check_request(activity: str, payload: Any) -> None:
    """Refuses what the contract does not allow an activity to be asked.

    Raises `BadRequest`, which names the field and what is wrong with it.
    """
    check_message(_contract()["activities"][activity]["request"], payload)


def check_message(name: str, payload: Any) -> None:
    """The same for a message by its own name, e.g. `batchRow`."""
    worst = best_match(_validator(name).iter_errors(payload))
    if worst is None:
        return
    said = worst.message if len(worst.message) <= 300 else f"{worst.message[:300]} …"
    raise BadRequest(
        f"{name}{worst.json_path.removeprefix('$')} is not what the contract says: {said}; "
        "workflow and trainer must be of the same version"
    )


@cache
def _contract() -> Any:
    return json.loads(files("conductor_trainer").joinpath("contract.json").read_text())


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(_contract()["messages"][name])
