"""The trainer's requests to policy servers, against answers that were recorded from vLLM.

`test/training/policy/programs/record-vllm.ts` wrote them down; `vllm.test.ts` reads them too.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from conductor_trainer.checkpoint import Probe, Record
from conductor_trainer.errors import ProbeFailed, ServerRefused, ServerUnavailable
from conductor_trainer.http_answers import Body, Handler
from conductor_trainer.worker.policy_server import PolicyServer
from conductor_trainer.worker.publish import publish, require_servers
from serving import serving

pytestmark = pytest.mark.anyio

FILE = Path(__file__).parents[2] / "test" / "training" / "policy" / "vllm-exchanges.json"
VLLM: Any = json.loads(FILE.read_text())
NAME: str = VLLM["loaded"]["request"]["lora_name"]
FOLDER: str = VLLM["loaded"]["request"]["lora_path"]
STARTED_WITH: str = VLLM["modelsBefore"]["answer"]["data"][0]["id"]


@contextmanager
def recorded(*names: str) -> Iterator[PolicyServer]:
    """A server that gives recorded answers in turn, each to the request that it was given to."""
    left = [VLLM[name] for name in names]

    def answer(request: httpx.Request) -> httpx.Response:
        exchange = left.pop(0)
        assert request.url.path == exchange["path"]
        assert json.loads(request.content or "null") == exchange.get("request")
        said = exchange["answer"]
        text = said if isinstance(said, str) else json.dumps(said)
        return httpx.Response(exchange["status"], text=text)

    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    yield PolicyServer("http://vllm/v1", client)
    assert left == []


async def test_an_adapter_is_listed_once_it_is_loaded() -> None:
    with recorded("modelsBefore", "loaded", "models") as server:
        await server.load(NAME, FOLDER)
        assert await server.models() == [STARTED_WITH, NAME]


@pytest.mark.parametrize("name", [NAME, STARTED_WITH])
async def test_what_is_served_already_is_not_loaded(name: str) -> None:
    with recorded("models") as server:
        await server.load(name, FOLDER)


async def test_that_another_loaded_it_meanwhile_is_as_good() -> None:
    with recorded("modelsBefore", "loadedAlready") as server:
        await server.load(NAME, FOLDER)


@pytest.mark.parametrize(
    ("answer", "said"),
    [("noAdapter", "No adapter found"), ("notLoadable", "LoRA rank 4096 is greater")],
)
async def test_what_it_cannot_load_is_refused_for_good(answer: str, said: str) -> None:
    asked = VLLM[answer]["request"]
    with recorded("modelsBefore", answer) as server, pytest.raises(ServerRefused, match=said):
        await server.load(asked["lora_name"], asked["lora_path"])


async def test_a_probe_is_the_largest_gap_of_all_tokens() -> None:
    token_ids = VLLM["probed"]["request"]["prompt"]
    (choice,) = VLLM["probed"]["answer"]["choices"]
    scores = [next(iter(each.values()))["logprob"] for each in choice["prompt_logprobs"][1:]]
    with recorded("probed", "probed") as server:
        assert await server.probe(NAME, Probe(token_ids, scores)) == 0
        scores[3] -= 0.25
        assert await server.probe(NAME, Probe(token_ids, scores)) == 0.25


@pytest.mark.parametrize(
    ("warm", "cold", "is_refused"),
    [
        pytest.param({5: -0.1, 9: -2.6}, {5: 0.0, 9: -5.0}, False, id="twice as far apart"),
        pytest.param({5: -0.1, 9: -2.6}, {5: -0.1, 9: -4.1}, False, id="nearly twice"),
        pytest.param({5: -0.1, 9: -2.6}, {5: -0.1, 9: -2.6}, True, id="as far apart as before"),
        pytest.param({5: -0.9, 9: -1.4}, {5: -0.9, 9: -1.4}, False, id="hardly apart"),
        pytest.param({5: -0.001}, {5: -0.001}, False, id="one token alone"),
        pytest.param({5: -0.1, 9: -2.6}, {7: -0.1}, False, id="no token in common"),
    ],
)
async def test_only_log_probabilities_that_tell_of_it_are_refused(
    warm: dict[int, float], cold: dict[int, float], is_refused: bool
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)
        # The prompt ends before the token that the policy finds least likely.
        assert asked["prompt"] == [1, 2]
        told = {1.0: warm, 0.5: cold}[asked["temperature"]].items()
        choices = [
            {"token_ids": [token], "logprobs": {"token_logprobs": [score]}} for token, score in told
        ]
        return httpx.Response(200, json={"choices": choices})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        checked = PolicyServer("http://vllm/v1", client).require_processed(
            NAME, Probe([1, 2, 3, 4], [-0.5, -3.0, -1.0])
        )
        if not is_refused:
            await checked
            return
        with pytest.raises(ServerRefused, match=r"by 2\.5 at temperature 1, and by 2\.5 at 0\.5"):
            await checked


async def test_it_reports_whether_there_was_anything_to_unload() -> None:
    with recorded("unloaded", "unloadedAlready") as server:
        assert await server.unload(NAME)
        assert not await server.unload(NAME)


PROBE = Probe([1, 2, 3], [-0.5, -3.0])
REQUEST: Any = {"checkpoint": {"trainRun": "run", "name": "000001"}, "tolerance": 1e-4}


def policy_routes(
    logprobs: Sequence[float] = PROBE.logprobs, *, loaded: Event | None = None
) -> dict[str, Handler]:
    """A server that finds the probe so likely, and loads a checkpoint once it may."""

    async def models(_body: Body, _request: Request) -> Body:
        return {"data": []}

    async def load(_body: Body, _request: Request) -> Body:
        if loaded is not None:
            await asyncio.to_thread(loaded.wait)
        return {}

    async def complete(body: Body, _request: Request) -> Body:
        scores = [
            {f"{token}": {"logprob": each}} for token, each in zip((2, 3), logprobs, strict=True)
        ]
        first = {"token_ids": [5], "logprobs": {"token_logprobs": [-0.1]}}
        return {"choices": [{**first, "prompt_logprobs": [None, *scores]}]}

    return {
        "GET /v1/models": models,
        "POST /v1/load_lora_adapter": load,
        "POST /v1/completions": complete,
    }


@pytest.fixture
def record() -> Record:
    config: Any = {}
    return Record("id", "model", "run/000001/model", "base", "w", "t", 9, 1, PROBE, config)


async def test_a_server_that_is_away_lags_or_serves_other_weights_is_left_out(
    record: Record,
) -> None:
    may_load = Event()
    with (
        serving(policy_routes()) as right,
        serving(policy_routes([-0.5, -2.0])) as wrong,
        serving(policy_routes(loaded=may_load)) as slow,
    ):
        servers = ["http://127.0.0.1:9/v1", *(f"{url}/v1" for url in (wrong, slow, right))]
        result = await publish(record, {**REQUEST, "servers": servers}, lag=0.1)
        may_load.set()
        assert (result["model"], result["logprobGap"]) == ("run-000001", 0)
        assert [each["server"] for each in result["leftOut"]] == servers[:3]
        away, other, late = (each["why"] for each in result["leftOut"])
        assert "cannot be reached (ConnectError)" in away
        assert "by 1, over the tolerance of 0.0001: it serves other weights" in other
        assert "has not loaded it 0.1 s after another server had" in late
        # Taken back once it holds.
        again = await publish(record, {**REQUEST, "servers": servers})
        assert [each["server"] for each in again["leftOut"]] == servers[:2]


async def test_a_server_that_took_weights_wrongly_is_told_to_load_them_anew(
    record: Record,
) -> None:
    asked: list[str] = []
    right, wrong = policy_routes(), policy_routes([-0.5, -2.0])

    async def load(_body: Body, _request: Request) -> Body:
        asked.append("load")
        return {}

    async def unload(body: Body, _request: Request) -> Body:
        asked.append(f"unload {body['lora_name']}")
        return {}

    async def complete(body: Body, request: Request) -> Any:
        routes = wrong if asked == ["load"] else right
        return await routes["POST /v1/completions"](body, request)

    routes = {
        **right,
        "POST /v1/load_lora_adapter": load,
        "POST /v1/unload_lora_adapter": unload,
        "POST /v1/completions": complete,
    }
    with serving(routes) as url:
        result = await publish(record, {**REQUEST, "servers": [f"{url}/v1"]})
    assert (result["logprobGap"], result["leftOut"]) == (0, [])
    assert asked == ["load", "unload run-000001", "load"]


async def test_a_night_without_a_server_waits_only_for_one_that_may_come_back(
    record: Record,
) -> None:
    with serving(policy_routes([-0.5, -2.0])) as wrong, serving(policy_routes([0, 0])) as other:
        asked = {**REQUEST, "servers": [f"{wrong}/v1", f"{other}/v1"]}
        for check in (publish, require_servers):
            with pytest.raises(ProbeFailed, match=wrong):
                await check(record, asked)
        asked["servers"][1] = "http://127.0.0.1:9/v1"
        with pytest.raises(ServerUnavailable, match=r"127\.0\.0\.1:9"):
            await publish(record, asked)
        assert await require_servers(record, asked) == []
