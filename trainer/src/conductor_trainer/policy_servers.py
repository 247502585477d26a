"""Policy servers seen from the trainer: vLLM's, or the one for CPUs."""

from collections.abc import Sequence
from typing import Any

import httpx

from conductor_trainer.checkpoint import Probe
from conductor_trainer.errors import ProbeFailed, ServerRefused, ServerUnavailable

_TIMEOUT = httpx.Timeout(300.0, connect=10.0)
"""A server may have to read gigabytes from a shared disk before it answers, but not to be there."""


class PolicyServer:
    """One server, by its base URL that ends in `/v1`."""

    def __init__(self, url: str, client: httpx.AsyncClient) -> None:
        self._url = url.rstrip("/")
        self._client = client

    async def models(self) -> list[str]:
        """Every name that it serves."""
        answer = await self._ask("GET", "/models")
        return [model["id"] for model in answer.json()["data"]]

    async def load(self, name: str, folder: str) -> None:
        """Has it serve a folder by a name; that it does already is as good.

        So it is with a vLLM that was started with a whole model: it can load adapters alone.
        """
        if name in await self.models():
            return
        body = {"lora_name": name, "lora_path": folder}
        # vLLM says 500 of whatever it cannot load, now or later.
        answer = await self._ask("POST", "/load_lora_adapter", body, allowed=(400, 500))
        if answer.is_error and "already been loaded" not in answer.text:
            raise self._refused(answer)

    async def unload(self, name: str) -> bool:
        """Has it forget a name. False where it has loaded nothing of that name."""
        body = {"lora_name": name}
        answer = await self._ask("POST", "/unload_lora_adapter", body, allowed=(404,))
        return answer.is_success

    async def probe(self, model: str, probe: Probe) -> float:
        """The largest difference of its log-probabilities of fixed tokens from the trainer's."""
        body = {"model": model, "prompt": probe.tokenIds, "max_tokens": 1, "prompt_logprobs": 0}
        # What is left out, vLLM takes from the model's `generation_config.json`.
        body |= {"temperature": 1, "top_p": 1, "top_k": -1, "repetition_penalty": 1}
        answer = await self._ask("POST", "/completions", body)
        told = answer.json()["choices"][0].get("prompt_logprobs")
        if not isinstance(told, list) or len(told) != len(probe.tokenIds):
            raise ProbeFailed(
                f"{self._url} tells no log-probabilities of a prompt: it must speak vLLM's dialect."
            )
        following = zip(probe.tokenIds[1:], told[1:], probe.logprobs, strict=True)
        return max(abs(each[str(token)]["logprob"] - own) for token, each, own in following)

    async def _ask(
        self, method: str, path: str, body: Any = None, *, allowed: Sequence[int] = ()
    ) -> httpx.Response:
        try:
            answer = await self._client.request(
                method, self._url + path, json=body, timeout=_TIMEOUT
            )
        except httpx.TransportError as error:
            raise ServerUnavailable(
                f"The policy server {self._url} cannot be reached ({type(error).__name__}): "
                "see whether it runs, and whether `training.policy.baseUrl` is right from here."
            ) from error
        if answer.is_success or answer.status_code in allowed:
            return answer
        if answer.status_code >= 500 or answer.status_code == 429:
            raise ServerUnavailable(f"{self._url}{path} answers {_said(answer)}.")
        raise self._refused(answer)

    def _refused(self, answer: httpx.Response) -> ServerRefused:
        return ServerRefused(
            f"{answer.request.url} answers {_said(answer)}. Checkpoints must lie on a disk that "
            "the server sees under the same path, and vLLM must be started with "
            "VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 and --enable-lora; or, for whole models, by "
            "`python -m conductor_trainer.restarting_server`, which starts it anew with each."
        )


def _said(answer: httpx.Response) -> str:
    return f"{answer.status_code}: {answer.text[:500]}"
