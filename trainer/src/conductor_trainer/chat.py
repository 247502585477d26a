"""What prompts need to know of a model: its markers, the ends of its replies, its system turn.

`src/training/policy/chat.ts` prepares messages for a policy server in the same way; a night's first
prompts are compared.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformers import AutoConfig, GenerationConfig, PreTrainedTokenizerBase

from conductor_trainer.chat_template import Messages, render, render_each
from conductor_trainer.checkpoint import Chat, Record
from conductor_trainer.contract import Config, JsonObject, thinks
from conductor_trainer.errors import ModelInvalid
from conductor_trainer.thoughts import read_thoughts
from conductor_trainer.weights import SAFELY

_MOST_MARKERS, _LONGEST_MARKER, _MOST_ENDS = 4096, 256, 256
"""Limits of a checkpoint's manifest."""

_SYSTEM, _QUESTION, _REPLY, _MORE = (
    "Rules: be brief.",
    "How many?",
    "It is 43 by sum.",
    "Are you sure?",
)


def chat_of(root: Path, record: Record, tokenizer: PreTrainedTokenizerBase) -> Chat:
    """Returns what a checkpoint's record says, or what its model does if the record is older."""
    whole = record.folder if record.kind == "model" else record.base
    return record.chat or read_chat(root / whole, tokenizer)


def read_chat(folder: Path, tokenizer: PreTrainedTokenizerBase) -> Chat:
    """Tries a whole model's chat template. Raises `ModelInvalid` if it cannot write prompts."""
    if not tokenizer.chat_template:
        raise ModelInvalid(
            f"The tokenizer in {folder} has no chat template, by which prompts are written. Start "
            "from a model made for conversations, such as Qwen2.5-7B-Instruct, or put the template "
            "of such a model there as chat_template.jinja, if it was trained with that."
        )
    ends = _ends_of(folder, tokenizer)
    system = _has_system(folder, tokenizer)
    names: Any = tokenizer.convert_ids_to_tokens(ends)
    special = [str(each) for each in tokenizer.added_tokens_decoder.values() if each.special]
    # A marker of one character cannot be broken.
    markers = sorted(
        {each for each in (*special, *tokenizer.all_special_tokens, *names) if len(each) > 1}
    )
    longest = max(map(len, markers), default=0)
    if len(markers) > _MOST_MARKERS or longest > _LONGEST_MARKER or len(ends) > _MOST_ENDS:
        raise ModelInvalid(
            f"The tokenizer in {folder} has {len(markers)} control tokens of up to {longest} "
            f"characters, {len(ends)} of which end a reply: over the limits of {_MOST_MARKERS}, "
            f"{_LONGEST_MARKER} and {_MOST_ENDS}. Start from another model."
        )
    thoughts = read_thoughts(tokenizer)
    chat = Chat(markers=markers, ends=ends, system=system, thoughts=thoughts)
    _require_broken(folder, tokenizer, chat)
    return chat


