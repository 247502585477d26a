"""The policy server over real HTTP, in this process and in one of its own."""

import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from transformers import AutoModelForCausalLM

from conductor_trainer.model import add_adapter, save_policy
from conductor_trainer.policy_server.policy_cache import Policy, PolicyCache, load_policy
from conductor_trainer.policy_server.sampling import Reply, sample_replies
from conductor_trainer.policy_server.service import PolicyService
from policies import PROMPT, make_policy
from serving import serving

SERVER = (sys.executable, "-m", "conductor_trainer.policy_server")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("policies")
    return [make_policy(root / f"policy-{seed}", seed=seed) for seed in range(3)]


@pytest.fixture
def client(folders: list[Path]) -> Iterator[httpx.Client]:
    """Client of a server that knows the first policy as `first`, and has room for two."""
    policies = PolicyCache({"first": folders[0]}, in_memory=2)
    with serve(policies) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


def serve(policies: PolicyCache) -> AbstractContextManager[str]:
    """A server in this process, by its URL."""
    torch.set_num_threads(1)
    return serving(PolicyService(policies).routes)


def tokenize(client: httpx.Client, model: str = "first") -> list[int]:
    answer = client.post("/tokenize", json=text_for(model)).json()
    assert answer["count"] == len(answer["tokens"])
    assert answer["max_model_len"] == 160
    return answer["tokens"]


def text_for(model: str) -> dict[str, Any]:
    return {"model": model, "prompt": PROMPT, "add_special_tokens": False}


def ask(client: httpx.Client, **changes: Any) -> Any:
    """The choices of a request for eight sampled replies."""
    body = {"model": "first", "n": 8, "seed": 7, "temperature": 1, "top_p": 1, "top_k": -1}
    body |= {"max_tokens": 60, "logprobs": 0, "return_token_ids": True} | changes
    answer = client.post("/v1/completions", json={"prompt": tokenize(client), **body})
    assert answer.status_code == 200, answer.text
    return answer.json()["choices"]


