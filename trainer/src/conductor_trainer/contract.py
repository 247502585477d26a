"""The check against `contract.json`, which `npm run generate` writes from `trainer-contract.ts`.

Fields are documented there. What has been checked needs no types that say the same once more.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias, TypedDict

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from conductor_trainer.errors import BadRequest

JsonObject: TypeAlias = dict[str, Any]

Config: TypeAlias = JsonObject
"""The settings of a training run: `config` of a request."""


class CheckpointName(TypedDict):
    trainRun: str
    name: str


class StoredBytes(TypedDict):
    key: str
    sha256: str


def check_request(activity: str, payload: Any) -> None:
    """Raises `BadRequest`, which names the field and what is wrong with it."""
    message = _contract()["activities"][activity]["request"]
    fault = fault_in(validator_of(message), payload)
    if fault is not None:
        raise BadRequest(f"{message}{fault}; workflow and trainer must have the same version")


def fault_in(validator: Draft202012Validator, value: Any) -> str | None:
    """What is most wrong with a value, and where: `.config.seed: 'x' is not of type …`."""
    worst = best_match(validator.iter_errors(value))
    if worst is None:
        return None
    said = worst.message if len(worst.message) <= 300 else f"{worst.message[:300]} …"
    return f"{worst.json_path.removeprefix('$')}: {said}"


@cache
def validator_of(message: str) -> Draft202012Validator:
    """For a message by its name, e.g. `batchRow`."""
    return Draft202012Validator(_contract()["messages"][message])


@cache
def _contract() -> Any:
    return json.loads(files("conductor_trainer").joinpath("contract.json").read_text())
