"""The golden messages of `test/training/golden`, which the TypeScript side reads as well."""

import json
from copy import deepcopy
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from conductor_trainer import contract
from conductor_trainer.contract import check_message, check_request
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
    check_message(name, read_golden(name)["payload"])


@pytest.mark.parametrize(("name", "breakage"), breakages())
def test_a_broken_message_is_refused_for_good(name: str, breakage: Any) -> None:
    payload = deepcopy(read_golden(name)["payload"])
    *path, last = breakage["path"]
    at = payload
    for part in path:
        at = at[part]
    at[last] = breakage["value"]
    with pytest.raises(BadRequest) as caught:
        check_message(name, payload)
    assert not caught.value.retryable


def test_the_refusal_names_field_and_value() -> None:
    payload = read_golden("updateRequest")["payload"]
    payload["config"]["optimizer"]["learningRate"] = "fast"
    with pytest.raises(BadRequest, match=r"updateRequest\.config\.optimizer\.learningRate.*'fast'"):
        check_request("conductor.trainer.update", payload)


CONTRACT = json.loads(Path(contract.__file__).with_name("contract.json").read_text())


def type_of(message: str) -> Any:
    return getattr(contract, message[0].upper() + message[1:], None)


def shape_of_type(type: Any) -> Any:
    """Fields of objects, values of literals, members of unions and lists, else the type."""
    if is_typeddict(type):
        fields = get_type_hints(type, include_extras=True)
        return {name: shape_of_type(each) for name, each in fields.items()}
    if get_origin(type) is Literal:
        return {*get_args(type)}
    if get_origin(type) in (UnionType, list):
        return [shape_of_type(each) for each in get_args(type)]
    return type


def shape_of_schema(schema: Any) -> Any:
    """The same of a message in `contract.json`, without bounds and patterns."""
    match schema:
        case {"oneOf": kinds}:
            return [shape_of_schema(kind) for kind in kinds]
        case {"const": value}:
            return {value}
        case {"enum": values}:
            return {*values}
        case {"type": "array", "items": items}:
            return [shape_of_schema(items)]
        case {"type": "object", "properties": fields, "required": required}:
            assert {*fields} == {*required}, "a type says that no field may be left out"
            return {name: shape_of_schema(field) for name, field in fields.items()}
    return {"string": str, "integer": int, "number": float, "boolean": bool}[schema["type"]]


@pytest.mark.parametrize("message", [each for each in CONTRACT["messages"] if type_of(each)])
def test_the_types_say_what_the_contract_says(message: str) -> None:
    assert shape_of_type(type_of(message)) == shape_of_schema(CONTRACT["messages"][message])


def test_every_request_has_a_type() -> None:
    requests = [activity["request"] for activity in CONTRACT["activities"].values()]
    assert all(type_of(request) for request in requests)
