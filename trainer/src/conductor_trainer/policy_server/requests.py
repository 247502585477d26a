"""Requests to the policy server, by the OpenAI and vLLM fields that it serves, and its replies."""

import time
from collections.abc import Sequence
from uuid import uuid4

from jsonschema import Draft202012Validator

from conductor_trainer.contract import JsonObject, fault_in, template_variables
from conductor_trainer.http_answers import ApiError, Body

_MOST = 2**63 - 1

_SHARED = {
    "model": {"type": "string"},
    "seed": {"type": ["integer", "null"], "minimum": 0, "maximum": _MOST},
    "temperature": {"type": ["number", "null"], "minimum": 0, "maximum": 2},
    # Unsupported fields that would change a reply; only values without effect are accepted.
    "top_p": {"enum": [None, 1]},
    "stop": {"enum": [None, []]},
    "stream": {"enum": [None, False]},
    "presence_penalty": {"enum": [None, 0]},
    "frequency_penalty": {"enum": [None, 0]},
}

COMPLETION = Draft202012Validator(
    {
        "type": "object",
        "required": ["model", "prompt"],
        "properties": {
            **_SHARED,
            # Token ids, as POST /tokenize returns them.
            "prompt": {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0}},
            "max_tokens": {"type": ["integer", "null"], "minimum": 1, "maximum": _MOST},
            # All replies are sampled at once, and each holds its own keys and values in memory.
            "n": {"type": ["integer", "null"], "minimum": 1, "maximum": 1024},
            # Log-probabilities of the chosen tokens only.
            "logprobs": {"enum": [None, 0]},
            "prompt_logprobs": {"enum": [None, 0]},
            "top_k": {"enum": [None, -1, 0]},
            "min_p": {"enum": [None, 0]},
            "echo": {"enum": [None, False]},
            "stop_token_ids": {
                "type": ["array", "null"],
                "maxItems": 256,
                "items": {"type": "integer", "minimum": 0},
            },
            "repetition_penalty": {"enum": [None, 1]},
        },
    }
)

_MESSAGE = {
    "type": "object",
    "required": ["role", "content"],
    "properties": {
        "role": {"enum": ["system", "user", "assistant"]},
        "content": {"type": "string"},
    },
}

_MESSAGES = {"type": "array", "minItems": 1, "maxItems": 1000, "items": _MESSAGE}

PROMPT = Draft202012Validator(
    {
        "type": "object",
        "required": ["model", "messages"],
        "properties": {
            "model": {"type": "string"},
            "messages": _MESSAGES,
            # A prompt ends where the reply begins, and its template writes all markers.
            "add_generation_prompt": {"enum": [None, True]},
            "add_special_tokens": {"enum": [None, False]},
            "chat_template_kwargs": {
                "enum": [None, {}, template_variables(False), template_variables(True)]
            },
            "chat_template": {"enum": [None]},
            "tools": {"enum": [None, []]},
        },
    }
)

CHAT = Draft202012Validator(
    {
        "type": "object",
        "required": ["model", "messages"],
        "properties": {
            **_SHARED,
            "messages": _MESSAGES,
            "max_tokens": {"type": ["integer", "null"], "minimum": 1},
            "max_completion_tokens": {"type": ["integer", "null"], "minimum": 1},
            "n": {"enum": [None, 1]},
            "tools": {"enum": [None, []]},
            "response_format": {"enum": [None, {"type": "text"}]},
        },
    }
)


def read_request(form: Draft202012Validator, body: Body) -> JsonObject:
    """Returns the request without nulls. Raises `ApiError` if this server cannot serve it."""
    fault = fault_in(form, body)
    if fault is not None:
        raise ApiError(400, f"{fault.removeprefix('.')}; this server does not serve such requests.")
    return {name: value for name, value in body.items() if value is not None}


def completion_of(kind: str, model: str, choices: Sequence[Body], prompt: int, reply: int) -> Body:
    """Returns choices in OpenAI's format of `kind`; `prompt` and `reply` are counts of tokens."""
    prefix = "chatcmpl" if kind == "chat.completion" else "cmpl"
    return {
        "id": f"{prefix}-{uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": model,
        "choices": choices,
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": reply,
            "total_tokens": prompt + reply,
        },
    }
