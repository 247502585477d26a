"""Chat completions of the policy server over real HTTP, as a worker's client asks for them."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from starlette.requests import Request

from conductor_trainer.http_answers import ApiError
from conductor_trainer.policy_server.chat import (
    ChatPrompt,
    Chats,
    answer_together,
    fit_prompt,
    read_prompts,
)
from conductor_trainer.policy_server.policy_cache import Policy, PolicyCache, load_policy
from conductor_trainer.policy_server.service import PolicyService
from conductor_trainer.policy_server.turn import MOST_WAITING, Turn
from policies import make_policy
from serving import serving

QUESTIONS = [f"How much is {number} and {3 * number} for this loop?" for number in (2, 17, 123)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_policy(tmp_path_factory.mktemp("policies") / "worker", seed=1)


@pytest.fixture
def passes() -> list[int]:
    """Number of requests in each forward pass of the model, in order."""
    return []


@pytest.fixture
def client(folder: Path, passes: list[int]) -> Iterator[httpx.Client]:
    torch.set_num_threads(1)

    def read(place: Path) -> Policy:
        policy = load_policy(place)
        policy.model.register_forward_pre_hook(count_prompts, with_kwargs=True)
        return policy

    def count_prompts(_model: Any, _args: Any, given: dict[str, Any]) -> None:
        rows, tokens = given["input_ids"].shape
        if tokens > 1:
            passes.append(rows)

    policies = PolicyCache({"worker": folder}, in_memory=1, read=read)
    with (
        serving(PolicyService(policies).routes) as url,
        httpx.Client(base_url=f"{url}/v1", timeout=60) as client,
    ):
        yield client


def chat(client: httpx.Client, question: str, **options: Any) -> httpx.Response:
    asked = {"model": "worker", "messages": [{"role": "user", "content": question}], **options}
    return client.post("/chat/completions", json=asked)


def text_of(response: httpx.Response) -> str:
    assert response.status_code == 200, response.text
    return response.json()["choices"][0]["message"]["content"]


def likeliest_ids(policy: Policy, question: str, most: int) -> list[int]:
    """Decodes greedily, with a forward pass over the whole text for every token."""
    prompt = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    ids: list[int] = policy.tokenizer(prompt, add_special_tokens=False)["input_ids"]
    start = len(ids)
    while len(ids) < start + most and (len(ids) == start or ids[-1] not in policy.end_ids):
        with torch.inference_mode():
            ids.append(int(policy.model(torch.tensor([ids])).logits[0, -1].argmax()))
    return ids[start:]


def test_a_greedy_reply_has_the_likeliest_tokens(client: httpx.Client, folder: Path) -> None:
    policy = load_policy(folder)
    for question in QUESTIONS:
        ids = likeliest_ids(policy, question, 12)
        response = chat(client, question, temperature=0, max_tokens=12)
        assert text_of(response) == policy.tokenizer.decode(ids, skip_special_tokens=True)
        is_whole = ids[-1] in policy.end_ids
        answer = response.json()
        assert answer["choices"][0]["finish_reason"] == ("stop" if is_whole else "length")
        assert answer["usage"]["completion_tokens"] == len(ids)


def test_a_greedy_reply_says_something_even_where_to_end_is_likeliest(folder: Path) -> None:
    policy = load_policy(folder)
    (likeliest,) = likeliest_ids(policy, QUESTIONS[0], 1)
    ending = replace(policy, end_ids=frozenset({likeliest}))
    asked = {"messages": [{"role": "user", "content": QUESTIONS[0]}]}
    (prompt_T,) = read_prompts(ending, [asked["messages"]])
    assert isinstance(prompt_T, list)
    prompt = fit_prompt(
        {"model": "worker", "temperature": 0, "max_tokens": 3, **asked}, prompt_T, ending
    )
    assert isinstance(prompt, ChatPrompt)
    (reply,) = answer_together(ending, [prompt])
    assert reply.token_ids[0] != likeliest


def test_greedy_requests_that_wait_share_a_pass_and_answer_as_alone(
    client: httpx.Client, passes: list[int]
) -> None:
    limits = {question: 4 + 5 * at for at, question in enumerate(QUESTIONS)}

    def ask(question: str) -> str:
        return text_of(chat(client, question, temperature=0, max_tokens=limits[question]))

    alone = [ask(question) for question in QUESTIONS]
    passes.clear()
    asked = [*QUESTIONS] * 8
    with ThreadPoolExecutor(len(asked)) as pool:
        assert list(pool.map(ask, asked)) == alone * 8
    assert sum(passes) == len(asked)
    assert len(passes) < len(asked)


def test_a_sampled_reply_repeats_by_its_seed(client: httpx.Client) -> None:
    def ask(seed: int) -> str:
        return text_of(chat(client, QUESTIONS[0], temperature=1, seed=seed, max_tokens=30))

    assert ask(3) == ask(3)
    assert len({ask(seed) for seed in range(5)}) > 1


def test_what_it_cannot_do_is_refused_and_spares_those_who_wait(client: httpx.Client) -> None:
    assert chat(client, QUESTIONS[0], stream=True).status_code == 400
    assert chat(client, QUESTIONS[0], top_p=0.5).status_code == 400
    assert chat(client, QUESTIONS[0], model="nobody").status_code == 404
    with ThreadPoolExecutor(2) as pool:
        long = pool.submit(chat, client, "loop " * 400, temperature=0)
        short = pool.submit(chat, client, QUESTIONS[0], temperature=0)
    assert "leave no room for a reply" in long.result().json()["error"]["message"]
    assert short.result().status_code == 200


@pytest.mark.anyio
async def test_a_chat_whose_client_has_gone_ends(folder: Path) -> None:
    with ThreadPoolExecutor(1) as thread:
        chats = Chats(PolicyCache({"worker": folder}, in_memory=1), Turn(), thread)

        async def leave() -> dict[str, str]:
            return {"type": "http.disconnect"}

        asked = {"model": "worker", "messages": [{"role": "user", "content": "?"}]}
        bodies = [{**asked, "temperature": share % 2} for share in range(20)]
        gone = Request({"type": "http"}, leave)
        tasks = [asyncio.create_task(chats.answer(body, gone)) for body in bodies]
        _, left = await asyncio.wait(tasks, timeout=60)
    assert not left
    assert all("its client or this server went away" in str(each.exception()) for each in tasks)


@pytest.mark.anyio
async def test_only_so_many_requests_wait() -> None:
    turn = Turn()
    done = asyncio.Event()

    async def wait() -> None:
        async with turn.taken():
            await done.wait()

    tasks = [asyncio.create_task(wait()) for _ in range(MOST_WAITING)]
    await asyncio.sleep(0)
    refused = asyncio.create_task(wait())
    await asyncio.sleep(0)
    done.set()
    *_, refusal = await asyncio.gather(*tasks, refused, return_exceptions=True)
    assert isinstance(refusal, ApiError) and refusal.status_code == 429
    await wait()
