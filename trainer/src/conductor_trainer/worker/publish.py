"""Loads checkpoints into policy servers (vLLM, or the one for CPUs), and unloads them."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import httpx

from conductor_trainer.checkpoint import Probe, Record
from conductor_trainer.contract import TEMPLATE_VARIABLES, CheckpointName, JsonObject
from conductor_trainer.errors import ProbeFailed, ServerRefused, ServerUnavailable

_TIMEOUT = httpx.Timeout(300.0, connect=10.0)
"""A running server accepts connections quickly, but may read gigabytes from a shared disk."""

_UNTOUCHED = {"top_p": 1, "top_k": -1, "repetition_penalty": 1}
"""vLLM takes omitted parameters from the model's `generation_config.json`."""

_TOKENIZE = "/tokenize"
"""The one route that vLLM serves only outside `/v1`."""

_TELLING = 0.5
"""Difference of two log-probabilities that rounding cannot halve or double."""


def model_name(checkpoint: CheckpointName) -> str:
    """Returns a name unique to the checkpoint, since a server may cache results by name."""
    return f"{checkpoint['trainRun']}-{checkpoint['name']}"


async def publish(record: Record, request: JsonObject) -> JsonObject:
    """Loads a checkpoint into servers. Raises `ProbeFailed` if one's results differ too much."""
    model, folder = model_name(request["checkpoint"]), record.folder
    gaps = [0.0]
    async with httpx.AsyncClient() as client:
        for url in request["servers"]:
            server = PolicyServer(url, client)
            await server.load(model, folder)
            gap = await server.probe(model, record.probe)
            # Written so that NaN fails.
            if not gap <= request["tolerance"]:
                raise ProbeFailed(
                    f"{url} gives log-probabilities of {model} that differ from the trainer's by "
                    f"{gap:.3g}, over the tolerance of {request['tolerance']:.3g}: it serves other "
                    f"weights than {folder}, or uses another precision. Unload the model there if "
                    "it was loaded from elsewhere, or raise the tolerance."
                )
            await server.require_processed(model, record.probe)
            gaps.append(gap)
    chat = {} if record.chat is None else {"chat": asdict(record.chat)}
    return {"model": model, "logprobGap": max(gaps), **chat}


async def require_processed(
    record: Record, checkpoint: CheckpointName, servers: Sequence[str]
) -> None:
    """Raises `ServerRefused` if a server's log-probabilities are not those of its temperature."""
    model = model_name(checkpoint)
    async with httpx.AsyncClient() as client:
        for url in servers:
            server = PolicyServer(url, client)
            await server.load(model, record.folder)
            await server.require_processed(model, record.probe)


async def retire(request: JsonObject) -> JsonObject:
    """Unloads every checkpoint of a training run that the request does not keep."""
    own = re.compile(rf"{request['trainRun']}-(?:base|warm|warm-[0-9a-f]{{8}}|\d{{6}})")
    kept = {model_name({"trainRun": request["trainRun"], "name": name}) for name in request["keep"]}
    retired: set[str] = set()
    async with httpx.AsyncClient() as client:
        for url in request["servers"]:
            server = PolicyServer(url, client)
            for model in sorted(await server.models()):
                if own.fullmatch(model) and model not in kept and await server.unload(model):
                    retired.add(model)
    return {"retired": sorted(retired)}