def _ends_of(folder: Path, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Returns the tokens that end a reply; the first is that which the template writes."""
    named = [*_named_ends(folder), tokenizer.eos_token_id]
    ends = [*dict.fromkeys(each for each in named if isinstance(each, int))]
    if not ends:
        raise ModelInvalid(
            f"generation_config.json in {folder} names no eos_token_id, so no reply would end. Add "
            "the model's end-of-turn tokens to it."
        )
    asked = {"role": "user", "content": _QUESTION}
    (text,) = render(tokenizer, [[asked, {"role": "assistant", "content": _REPLY}]], to_reply=False)
    after = text.rpartition(_REPLY)[2].lstrip()
    ids = tokenizer.encode(after, add_special_tokens=False)
    if ids[:1] and ids[0] in ends:
        return [ids[0], *(each for each in ends if each != ids[0])]
    raise ModelInvalid(
        f"The chat template in {folder} ends a reply with {after[:80]!r}, and its first token is "
        f"not an eos_token_id of generation_config.json ({', '.join(map(str, ends))}), so replies "
        "would not end there. Add the token's id to that list, if it is a single token of the "
        "model; otherwise start from a model made for conversations."
    )


def _named_ends(folder: Path) -> list[Any]:
    """Returns what a model's generation settings, or else its own, name as `eos_token_id`."""
    settings: Any
    try:
        settings = GenerationConfig.from_pretrained(folder, local_files_only=True)
    except OSError:
        settings = AutoConfig.from_pretrained(folder, **SAFELY)
    named = getattr(settings, "eos_token_id", None)
    return [*named] if isinstance(named, list) else [named]


def _has_system(folder: Path, tokenizer: PreTrainedTokenizerBase) -> bool:
    """Tells whether the template writes a system turn, and requires it to write all others."""
    turns = [
        {"role": role, "content": text}
        for role, text in (
            ("system", _SYSTEM),
            ("user", _QUESTION),
            ("assistant", _REPLY),
            ("user", _MORE),
        )
    ]
    whole, others = render_each(tokenizer, [turns, turns[1:]])
    for kept, shown in ((whole, turns), (others, turns[1:])):
        if isinstance(kept, str) and all(turn["content"] in kept for turn in shown):
            return shown is turns
    if isinstance(others, ModelInvalid):
        raise others
    raise ModelInvalid(
        f"The chat template in {folder} leaves turns of a conversation out. Start from a model "
        "whose template writes every turn of users and assistants."
    )


def _require_broken(folder: Path, tokenizer: PreTrainedTokenizerBase, chat: Chat) -> None:
    """Raises `ModelInvalid` if a question that quotes markers could still begin or end a turn."""
    quoted = [{"role": "user", "content": f"{_QUESTION} {' '.join(chat.markers)}"}]
    plain = [{"role": "user", "content": _QUESTION}]
    marking: Any = tokenizer.convert_tokens_to_ids(chat.markers)
    controls = {*marking, *chat.ends}
    found, usual = (
        Counter(each for each in ids if each in controls)
        for ids in prompts_of(tokenizer, chat, [quoted, plain])
    )
    if found != usual:
        forged = tokenizer.convert_ids_to_tokens([*(found - usual)][:1])
        raise ModelInvalid(
            f"The tokenizer in {folder} reads its marker {''.join(forged)!r} even where a "
            "blank breaks it, so a question could forge a turn. Start from another model."
        )


def prompts_of(
    tokenizer: PreTrainedTokenizerBase, chat: Chat, conversations: Sequence[Messages]
) -> list[list[int]]:
    """Returns the tokens of conversations, up to the reply. Raises `ModelInvalid`."""
    texts = render(tokenizer, [prepare(chat, messages) for messages in conversations])
    return encode(tokenizer, texts)


def encode(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]) -> list[list[int]]:
    """Returns the tokens of texts in which markers are written out."""
    # The tokenizer takes no empty list.
    return tokenizer([*texts], add_special_tokens=False)["input_ids"] if texts else []


def prepare(chat: Chat, messages: Messages) -> list[dict[str, str]]:
    """Returns messages as the template is given them: no text holds a marker.

    If the template has no system turn, its text begins the first turn.
    """
    broken = [{**each, "content": break_markers(chat, each["content"])} for each in messages]
    if chat.system or len(broken) < 2 or broken[0]["role"] != "system":
        return broken
    rules, first, *others = broken
    return [{**first, "content": f"{rules['content']}\n\n{first['content']}"}, *others]


def break_markers(chat: Chat, text: str) -> str:
    """Puts a blank after the first character of every marker, which could forge a turn."""
    markers = {*chat.markers}
    firsts, lengths = {each[0] for each in markers}, {len(each) for each in markers}

    def begins(at: int) -> bool:
        return any(text[at : at + length] in markers for length in lengths)

    return "".join(
        f"{each} " if each in firsts and begins(at) else each for at, each in enumerate(text)
    )


def close(chat: Chat, reply: Sequence[int]) -> list[int]:
    """Returns a reply's tokens with the end of its turn."""
    return [*reply] if reply and reply[-1] in chat.ends else [*reply, chat.ends[0]]


def compared_prompts(
    tokenizer: PreTrainedTokenizerBase, chat: Chat, file: Path, config: Config
) -> list[JsonObject]:
    """Writes prompts, one a line, as a policy server must: with their `messages` and `tokenIds`."""
    prompts = [prepare(chat, json.loads(line)) for line in file.open()]
    tokens = encode(tokenizer, render(tokenizer, prompts, thinks=thinks(config)))
    return [
        {"messages": messages, "thinks": thinks(config), "tokenIds": token_ids}
        for messages, token_ids in zip(prompts, tokens, strict=True)
    ]
