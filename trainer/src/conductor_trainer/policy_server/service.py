"""Routes of the policy server; each method turns a request body into a response body."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from starlette.requests import Request

from conductor_trainer.contract import template_variables
from conductor_trainer.http_answers import ApiError, Body, Handler, done, model_list, read_text
from conductor_trainer.model import logprobs_of
from conductor_trainer.policy_server.chat import Chats, read_prompts
from conductor_trainer.policy_server.policy_cache import Policy, PolicyCache
from conductor_trainer.policy_server.requests import COMPLETION, PROMPT, completion_of, read_request
from conductor_trainer.policy_server.sampling import Reply, sample_replies
from conductor_trainer.policy_server.turn import Turn

MOST_TOKENS = 1 << 20
"""Tokens of a request, its prompt counted for each reply: all are in memory at once."""

_DEFAULTS = {"n": 1, "seed": None, "temperature": 1.0, "max_tokens": 16}
"""OpenAI's defaults; without a seed, replies differ each time."""


class PolicyService:
    """Serves the routes of vLLM that training and serving use; one thread does the work."""

    def __init__(self, policies: PolicyCache) -> None:
        self._policies = policies
        self._turn = Turn()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="policy")
        chats = Chats(policies, self._turn, self._thread)
        self.routes: dict[str, Handler] = {
            route: partial(self._work_in_turn, work)
            for route, work in (
                ("GET /v1/models", self.models),
                ("POST /tokenize", self.tokenize),
                ("POST /v1/completions", self.completions),
                ("POST /v1/load_lora_adapter", self.load),
                ("POST /v1/unload_lora_adapter", self.unload),
            )
        }
        self.routes["POST /v1/chat/completions"] = chats.answer

    async def _work_in_turn(
        self, work: Callable[[Body], Body], body: Body, request: Request
    ) -> Body:
        """Works on one request at a time, and skips it if its client has gone."""
        async with self._turn.taken():
            if await request.is_disconnected():
                return {}
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, body)

    def models(self, _body: Body) -> Body:
        return model_list(self._policies.names)

    def tokenize(self, body: Body) -> Body:
        """`POST /tokenize`: token ids of a text, or of messages up to the reply to them."""
        policy = self._policies.find(read_text(body, "model"))
        if "messages" in body:
            asked = read_request(PROMPT, body)
            thinks = asked.get("chat_template_kwargs") == template_variables(True)
            (tokens,) = read_prompts(policy, [asked["messages"]], thinks=thinks)
            if isinstance(tokens, ApiError):
                raise tokens
            return _tokenized(policy, tokens)
        add_special = body.get("add_special_tokens") is not False
        encoded = policy.tokenizer(read_text(body, "prompt"), add_special_tokens=add_special)
        return _tokenized(policy, encoded["input_ids"])

    def completions(self, body: Body) -> Body:
        """`POST /v1/completions`: replies to a prompt of token ids."""
        asked = {**_DEFAULTS, **read_request(COMPLETION, body)}
        policy, prompt_T = self._policies.find(asked["model"]), asked["prompt"]
        policy = replace(policy, end_ids=policy.end_ids.union(asked.get("stop_token_ids", ())))
        _check_fits(policy, prompt_T, asked["max_tokens"], asked["n"])
        names = ("n", "seed", "temperature", "max_tokens")
        replies = sample_replies(policy, prompt_T, **{name: asked[name] for name in names})
        shared: dict[str, object] = {}
        if "prompt_logprobs" in asked:
            shared["prompt_logprobs"] = _prompt_logprobs(policy, prompt_T)
        with_ids = asked.get("return_token_ids") is True
        if with_ids:
            shared["prompt_token_ids"] = prompt_T
        choices = [
            {
                "index": index,
                "text": policy.tokenizer.decode(reply.token_ids, skip_special_tokens=True),
                "finish_reason": reply.finish_reason,
                **({"token_ids": reply.token_ids} if with_ids else {}),
                **({"logprobs": _logprobs(policy, reply)} if "logprobs" in asked else {}),
                **shared,
            }
            for index, reply in enumerate(replies)
        ]
        completed = sum(len(reply.token_ids) for reply in replies)
        return completion_of("text_completion", asked["model"], choices, len(prompt_T), completed)

    def load(self, body: Body) -> Body:
        """`POST /v1/load_lora_adapter`: names a folder of an adapter or a whole model."""
        name = read_text(body, "lora_name")
        self._policies.load(name, Path(read_text(body, "lora_path")))
        return done(name, "added")

    def unload(self, body: Body) -> Body:
        name = read_text(body, "lora_name")
        self._policies.unload(name)
        return done(name, "removed")


def _tokenized(policy: Policy, tokens: Sequence[int]) -> Body:
    return {"tokens": tokens, "count": len(tokens), "max_model_len": policy.max_positions}


def _check_fits(policy: Policy, prompt_T: Sequence[int], max_tokens: int, n: int) -> None:
    if len(prompt_T) + max_tokens > policy.max_positions:
        raise ApiError(
            400,
            f"This model's maximum context length is {policy.max_positions} tokens; the request "
            f"needs {len(prompt_T)} for the prompt and {max_tokens} for the reply: shorten one.",
        )
    together = n * (len(prompt_T) + max_tokens)
    if together > MOST_TOKENS:
        raise ApiError(
            400,
            f"n = {n} replies to {len(prompt_T)} tokens with max_tokens = {max_tokens} may take "
            f"{together} tokens together, over this server's {MOST_TOKENS}: ask for fewer at once.",
        )
    vocabulary = policy.model.config.vocab_size
    if max(prompt_T) >= vocabulary:
        raise ApiError(400, f"Token id {max(prompt_T)} is out of vocabulary ({vocabulary} tokens).")


def _logprobs(policy: Policy, reply: Reply) -> Body:
    return {
        "tokens": policy.tokenizer.convert_ids_to_tokens(reply.token_ids),
        "token_logprobs": reply.logprobs,
        "top_logprobs": None,
    }


def _prompt_logprobs(policy: Policy, prompt_T: Sequence[int]) -> list[Body | None]:
    """Returns vLLM's format: None for the first token, then each log-probability by token id."""
    scored = zip(prompt_T[1:], logprobs_of(policy.model, prompt_T), strict=True)
    return [None, *({str(token): {"logprob": score}} for token, score in scored)]