def expected_logprobs(folder: Path, prompt: list[int], reply: list[int], temperature: float) -> Any:
    """Computes log-probabilities by one forward pass over the whole text, as the trainer does."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return forward(model, prompt, reply, temperature)


def forward(model: Any, prompt: list[int], reply: list[int], temperature: float) -> list[float]:
    ids_1T = torch.tensor([prompt + reply])
    with torch.no_grad():
        logits_TV = model(input_ids=ids_1T).logits[0, :-1] / temperature
    logprobs_T = torch.log_softmax(logits_TV, -1).gather(1, ids_1T[0, 1:, None])[:, 0]
    return logprobs_T[len(prompt) - 1 :].tolist()


def test_markers_are_one_token_each(client: httpx.Client) -> None:
    tokens = tokenize(client)
    assert tokens.count(1) == 2, "<|im_start|>"
    assert tokens.count(2) == 1, "<|im_end|>"


def test_messages_become_a_prompt_by_the_models_template(client: httpx.Client) -> None:
    question = PROMPT.removeprefix("<|im_start|>user\n").partition("<|im_end|>")[0]
    asked = {"model": "first", "messages": [{"role": "user", "content": question}]}
    asked |= {"add_generation_prompt": True, "add_special_tokens": False}
    answer = client.post("/tokenize", json=asked)
    assert answer.json()["tokens"] == tokenize(client)
    refused = client.post("/tokenize", json=asked | {"chat_template": "{{ 1 }}"})
    assert refused.status_code == 400


def test_a_reply_ends_at_the_tokens_that_the_request_names(client: httpx.Client) -> None:
    (usual,) = ask(client, n=1)
    (ended,) = ask(client, n=1, stop_token_ids=[usual["token_ids"][3]])
    at = usual["token_ids"].index(usual["token_ids"][3]) + 1
    assert ended["token_ids"] == usual["token_ids"][:at]
    assert ended["finish_reason"] == "stop"


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_logprobs_are_those_of_a_plain_forward_pass(
    client: httpx.Client, folders: list[Path], temperature: float
) -> None:
    choices = ask(client, temperature=temperature, n=64)
    assert {choice["finish_reason"] for choice in choices} >= {"stop"}
    for choice in choices:
        prompt, reply = choice["prompt_token_ids"], choice["token_ids"]
        answered = choice["logprobs"]["token_logprobs"]
        wanted = expected_logprobs(folders[0], prompt, reply, temperature)
        assert answered == pytest.approx(wanted, abs=1e-4)
        assert (reply[-1] == 2) == (choice["finish_reason"] == "stop")
        assert 2 not in reply[:-1]
        assert "<|im_end|>" not in choice["text"]


def test_a_policy_is_loaded_onto_the_device_that_computes(folders: list[Path]) -> None:
    assert load_policy(folders[0]).model.device.type == "cpu"
    # PyTorch's device without memory is on every machine.
    assert load_policy(folders[0], "meta").model.device.type == "meta"


def test_replies_are_sampled_where_the_policy_is(folders: list[Path]) -> None:
    policy = load_policy(folders[0])

    def sample() -> list[Reply]:
        prompt_T = policy.tokenizer.encode(PROMPT)
        return sample_replies(policy, prompt_T, n=4, seed=3, temperature=1.0, max_tokens=20)

    alone = sample()
    # A tensor that names no device of its own now has no memory, and nothing comes of it.
    with torch.device("meta"):
        assert sample() == alone


def test_tokens_are_drawn_as_often_as_they_are_likely(folders: list[Path]) -> None:
    policy, n = load_policy(folders[0]), 20_000
    prompt_T = policy.tokenizer.encode(PROMPT)
    replies = sample_replies(policy, prompt_T, n=n, seed=3, temperature=0.6, max_tokens=1)
    drawn_V = torch.bincount(
        torch.tensor([reply.token_ids[0] for reply in replies]),
        minlength=policy.model.config.vocab_size,
    )
    with torch.no_grad():
        logits_V = policy.model(input_ids=torch.tensor([prompt_T])).logits[0, -1]
    likely_V = torch.softmax(logits_V / 0.6, -1)
    spread_V = (likely_V * (1 - likely_V) / n).sqrt()
    assert bool(((drawn_V / n - likely_V).abs() < 5 * spread_V + 1 / n).all())


def test_weights_that_are_not_numbers_give_no_reply(folders: list[Path]) -> None:
    policy = load_policy(folders[0])
    with torch.no_grad():
        next(policy.model.parameters()).fill_(torch.nan)
    with pytest.raises(ValueError, match="not finite numbers"):
        sample_replies(policy, [1, 2], n=2, seed=3, temperature=1.0, max_tokens=2)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_computes_what_the_cpu_does(folders: list[Path]) -> None:
    read = partial(load_policy, device="cuda")
    with (
        serve(PolicyCache({"first": folders[0]}, in_memory=1, read=read)) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        choices = ask(client, prompt_logprobs=0)
        # A recorded pass begins anew with each request, and is recorded anew for other numbers.
        assert ask(client, prompt_logprobs=0) == choices
        fewer = ask(client, prompt_logprobs=0, n=3)
        assert ask(client, prompt_logprobs=0) == choices
        for choice in [*choices, *fewer]:
            wanted = expected_logprobs(
                folders[0], choice["prompt_token_ids"], choice["token_ids"], temperature=1
            )
            assert choice["logprobs"]["token_logprobs"] == pytest.approx(wanted, abs=1e-3)
        question = {"role": "user", "content": "How much is 17 and 26?"}
        asked = {"model": "first", "messages": [question], "temperature": 0, "max_tokens": 8}
        assert client.post("/v1/chat/completions", json=asked).status_code == 200


def test_prompt_logprobs_are_those_of_a_plain_forward_pass(
    client: httpx.Client, folders: list[Path]
) -> None:
    [choice] = ask(client, n=1, prompt_logprobs=0)
    first, *others = choice["prompt_logprobs"]
    assert first is None
    prompt = choice["prompt_token_ids"]
    scores = [each[str(token)]["logprob"] for token, each in zip(prompt[1:], others, strict=True)]
    wanted = expected_logprobs(folders[0], prompt[:1], prompt[1:], 1.0)
    assert scores == pytest.approx(wanted, abs=1e-4)


def test_equal_requests_have_equal_answers_whatever_else_runs(client: httpx.Client) -> None:
    alone = ask(client)
    with ThreadPoolExecutor(6) as pool:
        crowd = [pool.submit(ask, client, seed=seed % 3 + 6, n=8) for seed in range(6)]
        answers = [each.result() for each in crowd]
    assert answers[1] == alone
    assert answers[4] == alone
    assert answers[0] == answers[3] != alone


def test_temperature_0_takes_the_likeliest_token(client: httpx.Client) -> None:
    choices = ask(client, temperature=0, n=2, seed=None)
    assert choices[0]["token_ids"] == choices[1]["token_ids"]
    assert choices == ask(client, temperature=0, n=2, seed=3)


def test_replies_follow_the_probabilities(client: httpx.Client) -> None:
    choices = ask(client, n=1024, max_tokens=1)
    firsts = [choice["token_ids"][0] for choice in choices]
    likely = max(set(firsts), key=firsts.count)
    share = firsts.count(likely) / len(firsts)
    at = firsts.index(likely)
    wanted = math.exp(choices[at]["logprobs"]["token_logprobs"][0])
    assert share == pytest.approx(wanted, abs=0.05)


def test_more_replies_than_fit_into_memory_together_are_refused(folders: list[Path]) -> None:
    def read(folder: Path) -> Policy:
        return replace(load_policy(folder), max_positions=2048)

    policies = PolicyCache({"first": folders[0]}, in_memory=1, read=read)
    body = {"model": "first", "prompt": [5], "n": 1024}
    with serve(policies) as url, httpx.Client(base_url=url, timeout=60) as client:
        answer = client.post("/v1/completions", json={**body, "max_tokens": 1024})
        assert answer.status_code == 400
        assert "over this server's 1048576" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"model": "other"}, 404, "The model `other` does not exist (there is: first)"),
        ({"prompt": "text"}, 400, "prompt: 'text' is not of type 'array'"),
        ({"prompt": [1, 9999]}, 400, "Token id 9999 is out of vocabulary"),
        ({"max_tokens": 1000}, 400, "maximum context length is 160 tokens"),
        ({"max_tokens": 0}, 400, "max_tokens: 0 is less than the minimum of 1"),
        ({"n": True}, 400, "n: True is not of type"),
        ({"n": 1025}, 400, "n: 1025 is greater than the maximum of 1024"),
        ({"temperature": -1}, 400, "temperature: -1 is less than the minimum of 0"),
        ({"logprobs": 5}, 400, "logprobs: 5 is not one of [None, 0]"),
        ({"top_p": 0.9}, 400, "top_p: 0.9 is not one of [None, 1]"),
        ({"repetition_penalty": 1.1}, 400, "repetition_penalty: 1.1 is not one of"),
        ({"stop": ["."]}, 400, "stop: ['.'] is not one of"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_sentence(
    client: httpx.Client, change: dict[str, Any], status: int, said: str
) -> None:
    body = {"model": "first", "prompt": [1, 2, 3], "max_tokens": 5} | change
    answer = client.post("/v1/completions", json=body)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert error["code"] == status
    assert said in error["message"]


def test_policies_come_and_go_by_name(client: httpx.Client, folders: list[Path]) -> None:
    first = ask(client)
    for number in (1, 2):
        body = {"lora_name": f"later-{number}", "lora_path": str(folders[number])}
        assert client.post("/v1/load_lora_adapter", json=body).status_code == 200
        again = client.post("/v1/load_lora_adapter", json=body)
        assert again.status_code == 400
        assert "has already been loaded" in again.json()["error"]["message"]
    names = [model["id"] for model in client.get("/v1/models").json()["data"]]
    assert names == ["first", "later-1", "later-2"]
    assert ask(client, model="later-1") != ask(client, model="later-2")
    # Its weights had to make room for the other two, and are read anew.
    assert ask(client) == first
    gone = {"lora_name": "later-1"}
    assert client.post("/v1/unload_lora_adapter", json=gone).status_code == 200
    assert client.post("/v1/unload_lora_adapter", json=gone).status_code == 404
    answer = client.post("/v1/completions", json={"model": "later-1", "prompt": [1]})
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "NotFoundError"


def test_an_adapter_is_served_as_its_base_with_the_adapter_upon_it(
    client: httpx.Client, folders: list[Path], tmp_path: Path
) -> None:
    tuning = {"kind": "lora", "rank": 4, "alpha": 8, "targets": "all-linear"}
    adapted = add_adapter(AutoModelForCausalLM.from_pretrained(folders[0]), tuning, seed=0).eval()
    with torch.no_grad():
        for name, weights in adapted.named_parameters():
            if "lora_B" in name:
                weights.normal_(std=0.1)
    save_policy(adapted, str(folders[0]), folders[0], tmp_path)
    body = {"lora_name": "adapted", "lora_path": str(tmp_path)}
    assert client.post("/v1/load_lora_adapter", json=body).status_code == 200
    assert ask(client, model="adapted") != ask(client)
    [choice] = ask(client, model="adapted", n=1)
    answered = choice["logprobs"]["token_logprobs"]
    wanted = forward(adapted, choice["prompt_token_ids"], choice["token_ids"], 1.0)
    assert answered == pytest.approx(wanted, abs=1e-4)


def test_a_folder_without_a_policy_is_not_named(client: httpx.Client, tmp_path: Path) -> None:
    body = {"lora_name": "empty", "lora_path": str(tmp_path)}
    assert client.post("/v1/load_lora_adapter", json=body).status_code == 404
    (tmp_path / "config.json").write_text("{}")
    broken = client.post("/v1/load_lora_adapter", json=body)
    assert broken.status_code == 400
    assert "'empty' cannot be loaded" in broken.json()["error"]["message"]
    assert len(client.get("/v1/models").json()["data"]) == 1


def test_a_request_whose_client_has_gone_is_dropped(folders: list[Path]) -> None:
    """The first request holds the only thread until the second has hung up."""
    holds, has_hung_up, loaded = threading.Event(), threading.Event(), []

    def load_slowly(folder: Path) -> Policy:
        loaded.append(folder)
        holds.set()
        assert has_hung_up.wait(60)
        return load_policy(folder)

    policies = PolicyCache(
        {"first": folders[0], "second": folders[1]}, in_memory=2, read=load_slowly
    )
    with serve(policies) as url, ThreadPoolExecutor(1) as pool:
        first = pool.submit(httpx.post, f"{url}/tokenize", json=text_for("first"), timeout=60)
        assert holds.wait(60)
        with pytest.raises(httpx.TimeoutException):
            httpx.post(f"{url}/tokenize", json=text_for("second"), timeout=0.2)
        has_hung_up.set()
        assert first.result().status_code == 200
        # The next request is behind the one that was dropped.
        httpx.post(f"{url}/tokenize", json=text_for("first"), timeout=60)
    assert loaded == [folders[0]]


def test_a_process_of_its_own_says_where_it_is_and_answers_the_same(
    client: httpx.Client, folders: list[Path]
) -> None:
    process = subprocess.Popen(
        [*SERVER, "--port", "0", "--model", f"first={folders[0]}"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    with httpx.Client(base_url=json.loads(process.stdout.readline())["url"], timeout=60) as other:
        assert other.get("/health").status_code == 200
        assert ask(other) == ask(client)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
