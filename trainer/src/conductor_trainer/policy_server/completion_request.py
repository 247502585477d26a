"""What a client asks of `POST /v1/completions`, read and checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

from conductor_trainer.http_answers import bad_request, read_text

MOST_REPLIES = 1024
"""To one prompt: all are sampled at once, each with keys and values of its own in memory."""

LONGEST_REPLY = 16
"""Tokens of a reply where the request names no `max_tokens`: OpenAI's own default."""

NEUTRAL: Mapping[str, tuple[object, ...]] = {
    "top_p": (None, 1),
    "top_k": (None, -1, 0),
    "min_p": (None, 0),
    "stop": (None, []),
    "stream": (None, False),
    "echo": (None, False),
    "presence_penalty": (None, 0),
    "frequency_penalty": (None, 0),
    "repetition_penalty": (None, 1),
}
"""Options of the dialect that change a reply, and the values with which they change nothing."""


@dataclass(frozen=True)
class CompletionRequest:
    """Replies wanted to one prompt. Equal requests to equal weights have equal answers."""

    model: str
    prompt_T: tuple[int, ...]
    n: int
    seed: int | None
    """None: another reply each time."""
    temperature: float
    """0 takes the likeliest token each time."""
    max_tokens: int
    with_logprobs: bool
    with_token_ids: bool
    with_prompt_logprobs: bool


def read_completion_request(body: Mapping[str, object]) -> CompletionRequest:
    """Reads a request, and refuses what this server cannot do rather than leave it out."""
    for name, neutral in NEUTRAL.items():
        if body.get(name) not in neutral:
            raise bad_request(f"`{name}` = {body[name]!r} is not served here: leave it out")
    return CompletionRequest(
        model=read_text(body, "model"),
        prompt_T=_read_token_ids(body, "prompt"),
        n=_read_whole(body, "n", 1, least=1, most=MOST_REPLIES),
        seed=None if body.get("seed") is None else _read_whole(body, "seed", 0, least=0),
        temperature=_read_temperature(body),
        max_tokens=_read_whole(body, "max_tokens", LONGEST_REPLY, least=1),
        with_logprobs=_wants_chosen(body, "logprobs"),
        with_token_ids=body.get("return_token_ids") is True,
        with_prompt_logprobs=_wants_chosen(body, "prompt_logprobs"),
    )


def _read_whole(
    body: Mapping[str, object], name: str, default: int, *, least: int, most: int = 2**63 - 1
) -> int:
    value = default if body.get(name) is None else body[name]
    if _is_whole(value) and least <= value <= most:
        return value
    raise bad_request(
        f"`{name}` = {value!r} is refused: expected a whole number from {least} to {most}"
    )


def _read_temperature(body: Mapping[str, object]) -> float:
    value = 1.0 if body.get("temperature") is None else body["temperature"]
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 2:
        return float(value)
    raise bad_request(f"`temperature` = {value!r} is refused: expected a number from 0 to 2")


def _read_token_ids(body: Mapping[str, object], name: str) -> tuple[int, ...]:
    value = body.get(name)
    if isinstance(value, list) and value != []:
        ids = [each for each in value if _is_whole(each) and each >= 0]
        if len(ids) == len(value):
            return tuple(ids)
    raise bad_request(
        f"`{name}` is refused: expected a list of token ids, as POST /tokenize makes one"
    )


def _wants_chosen(body: Mapping[str, object], name: str) -> bool:
    value = body.get(name)
    if value is None or (_is_whole(value) and value == 0):
        return value is not None
    raise bad_request(f"`{name}` = {value!r} is not served here: expected 0, no alternatives")


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
