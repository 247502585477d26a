"""Compares the prompts that policy servers write with those that the trainer writes."""

from collections.abc import Sequence

from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import ServerRefused
from conductor_trainer.worker.policy_server import PolicyServer


async def require_same_prompts(
    server: PolicyServer, model: str, base: str, prompts: Sequence[JsonObject]
) -> None:
    """Raises `ServerRefused` at the first token in which a server's prompt is another.

    A policy would be trained on prompts that it is never asked. Each of `prompts` has `messages`,
    whether the reply `thinks`, and the trainer's `tokenIds`.
    """
    for number, prompt in enumerate(prompts, start=1):
        messages, own = prompt["messages"], prompt["tokenIds"]
        written = await server.write_prompt(model, messages, thinks=prompt["thinks"])
        if written != own:
            raise ServerRefused(
                f"{server.url} writes prompt {number} of {len(prompts)} "
                f"({messages[-1]['content'][:60]!r}) otherwise than the trainer: "
                f"{_first_difference(written, own)}. Start it with the model, tokenizer and chat "
                f"template of {base}, and with no template of its own."
            )


def _first_difference(written: Sequence[int], own: Sequence[int]) -> str:
    pairs = enumerate(zip(written, own, strict=False))
    at = next((at for at, (there, here) in pairs if there != here), min(len(written), len(own)))
    there, here = (f"token {ids[at]}" if at < len(ids) else "no token" for ids in (written, own))
    return f"at position {at} it has {there}, the trainer {here}"
