"""Compares the prompts that policy servers write with those that the trainer writes."""

from collections.abc import Sequence

import httpx

from conductor_trainer.checkpoint import Record
from conductor_trainer.contract import CheckpointName, JsonObject
from conductor_trainer.errors import ServerRefused
from conductor_trainer.worker.publish import PolicyServer, model_name


async def require_same_prompts(
    record: Record,
    checkpoint: CheckpointName,
    servers: Sequence[str],
    prompts: Sequence[JsonObject],
) -> None:
    """Raises `ServerRefused` at the first token in which a server's prompt is another.

    A policy would be trained on prompts that it is never asked. Each of `prompts` has `messages`
    and the trainer's `tokenIds`.
    """
    model = model_name(checkpoint)
    async with httpx.AsyncClient() as client:
        for url in servers:
            server = PolicyServer(url, client)
            for number, prompt in enumerate(prompts, start=1):
                written, own = (
                    await server.write_prompt(model, prompt["messages"]),
                    prompt["tokenIds"],
                )
                if written != own:
                    raise ServerRefused(
                        f"{url} writes prompt {number} of {len(prompts)} "
                        f"({prompt['messages'][-1]['content'][:60]!r}) otherwise than the trainer: "
                        f"{_first_difference(written, own)}. Start it with the model, tokenizer "
                        f"and chat template of {record.base}, and with no template of its own."
                    )


def _first_difference(written: Sequence[int], own: Sequence[int]) -> str:
    pairs = enumerate(zip(written, own, strict=False))
    at = next((at for at, (there, here) in pairs if there != here), min(len(written), len(own)))
    there, here = (f"token {ids[at]}" if at < len(ids) else "no token" for ids in (written, own))
    return f"at position {at} it has {there}, the trainer {here}"
