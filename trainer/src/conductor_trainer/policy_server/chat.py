"""Chat completions, for clients of OpenAI's API that use policies as workers.

Greedy requests for one model share a pass if they wait at the same time. That may change the last
bits of a probability, which only rollouts need exactly; they are sampled one request at a time.
"""

from asyncio import Future, get_running_loop
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import torch
from starlette.requests import Request

from conductor_trainer.chat_template import Messages, render_each
from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import ModelInvalid
from conductor_trainer.http_answers import ApiError, Body
from conductor_trainer.policy_server.policy_cache import Policy, PolicyCache
from conductor_trainer.policy_server.requests import CHAT, completion_of, read_request
from conductor_trainer.policy_server.sampling import Reply, cut, sample_replies
from conductor_trainer.policy_server.turn import Turn

_MOST_TOGETHER = 128
"""Maximum number of requests per pass; each holds its keys and values in memory."""

_MOST_TOKENS = 4096
"""Token limit of a reply if the request sets none."""


class Chats:
    """Queue of chat requests; the one whose turn comes is answered with others that can join."""

    def __init__(self, policies: PolicyCache, turn: Turn, thread: Executor) -> None:
        self._policies = policies
        self._turn = turn
        self._thread = thread
        self._waiting: list[_Waiting] = []

    async def answer(self, body: Body, request: Request) -> Body:
        """`POST /v1/chat/completions`."""
        own = _Waiting(read_request(CHAT, body), request, get_running_loop().create_future())
        self._waiting.append(own)
        try:
            async with self._turn.taken():
                if own in self._waiting:
                    await self._answer_with(own)
            return await own.answer
        finally:
            self._waiting = [each for each in self._waiting if each is not own]

    async def _answer_with(self, first: "_Waiting") -> None:
        """Answers `first`, the oldest since turns follow arrival, and those that can join it."""
        together = [each for each in self._waiting if each.joins(first)][:_MOST_TOGETHER]
        self._waiting = [each for each in self._waiting if each not in together]
        # Also for those whose clients have gone: whoever has left the queue is answered.
        answers: dict[_Waiting, Body | Exception] = dict.fromkeys(together, _broken_off())
        try:
            there = [each for each in together if not await each.request.is_disconnected()]
            asked = [each.asked for each in there]
            found = await get_running_loop().run_in_executor(self._thread, self._answer_all, asked)
            answers |= zip(there, found, strict=True)
        except Exception as error:
            answers = dict.fromkeys(together, error)
        finally:
            for chat, answer in answers.items():
                chat.settle(answer)

    def _answer_all(self, asked: Sequence[JsonObject]) -> list[Body | Exception]:
        """Answers requests of one model; one that does not fit gets an error of its own."""
        if not asked:
            return []
        policy = self._policies.find(asked[0]["model"])
        read = read_prompts(policy, [each["messages"] for each in asked])
        prompts = [
            prompt if isinstance(prompt, ApiError) else fit_prompt(each, prompt, policy)
            for each, prompt in zip(asked, read, strict=True)
        ]
        fitting = [each for each in prompts if isinstance(each, ChatPrompt)]
        replies = iter(answer_together(policy, fitting))
        return [
            _completion_of(each, next(replies), policy) if isinstance(each, ChatPrompt) else each
            for each in prompts
        ]


@dataclass(frozen=True, eq=False)
class _Waiting:
    asked: JsonObject
    request: Request
    answer: Future[Body]

    def settle(self, answer: Body | Exception) -> None:
        if self.answer.done():
            return
        if isinstance(answer, Exception):
            self.answer.set_exception(answer)
        else:
            self.answer.set_result(answer)

    def joins(self, other: "_Waiting") -> bool:
        """Tells whether one pass of a model can answer both."""
        if self is other:
            return True
        is_greedy = self.asked.get("temperature") == other.asked.get("temperature") == 0
        return is_greedy and self.asked["model"] == other.asked["model"]


def _broken_off() -> ApiError:
    return ApiError(503, "The request was not answered, since its client or this server went away.")


@dataclass(frozen=True)
class ChatPrompt:
    model: str
    prompt_T: list[int]
    temperature: float
    seed: int | None
    max_tokens: int


def read_prompts(
    policy: Policy, conversations: Sequence[Messages], *, thinks: bool = False
) -> list[list[int] | ApiError]:
    """Returns the tokens of each conversation, or why the model's template does not write it."""
    texts = render_each(policy.tokenizer, conversations, thinks=thinks)
    return [
        ApiError(400, str(text))
        if isinstance(text, ModelInvalid)
        else policy.tokenizer(text, add_special_tokens=False)["input_ids"]
        for text in texts
    ]


def fit_prompt(asked: JsonObject, prompt_T: list[int], policy: Policy) -> ChatPrompt | ApiError:
    """Returns an error if a reply has no room after its prompt."""
    room = policy.max_positions - len(prompt_T)
    if room < 1:
        return ApiError(
            400,
            f"This model's maximum context length is {policy.max_positions} tokens; the messages "
            f"have {len(prompt_T)} and leave no room for a reply: shorten them.",
        )
    most = asked.get("max_completion_tokens", asked.get("max_tokens", _MOST_TOKENS))
    return ChatPrompt(
        asked["model"], prompt_T, asked.get("temperature", 1.0), asked.get("seed"), min(most, room)
    )


def answer_together(policy: Policy, requests: Sequence[ChatPrompt]) -> list[Reply]:
    """Answers requests of one model: greedy ones in one pass, or a single sampled one."""
    if len(requests) == 1 and (request := requests[0]).temperature > 0:
        return sample_replies(
            policy,
            request.prompt_T,
            n=1,
            seed=request.seed,
            temperature=request.temperature,
            max_tokens=request.max_tokens,
        )
    return _answer_greedily(policy, requests) if requests else []


@torch.inference_mode()
def _answer_greedily(policy: Policy, requests: Sequence[ChatPrompt]) -> list[Reply]:
    padded = policy.tokenizer.pad(
        {"input_ids": [request.prompt_T for request in requests]},
        padding_side="left",
        return_tensors="pt",
    ).to(policy.model.device)
    model: Any = policy.model
    out_NT = model.generate(
        **padded,
        do_sample=False,
        # Clients treat a reply without tokens as a failure, and would retry in vain.
        min_new_tokens=1,
        max_new_tokens=max(request.max_tokens for request in requests),
        eos_token_id=sorted(policy.end_ids),
        pad_token_id=policy.tokenizer.pad_token_id,
    )
    replies_NT = out_NT[:, padded["input_ids"].shape[1] :].tolist()
    return [
        cut(tokens[: request.max_tokens], [], policy.end_ids)
        for tokens, request in zip(replies_NT, requests, strict=True)
    ]


def _completion_of(request: ChatPrompt, reply: Reply, policy: Policy) -> Body:
    text = policy.tokenizer.decode(reply.token_ids, skip_special_tokens=True)
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": reply.finish_reason,
        "logprobs": None,
    }
    prompt, completed = len(request.prompt_T), len(reply.token_ids)
    return completion_of("chat.completion", request.model, [choice], prompt, completed)