class PolicyServer:
    """Client of one server, whose base URL ends in `/v1`."""

    def __init__(self, url: str, client: httpx.AsyncClient) -> None:
        self._url = url.rstrip("/")
        self._client = client

    async def models(self) -> list[str]:
        answer = await self._ask("GET", "/models")
        return [model["id"] for model in answer.json()["data"]]

    async def load(self, name: str, folder: str) -> None:
        """Skips a model already served, as a whole one is by vLLM, which loads only adapters."""
        if name in await self.models():
            return
        body = {"lora_name": name, "lora_path": folder}
        # vLLM answers 500 to every failed load, whether or not a retry could succeed.
        answer = await self._ask("POST", "/load_lora_adapter", body, allowed=(400, 500))
        if answer.is_error and "already been loaded" not in answer.text:
            raise self._refused(answer)

    async def unload(self, name: str) -> bool:
        """Unloads a model. Returns False if none of that name was loaded."""
        body = {"lora_name": name}
        answer = await self._ask("POST", "/unload_lora_adapter", body, allowed=(404,))
        return answer.is_success

    async def write_prompt(self, model: str, messages: Sequence[JsonObject]) -> list[int]:
        """Has the server write a prompt by the model's template, as `client.ts` does."""
        body = {"model": model, "messages": messages, "chat_template_kwargs": TEMPLATE_VARIABLES}
        body |= {"add_generation_prompt": True, "add_special_tokens": False}
        answer = await self._ask("POST", _TOKENIZE, body, allowed=(400, 404, 422))
        if answer.is_error:
            raise ServerRefused(
                f"{answer.request.url} answers {_said(answer)} to a prompt of {model}: it must be "
                "vLLM 0.31 or our own server, with the trainer's chat template of this model."
            )
        return answer.json()["tokens"]

    async def probe(self, model: str, probe: Probe) -> float:
        """Returns the largest gap between the server's and the trainer's log-probabilities."""
        body = {"model": model, "prompt": probe.tokenIds, "max_tokens": 1, "prompt_logprobs": 0}
        body |= {"temperature": 1, **_UNTOUCHED}
        answer = await self._ask("POST", "/completions", body)
        scores = answer.json()["choices"][0].get("prompt_logprobs")
        if not isinstance(scores, list) or len(scores) != len(probe.tokenIds):
            raise ProbeFailed(
                f"{self._url} returns no log-probabilities of a prompt: it must support vLLM's API."
            )
        following = zip(probe.tokenIds[1:], scores[1:], probe.logprobs, strict=True)
        return max(abs(each[str(token)]["logprob"] - own) for token, each, own in following)

    async def require_processed(self, model: str, probe: Probe) -> None:
        """Raises `ServerRefused` if log-probabilities of replies ignore the temperature.

        At half the temperature, those of two tokens must differ by twice as much. If hardly any
        token but one is likely, nothing can be told.
        """
        hardest = min(range(len(probe.logprobs)), key=lambda at: probe.logprobs[at])
        prompt = probe.tokenIds[: hardest + 1]
        warm, cold = [await self._first_tokens(model, prompt, each) for each in (1.0, 0.5)]
        shared = sorted(warm.keys() & cold.keys(), key=lambda token: warm[token])
        if not shared:
            return
        usual, halved = (each[shared[-1]] - each[shared[0]] for each in (warm, cold))
        if usual > _TELLING and halved < 1.5 * usual:
            raise ServerRefused(
                f"{self._url} gives log-probabilities that ignore the temperature: two tokens "
                f"differ by {usual:.3g} at temperature 1, and by {halved:.3g} at 0.5, where it "
                "must be twice as much. Weights and checks would be wrong: start vLLM with "
                "--logprobs-mode=processed_logprobs."
            )

    async def _first_tokens(
        self, model: str, prompt: Sequence[int], temperature: float
    ) -> dict[int, float]:
        """Samples the token after a prompt many times; returns the log-probability of each."""
        body = {"model": model, "prompt": [*prompt], "n": 64, "seed": 1, "max_tokens": 1}
        body |= {"temperature": temperature, "logprobs": 0, "return_token_ids": True, **_UNTOUCHED}
        answer = await self._ask("POST", "/completions", body)
        try:
            return {
                choice["token_ids"][0]: choice["logprobs"]["token_logprobs"][0]
                for choice in answer.json()["choices"]
            }
        except (ValueError, LookupError, TypeError) as cause:
            raise ServerUnavailable(
                f"{self._url}/completions gives an answer that cannot be read "
                f"({type(cause).__name__}: {cause}): it must be vLLM 0.31 or our own server."
            ) from cause

    async def _ask(
        self, method: str, path: str, body: Any = None, *, allowed: Sequence[int] = ()
    ) -> httpx.Response:
        url = self._url.removesuffix("/v1") if path == _TOKENIZE else self._url
        try:
            answer = await self._client.request(method, url + path, json=body, timeout=_TIMEOUT)
        except httpx.TransportError as error:
            raise ServerUnavailable(
                f"The policy server {self._url} cannot be reached ({type(error).__name__}): "
                "check that it is running, and that `training.policy.baseUrl` is right from here."
            ) from error
        if answer.is_success or answer.status_code in allowed:
            return answer
        if answer.status_code >= 500 or answer.status_code == 429:
            raise ServerUnavailable(f"{self._url}{path} answers {_said(answer)}.")
        raise self._refused(answer)

    def _refused(self, answer: httpx.Response) -> ServerRefused:
        return ServerRefused(
            f"{answer.request.url} answers {_said(answer)}. Our own servers need the trainer's "
            "--artifacts and a --checkpoints folder. A vLLM must be started with "
            "VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 and --enable-lora behind "
            "`temporal-conductor-trainer fetching-server`, or, for whole models, by its "
            "`restarting-server`, which restarts it for each."
        )


def _said(answer: httpx.Response) -> str:
    return f"{answer.status_code}: {answer.text[:500]}"
