"""The golden messages of `test/training/golden`, which the TypeScript side reads as well."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from conductor_trainer.contract import check_request, fault_in, validator_of
from conductor_trainer.errors import BadRequest

GOLDEN = Path(__file__).parents[2] / "test" / "training" / "golden"


def read_golden(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text())


def messages() -> list[str]:
    return sorted(path.stem for path in GOLDEN.glob("*.json"))


def breakages() -> list[Any]:
    return [
        pytest.param(name, breakage, id=f"{name}-{'.'.join(map(str, breakage['path']))}-{at}")
        for name in messages()
        for at, breakage in enumerate(read_golden(name)["broken"])
    ]


@pytest.mark.parametrize("name", messages())
def test_a_golden_message_is_accepted(name: str) -> None:
    assert fault_in(validator_of(name), read_golden(name)["payload"]) is None


@pytest.mark.parametrize(("name", "breakage"), breakages())
def test_a_broken_message_is_refused(name: str, breakage: Any) -> None:
    payload = deepcopy(read_golden(name)["payload"])
    *path, last = breakage["path"]
    at = payload
    for part in path:
        at = at[part]
    at[last] = breakage["value"]
    assert fault_in(validator_of(name), payload) is not None


def test_the_refusal_names_field_and_value() -> None:
    payload = read_golden("updateRequest")["payload"]
    payload["config"]["optimizer"]["learningRate"] = "fast"
    with pytest.raises(BadRequest, match=r"updateRequest\.config\.optimizer\.learningRate.*'fast'"):
        check_request("conductor.trainer.update", payload)
