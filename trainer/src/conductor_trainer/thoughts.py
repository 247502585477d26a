"""Whether a model thinks before its replies, as its chat template shows.

Told not to think, most templates of models that can write an empty thought before the reply, as
Qwen3's does. Some cannot be told, and begin every reply with thoughts.
"""

from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from conductor_trainer.chat_template import render
from conductor_trainer.checkpoint import Chat, Thoughts
from conductor_trainer.contract import Config, thinks
from conductor_trainer.errors import ModelInvalid

_QUESTION, _REPLY = "How many?", "It is 43 by sum."


def read_thoughts(tokenizer: PreTrainedTokenizerBase) -> Thoughts | None:
    """Returns what ends its thoughts; None if it has none, or a reply's text does not show it.

    It is the last token of the tokenizer's own that the template writes before a reply without
    thoughts, and not before one that may begin with some.
    """
    before = _read_before(tokenizer)
    ends = [each for each in (*before.given, *before.told) if each not in before.thinking]
    token = tokenizer.added_tokens_decoder[ends[-1]] if ends else None
    # Servers leave special tokens out of texts.
    return None if token is None or token.special else Thoughts(ends[-1], token.content)


def always_thinks(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Tells whether its template has it think whatever it is told."""
    before = _read_before(tokenizer)
    return before.told == before.thinking and before.told != before.given


def require_thoughts(tokenizer: PreTrainedTokenizerBase, chat: Chat, config: Config) -> None:
    """Raises `ModelInvalid` if a model cannot think, or not think, as a run's settings say."""
    if thinks(config):
        if chat.thoughts is None:
            raise ModelInvalid(
                "`training.policy.thinking` is `masked`, and nothing tells where this policy's "
                "thoughts end: its chat template writes no empty thought, or its end is a special "
                "token, which texts lack, or an earlier version began the training run. Set it to "
                "`off`, or begin another run, from a model such as Qwen3."
            )
    elif always_thinks(tokenizer):
        masked = "" if chat.thoughts is None else "set `training.policy.thinking` to `masked`, or "
        raise ModelInvalid(
            "The policy's chat template has it think although it is told not to "
            "(`enable_thinking: false`), so thoughts would be learned as parts of plans: "
            f"{masked}start from a model whose template can be told, such as Qwen3."
        )


@dataclass(frozen=True)
class _Before:
    """Tokens of the tokenizer's own between a question and its reply, as the template has them."""

    thinking: list[int]
    """Before a reply that may begin with thoughts."""
    told: list[int]
    """Before one that is told not to."""
    given: list[int]
    """Before one that is given, and has none."""


def _read_before(tokenizer: PreTrainedTokenizerBase) -> _Before:
    asked = [{"role": "user", "content": _QUESTION}]
    replied = [*asked, {"role": "assistant", "content": _REPLY}]
    own = tokenizer.added_tokens_decoder

    def tokens_in(text: str) -> list[int]:
        between = text.rpartition(_QUESTION)[2].partition(_REPLY)[0]
        return [each for each in tokenizer.encode(between, add_special_tokens=False) if each in own]

    return _Before(
        *(
            tokens_in(text)
            for text in (
                *render(tokenizer, [asked], thinks=True),
                *render(tokenizer, [asked]),
                *render(tokenizer, [replied], to_reply=False),
            )
        )
    )
