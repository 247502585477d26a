"""Client of one policy server: vLLM, its servers in front, or the one for CPUs."""

from collections.abc import Sequence
from typing import Any

import httpx

from conductor_trainer.checkpoint import Probe
from conductor_trainer.contract import JsonObject, template_variables
from conductor_trainer.errors import ProbeFailed, ServerRefused, ServerUnavailable

_TIMEOUT = httpx.Timeout(300.0, connect=10.0)
"""A running server accepts connections quickly, but may read gigabytes from a shared disk."""

_UNTOUCHED = {"top_p": 1, "top_k": -1, "repetition_penalty": 1}
"""vLLM takes omitted parameters from the model's `generation_config.json`."""

_TELLING = 0.5
"""Difference of two log-probabilities that rounding cannot halve or double."""


class PolicyServer:
    """Client of one server, whose base URL ends in `/v1`."""

    def __init__(self, url: str, client: httpx.AsyncClient) -> None:
        self.url = url.rstrip("/")
        # vLLM serves some routes beside `/v1`.
        self._root = self.url.removesuffix("/v1")
        self._client = client

    async def sleep(self) -> None:
        """Has it free its GPU memory. Raises `ServerRefused` if it cannot."""
        if await self._is_sleeping() is None:
            raise ServerRefused(
                f"{self.url} has no sleep mode (/is_sleeping is not there): start vLLM with "
                "VLLM_SERVER_DEV_MODE=1 and --enable-sleep-mode behind `fetching-server`, or use "
                "`restarting-server`, or remove `training.policy.sleepDuringUpdate`."
            )
        answer = await self._ask("POST", "/sleep?level=1", {}, allowed=range(400, 600))
        if answer.is_error:
            raise ServerRefused(
                f"{answer.request.url} answers {_said(answer)}. Start vLLM with "
                "--enable-sleep-mode, or remove `training.policy.sleepDuringUpdate`."
            )

    async def wake(self) -> None:
        """Wakes it if it sleeps, as after a trainer that died meanwhile."""
        if await self._is_sleeping():
            await self._ask("POST", "/wake_up", {})

    async def _is_sleeping(self) -> bool | None:
        """Returns None if the server has no sleep mode."""
        answer = await self._ask("GET", "/is_sleeping", allowed=(404,))
        return None if answer.is_error else bool(answer.json()["is_sleeping"])

    async def models(self) -> list[str]:
        answer = await self._ask("GET", "/v1/models")
        return [model["id"] for model in answer.json()["data"]]

    async def load(self, name: str, folder: str) -> None:
        """Skips a model already served, as a whole one is by vLLM, which loads only adapters."""
        if name in await self.models():
            return
        body = {"lora_name": name, "lora_path": folder}
        # vLLM answers 500 to every failed load, whether or not a retry could succeed.
        answer = await self._ask("POST", "/v1/load_lora_adapter", body, allowed=(400, 500))
        if answer.is_error and "already been loaded" not in answer.text:
            raise self._refused(answer)

    async def unload(self, name: str) -> bool:
        """Unloads a model. Returns False if none of that name was loaded."""
        body = {"lora_name": name}
        answer = await self._ask("POST", "/v1/unload_lora_adapter", body, allowed=(404,))
        return answer.is_success

    async def write_prompt(
        self, model: str, messages: Sequence[JsonObject], *, thinks: bool
    ) -> list[int]:
        """Has the server write a prompt by the model's template, as `client.ts` does."""
        body = {"model": model, "messages": messages}
        body |= {"add_generation_prompt": True, "add_special_tokens": False}
        body |= {"chat_template_kwargs": template_variables(thinks)}
        answer = await self._ask("POST", "/tokenize", body, allowed=(400, 404, 422))
        if answer.is_error:
            raise ServerRefused(
                f"{answer.request.url} answers {_said(answer)} to a prompt of {model}: it must "
                "take `messages`, as vLLM's does, and have the trainer's chat template."
            )
        return answer.json()["tokens"]

    async def probe(self, model: str, probe: Probe) -> float:
        """Returns the largest gap between the server's and the trainer's log-probabilities."""
        body = {"model": model, "prompt": probe.tokenIds, "max_tokens": 1, "prompt_logprobs": 0}
        body |= {"temperature": 1, **_UNTOUCHED}
        answer = await self._ask("POST", "/v1/completions", body)
        scores = answer.json()["choices"][0].get("prompt_logprobs")
        if not isinstance(scores, list) or len(scores) != len(probe.tokenIds):
            raise ProbeFailed(
                f"{self.url} returns no log-probabilities of a prompt: it must know "
                "`prompt_logprobs`, as vLLM's /v1/completions does."
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
                f"{self.url} gives log-probabilities that ignore the temperature: two tokens "
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
        answer = await self._ask("POST", "/v1/completions", body)
        return {
            choice["token_ids"][0]: choice["logprobs"]["token_logprobs"][0]
            for choice in answer.json()["choices"]
        }

    async def _ask(
        self, method: str, path: str, body: Any = None, *, allowed: Sequence[int] = ()
    ) -> httpx.Response:
        try:
            answer = await self._client.request(
                method, self._root + path, json=body, timeout=_TIMEOUT
            )
        except httpx.TransportError as error:
            raise ServerUnavailable(
                f"The policy server {self.url} cannot be reached ({type(error).__name__}): "
                "check that it is running, and that `training.policy.baseUrl` is right from here."
            ) from error
        if answer.is_success or answer.status_code in allowed:
            return answer
        if answer.status_code >= 500 or answer.status_code == 429:
            raise ServerUnavailable(f"{self._root}{path} answers {_said(answer)}.")
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
