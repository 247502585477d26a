"""What the policy server answers: one method a route, from body to body, and HTTP around it."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

from conductor_trainer.http_answers import (
    AnsweringServer,
    Body,
    IsWanted,
    Reply,
    as_json,
    bad_request,
    not_found,
    read_body,
    read_text,
)
from conductor_trainer.policy_server.completion_request import read_completion_request
from conductor_trainer.policy_server.policy_cache import Policy, PolicyCache
from conductor_trainer.policy_server.sampling import Sampled, sample_replies, score_tokens


class PolicyService:
    """The routes of vLLM's server that training and serving use. Calls must come one at a time."""

    def __init__(self, policies: PolicyCache) -> None:
        self._policies = policies

    def models(self, _body: Body) -> Body:
        """`GET /v1/models`."""
        data = [
            {"id": name, "object": "model", "owned_by": "conductor"}
            for name in self._policies.names
        ]
        return {"object": "list", "data": data}

    def tokenize(self, body: Body) -> Body:
        """`POST /tokenize`: token ids of a text, its markers included."""
        policy = self._policies.find(read_text(body, "model"))
        add_special = body.get("add_special_tokens") is not False
        encoded = policy.tokenizer(read_text(body, "prompt"), add_special_tokens=add_special)
        tokens = encoded["input_ids"]
        return {"tokens": tokens, "count": len(tokens), "max_model_len": policy.max_positions}

    def completions(self, body: Body) -> Body:
        """`POST /v1/completions`: replies to a prompt of token ids."""
        request = read_completion_request(body)
        policy = self._policies.find(request.model)
        _check_fits(policy, request.prompt_T, request.max_tokens)
        replies = sample_replies(
            policy,
            request.prompt_T,
            n=request.n,
            seed=request.seed,
            temperature=request.temperature,
            max_tokens=request.max_tokens,
        )
        shared: dict[str, object] = {}
        if request.with_prompt_logprobs:
            shared["prompt_logprobs"] = _prompt_logprobs(policy, request.prompt_T)
        if request.with_token_ids:
            shared["prompt_token_ids"] = request.prompt_T
        completed = sum(len(reply.token_ids) for reply in replies)
        return {
            "id": f"cmpl-{uuid4().hex}",
            "object": "text_completion",
            "created": int(time.time()),
            "model": request.model,
            "choices": [
                {
                    "index": index,
                    "text": policy.tokenizer.decode(reply.token_ids, skip_special_tokens=True),
                    "finish_reason": reply.finish_reason,
                    **({"token_ids": reply.token_ids} if request.with_token_ids else {}),
                    **({"logprobs": _logprobs(policy, reply)} if request.with_logprobs else {}),
                    **shared,
                }
                for index, reply in enumerate(replies)
            ],
            "usage": {
                "prompt_tokens": len(request.prompt_T),
                "completion_tokens": completed,
                "total_tokens": len(request.prompt_T) + completed,
            },
        }

    def load(self, body: Body) -> Body:
        """`POST /v1/load_lora_adapter`: names a folder, which may hold a whole model as well."""
        name = read_text(body, "lora_name")
        self._policies.load(name, Path(read_text(body, "lora_path")))
        return {"message": f"Success: LoRA adapter '{name}' added successfully."}

    def unload(self, body: Body) -> Body:
        """`POST /v1/unload_lora_adapter`."""
        name = read_text(body, "lora_name")
        self._policies.unload(name)
        return {"message": f"Success: LoRA adapter '{name}' removed successfully."}


def _check_fits(policy: Policy, prompt_T: tuple[int, ...], max_tokens: int) -> None:
    if len(prompt_T) + max_tokens > policy.max_positions:
        raise bad_request(
            f"This model's maximum context length is {policy.max_positions} tokens; the request "
            f"wants {len(prompt_T)} of prompt and {max_tokens} of reply: shorten one of them."
        )
    vocabulary = policy.model.config.vocab_size
    if max(prompt_T) >= vocabulary:
        raise bad_request(f"Token id {max(prompt_T)} is out of vocabulary ({vocabulary} tokens).")


def _logprobs(policy: Policy, reply: Sampled) -> Body:
    return {
        "tokens": policy.tokenizer.convert_ids_to_tokens(reply.token_ids),
        "token_logprobs": reply.logprobs,
        "top_logprobs": None,
    }


def _prompt_logprobs(policy: Policy, prompt_T: tuple[int, ...]) -> list[Body | None]:
    """As vLLM gives them: nothing for the first token, then the token by its id."""
    scores = score_tokens(policy, prompt_T)
    return [
        None,
        *(
            {str(token): {"logprob": score}}
            for token, score in zip(prompt_T[1:], scores, strict=True)
        ),
    ]


class PolicyHttpServer(AnsweringServer):
    """A policy service over HTTP: many connections, and one thread that works in their order."""

    def __init__(self, address: tuple[str, int], service: PolicyService) -> None:
        super().__init__(address, self.respond)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="policy")
        self._routes: dict[str, Callable[[Body], Body]] = {
            "GET /v1/models": service.models,
            "POST /tokenize": service.tokenize,
            "POST /v1/completions": service.completions,
            "POST /v1/load_lora_adapter": service.load,
            "POST /v1/unload_lora_adapter": service.unload,
        }

    def respond(self, route: str, sent: bytes, is_wanted: IsWanted) -> Reply:
        """Does what a request asks for, once those before it are done.

        Clients are killed and others repeat their requests, so a request whose client has gone
        must not delay the next ones.
        """
        work = self._routes.get(route)
        if work is None:
            raise not_found(f"There is no {route}.")
        body = read_body(sent)
        return as_json(self._worker.submit(lambda: work(body) if is_wanted() else {}).result())
