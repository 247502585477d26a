"""Renders conversations by a model's own chat template, which is a stranger's program.

It runs in the sandbox of transformers (jinja2's `ImmutableSandboxedEnvironment`), which keeps it
from files and from Python's objects, but not from running for ever. So it runs in a child process
that has little time and memory.
"""

import json
import os
import resource
import selectors
import signal
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from transformers import PreTrainedTokenizerBase

from conductor_trainer.contract import JsonObject, template_variables
from conductor_trainer.errors import ModelInvalid

Messages: TypeAlias = Sequence[dict[str, str]]
"""Turns of a conversation, oldest first, each with its `role` and `content`."""

Answer: TypeAlias = dict[str, str]
"""A child's answer for a conversation: its `text` or the template's `fault`."""

_SECONDS = 30
"""Limit on the time of one child, for up to `_TOGETHER` conversations."""

_TOGETHER = 500

_MEMORY = 1 << 30
"""Bytes that a child may take beside what it shares with its parent."""

_LONGER = 1 << 20
"""Characters that a template may add to a conversation."""


def render(
    tokenizer: PreTrainedTokenizerBase,
    conversations: Sequence[Messages],
    *,
    to_reply: bool = True,
    thinks: bool = False,
) -> list[str]:
    """Returns conversations as texts. Raises the first one's `ModelInvalid`; see `render_each`."""
    texts: list[str] = []
    for text in render_each(tokenizer, conversations, to_reply=to_reply, thinks=thinks):
        if isinstance(text, ModelInvalid):
            raise text
        texts.append(text)
    return texts


def render_each(
    tokenizer: PreTrainedTokenizerBase,
    conversations: Sequence[Messages],
    *,
    to_reply: bool = True,
    thinks: bool = False,
) -> list[str | ModelInvalid]:
    """Returns each conversation as text, with `to_reply` up to where the model's reply begins.

    Without `thinks`, the template is told that the reply has no thoughts.

    Where the template refuses one, or takes too long or too much, returns the error instead.
    """
    texts: list[str | ModelInvalid] = []
    how = {"add_generation_prompt": to_reply, **template_variables(thinks)}
    for start in range(0, len(conversations), _TOGETHER):
        part = conversations[start : start + _TOGETHER]
        answers = _in_child(partial(_try_all, tokenizer, part, how))
        if isinstance(answers, str):
            answers = [{"fault": answers}] * len(part)
        texts += [each["text"] if "text" in each else _invalid(each["fault"]) for each in answers]
    return texts


def _invalid(fault: str) -> ModelInvalid:
    return ModelInvalid(
        f"The model's chat template cannot write a prompt: {fault}. Start from a model whose "
        "tokenizer has a sound one."
    )


def _try_all(tokenizer: Any, conversations: Sequence[Messages], how: JsonObject) -> list[Answer]:
    return [_try(tokenizer, messages, how) for messages in conversations]


def _try(tokenizer: Any, messages: Messages, how: JsonObject) -> Answer:
    try:
        text = tokenizer.apply_chat_template([*messages], tokenize=False, **how)
    except Exception as error:
        return {"fault": f"{type(error).__name__}: {str(error)[:300].rstrip('.')}"}
    if len(text) > _LONGER + 4 * sum(len(message["content"]) for message in messages):
        return {"fault": f"it makes {len(text)} characters of a short conversation"}
    return {"text": text}


def _in_child(work: Callable[[], list[Answer]]) -> list[Answer] | str:
    """Returns the result of work that may never end, or a fault by which its process ended."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python warns of locks that other threads hold; the child takes none of theirs.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _be_child(writing, work)
    os.close(writing)
    try:
        said = _read_all(reading)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if said is None:
        return f"it took longer than {_SECONDS} s"
    # A child that its limits end says nothing, or breaks off.
    with suppress(ValueError):
        return json.loads(said)
    return f"it took more than {_SECONDS} s or {_MEMORY >> 20} MiB"


def _be_child(writing: int, work: Callable[[], list[Answer]]) -> NoReturn:
    try:
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, hard))
        # Not every system can bound a process's memory.
        with suppress(OSError, ValueError):
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            _, hard = resource.getrlimit(resource.RLIMIT_AS)
            most = pages * resource.getpagesize() + _MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        answers = work()
        with os.fdopen(writing, "w") as pipe:
            json.dump(answers, pipe)
    finally:
        # Ends here whatever happens: the parent's work must not be done twice.
        os._exit(0)


def _read_all(reading: int) -> bytes | None:
    """Returns what is written until the other end closes; None if that takes too long."""
    deadline, parts = time.monotonic() + _SECONDS, list[bytes]()
    with selectors.DefaultSelector() as ready:
        ready.register(reading, selectors.EVENT_READ)
        while ready.select(max(0.0, deadline - time.monotonic())):
            part = os.read(reading, 1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)
    return None
