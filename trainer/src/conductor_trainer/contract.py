"""Validates against `contract.json`; `npm run generate` writes it from `trainer-contract.ts`.

Fields are documented there. Validated messages need no Python types that repeat the schema.
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
"""Settings of a training run: the `config` of a request."""


def template_variables(thinks: bool) -> JsonObject:
    """Returns what a chat template is given beside the messages: whether a reply may think."""
    return {"enable_thinking": thinks}


def thinks(config: Config) -> bool:
    """Tells whether a run's policy thinks before its plans."""
    return config.get("thinking") is not None


class CheckpointName(TypedDict):
    trainRun: str
    name: str


class StoredBytes(TypedDict):
    key: str
    sha256: str


def check_request(activity: str, payload: Any) -> None:
    """Raises `BadRequest` with the field and its fault."""
    message = _contract()["activities"][activity]["request"]
    fault = fault_in(validator_of(message), payload)
    if fault is not None:
        raise BadRequest(f"{message}{fault}; workflow and trainer must have the same version")


def fault_in(validator: Draft202012Validator, value: Any) -> str | None:
    """Returns the worst fault of a value and its place: `.config.seed: 'x' is not of type …`."""
    worst = best_match(validator.iter_errors(value))
    if worst is None:
        return None
    said = worst.message if len(worst.message) <= 300 else f"{worst.message[:300]} …"
    return f"{worst.json_path.removeprefix('$')}: {said}"


@cache
def validator_of(message: str) -> Draft202012Validator:
    """Returns the validator of a message, e.g. `batchRow`."""
    return Draft202012Validator(_contract()["messages"][message])


@cache
def _contract() -> Any:
    return json.loads(files("conductor_trainer").joinpath("contract.json").read_text())
