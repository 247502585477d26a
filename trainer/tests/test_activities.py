"""Checkpoints on the disk and in a real policy server, as the activities of the worker see them."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment
from transformers import AutoModelForCausalLM, AutoTokenizer

from conductor_trainer.artifacts import Artifacts, open_artifacts, stored_file
from conductor_trainer.checkpoint import RESULT_FILE, Probe, Record, identity_of
from conductor_trainer.checkpoint_cache import CheckpointCache
from conductor_trainer.http_answers import locate_in
from conductor_trainer.model import logprobs_of
from conductor_trainer.policy_server.policy_cache import PolicyCache
from conductor_trainer.policy_server.service import PolicyService
from conductor_trainer.step.runner import StepRunner
from conductor_trainer.worker.activities import Allowed, TrainerActivities
from policies import PROMPT, make_policy
from serving import serving
from test_contract import read_golden
from tiny_run import config_of

pytestmark = pytest.mark.anyio

RUN = "night-shift"


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_policy(tmp_path_factory.mktemp("policy"), seed=1)


@pytest.fixture(scope="module")
def record(policy: Path) -> Record:
    """Record of a checkpoint with the weights of `policy`."""
    ids = AutoTokenizer.from_pretrained(policy).encode(PROMPT, add_special_tokens=False)
    model = AutoModelForCausalLM.from_pretrained(policy, dtype=torch.float32).eval()
    with torch.no_grad():
        logprobs_TV = torch.log_softmax(model(torch.tensor([ids])).logits[0, :-1], -1)
    scores = [float(row[token]) for row, token in zip(logprobs_TV, ids[1:], strict=True)]
    config = read_golden("updateRequest")["payload"]["config"]
    digest = "ab" * 32
    probe = Probe(ids, scores)
    folder = str(policy)
    return Record(digest, "model", folder, folder, digest, digest, 400, 1, probe, config)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Base URL of a policy server that knows nothing yet, with a folder of its own."""
    torch.set_num_threads(1)
    locate = locate_in(CheckpointCache(tmp_path / ".server", artifacts_of(tmp_path), most=4))
    policies = PolicyCache({}, in_memory=4, locate=locate)
    with serving(PolicyService(policies).routes) as url:
        yield f"{url}/v1"


@pytest.fixture
def activities(tmp_path: Path, server: str) -> TrainerActivities:
    return activities_with(tmp_path, Allowed((server, "http://127.0.0.1:9/v1/"), tmp_path / "out"))


def activities_with(root: Path, allowed: Allowed) -> TrainerActivities:
    cache = CheckpointCache(root, artifacts_of(root), most=4)
    fetch = partial(stored_file, artifacts_of(root), None)
    return TrainerActivities(cache, fetch, StepRunner(root), allowed)


def artifacts_of(root: Path) -> Artifacts:
    return open_artifacts(str(root / ".artifacts"))


def keep(root: Path, name: str, record: Record) -> Path:
    """Has it lie among the artifacts and ready, with the weights that the record names."""
    folder = root / RUN / name
    shutil.copytree(record.folder, folder / "model")
    place = f"{RUN}/{name}/model"
    kept = replace(record, folder=place, base=place)
    (folder / RESULT_FILE).write_text(kept.to_json())
    CheckpointCache(root, artifacts_of(root), most=4).keep({"trainRun": RUN, "name": name})
    return folder


async def fail(work: Any, request: Any, attempt: int = 1) -> ApplicationError:
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, attempt=attempt)
    with pytest.raises(ApplicationError) as caught:
        await environment.run(work, request)
    return caught.value


def name_of(checkpoint: str) -> dict[str, str]:
    return {"trainRun": RUN, "name": checkpoint}


def publish_request(*servers: str, tolerance: float = 1e-4) -> dict[str, Any]:
    return {"checkpoint": name_of("000001"), "servers": list(servers), "tolerance": tolerance}


async def test_what_does_not_fit_into_memory_is_refused_ahead(
    tmp_path: Path, activities: TrainerActivities, record: Record
) -> None:
    keep(tmp_path, "000001", record)
    request: Any = {"checkpoint": name_of("000001"), "config": config_of()}
    assert await ActivityEnvironment().run(activities.preflight, request) == {"leftOut": []}
    request["config"]["maxPromptTokens"] = 10**9
    error = await fail(activities.preflight, request)
    assert (error.type, error.non_retryable) == ("Trainer.OutOfMemory", True)
    assert "for activations" in error.message


async def test_what_a_night_will_keep_must_fit_its_disks(
    tmp_path: Path, activities: TrainerActivities, record: Record
) -> None:
    keep(tmp_path, "000001", record)
    request: Any = {"checkpoint": name_of("000001"), "config": config_of(), "cycles": 30}
    assert await ActivityEnvironment().run(activities.preflight, request) == {"leftOut": []}
    error = await fail(activities.preflight, request | {"cycles": 10**12})
    assert (error.type, error.non_retryable) == ("Trainer.DiskFull", True)
    assert "This night's 1000000000000 checkpoints need" in error.message
    assert f"on the disk of {artifacts_of(tmp_path).url} (" in error.message


async def test_log_probabilities_that_ignore_the_temperature_are_refused_ahead(
    tmp_path: Path, record: Record
) -> None:
    keep(tmp_path, "000001", record)
    folder = tmp_path / RUN / "000001/model"
    request: Any = {"checkpoint": name_of("000001"), "config": config_of()}
    policies = PolicyCache({f"{RUN}-000001": folder}, in_memory=1)
    routes = PolicyService(policies).routes
    complete = routes["POST /v1/completions"]

    async def complete_as_vllm_by_default(body: Any, asked: Any) -> Any:
        answer: Any = await complete(body, asked)
        for choice in answer["choices"] if "logprobs" in body else []:
            ids = body["prompt"] + choice["token_ids"]
            raw = logprobs_of(policies.find(body["model"]).model, ids)[-1]
            choice["logprobs"]["token_logprobs"] = [raw]
        return answer

    for complete_so, is_right in ((complete, True), (complete_as_vllm_by_default, False)):
        with serving({**routes, "POST /v1/completions": complete_so}) as url:
            activities = activities_with(tmp_path, Allowed((f"{url}/v1",), None))
            asked = request | {"servers": [f"{url}/v1"]}
            if is_right:
                assert await ActivityEnvironment().run(activities.preflight, asked) == {
                    "leftOut": []
                }
                continue
            published = publish_request(f"{url}/v1")
            for work, given in ((activities.preflight, asked), (activities.publish, published)):
                error = await fail(work, given)
                assert (error.type, error.non_retryable) == ("Trainer.ServerRefused", True)
                assert "--logprobs-mode=processed_logprobs" in error.message


async def test_a_server_that_writes_other_prompts_is_refused_ahead(
    tmp_path: Path, record: Record
) -> None:
    keep(tmp_path, "000001", record)
    folder = tmp_path / RUN / "000001/model"
    text = json.dumps([{"role": "user", "content": "How much is 17 and 26?"}]).encode()
    prompts = {"key": "prompts.jsonl", "sha256": sha256(text).hexdigest()}
    artifacts_of(tmp_path).write(prompts["key"], text)
    policies = PolicyCache({f"{RUN}-000001": folder}, in_memory=1)
    with serving(PolicyService(policies).routes) as url:
        activities = activities_with(tmp_path, Allowed((f"{url}/v1",), None))
        request: Any = {"checkpoint": name_of("000001"), "config": config_of()}
        request |= {"servers": [f"{url}/v1"], "prompts": prompts}
        assert await ActivityEnvironment().run(activities.preflight, request) == {"leftOut": []}
        error = await fail(
            activities.preflight, {**request, "config": config_of(thinking="masked")}
        )
        assert (error.type, error.non_retryable) == ("Trainer.ModelInvalid", True)
        tokenizer: Any = policies.find(f"{RUN}-000001").tokenizer
        tokenizer.chat_template += "Well,"
        error = await fail(activities.preflight, request)
    assert (error.type, error.non_retryable) == ("Trainer.ServerRefused", True)
    assert "writes prompt 1 of 1 ('How much is 17 and 26?')" in error.message
    assert "it has token" in error.message
    assert "the trainer no token" in error.message


async def test_an_answer_that_cannot_be_read_is_left_to_those_who_need_it(
    tmp_path: Path, record: Record
) -> None:
    keep(tmp_path, "000001", record)

    async def answer(_body: Any, _request: Any) -> Any:
        return {"data": [{"id": f"{RUN}-000001"}], "choices": "none"}

    with serving({"GET /v1/models": answer, "POST /v1/completions": answer}) as url:
        activities = activities_with(tmp_path, Allowed((f"{url}/v1",), None))
        request: Any = {"checkpoint": name_of("000001"), "config": config_of()}
        request["servers"] = [f"{url}/v1"]
        result = await ActivityEnvironment().run(activities.preflight, request)
        assert result == {"leftOut": []}


async def test_a_night_is_not_refused_because_its_server_is_away(
    tmp_path: Path, activities: TrainerActivities, record: Record
) -> None:
    keep(tmp_path, "000001", record)
    request: Any = {"checkpoint": name_of("000001"), "config": config_of()}
    request["servers"] = ["http://127.0.0.1:9/v1"]
    assert await ActivityEnvironment().run(activities.preflight, request) == {"leftOut": []}


async def test_a_checkpoint_is_published_and_proven_again_and_again(
    tmp_path: Path, activities: TrainerActivities, record: Record, server: str
) -> None:
    keep(tmp_path, "000001", record)
    phases: list[Any] = []
    environment = ActivityEnvironment()
    environment.on_heartbeat = lambda *details: phases.append(details)
    for _ in range(2):
        result = await environment.run(activities.publish, publish_request(server))
        assert result["model"] == "night-shift-000001"
        assert result["logprobGap"] < 1e-4
    # A phase that lasts is told again and again.
    told = [phase for phase, _ in groupby(phases)]
    assert told == [({"phase": phase},) for phase in ("fetching", "publishing")] * 2


async def test_a_server_of_other_weights_by_that_name_is_given_the_right_ones(
    tmp_path: Path,
    activities: TrainerActivities,
    record: Record,
    server: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    other = make_policy(tmp_path_factory.mktemp("other"), seed=2)
    body = {"lora_name": "night-shift-000001", "lora_path": str(other)}
    httpx.post(f"{server}/load_lora_adapter", json=body).raise_for_status()
    keep(tmp_path, "000001", record)
    result = await ActivityEnvironment().run(activities.publish, publish_request(server))
    assert result["logprobGap"] < 1e-4


async def test_what_a_server_says_decides_whether_to_try_again(
    tmp_path: Path, activities: TrainerActivities, record: Record, server: str
) -> None:
    missing = await fail(activities.publish, publish_request(server))
    assert (missing.type, missing.non_retryable) == ("Trainer.CheckpointMissing", True)
    (tmp_path / ".empty").mkdir()
    (tmp_path / ".empty" / "tokenizer.json").touch()
    keep(tmp_path, "000001", replace(record, folder=str(tmp_path / ".empty")))
    refused = await fail(activities.publish, publish_request(server))
    assert (refused.type, refused.non_retryable) == ("Trainer.ServerRefused", True)
    away = await fail(activities.publish, publish_request("http://127.0.0.1:9/v1"))
    assert (away.type, away.non_retryable) == ("Trainer.ServerUnavailable", False)
    assert "http://127.0.0.1:9/v1 cannot be reached" in away.message


async def test_retire_unloads_what_is_not_kept_and_nothing_of_other_runs(
    activities: TrainerActivities, record: Record, server: str
) -> None:
    models = [f"{RUN}-000001", f"{RUN}-000002", f"{RUN}-warm", f"{RUN}-2-000001"]
    for model in models:
        body = {"lora_name": model, "lora_path": record.folder}
        httpx.post(f"{server}/load_lora_adapter", json=body).raise_for_status()
    request = {"trainRun": RUN, "keep": ["000002"], "servers": [server]}
    result = await ActivityEnvironment().run(activities.retire, request)
    assert result == {"retired": [f"{RUN}-000001", f"{RUN}-warm"]}
    left = httpx.get(f"{server}/models").json()["data"]
    assert [model["id"] for model in left] == [f"{RUN}-000002", f"{RUN}-2-000001"]


async def test_a_server_that_the_command_line_does_not_name_is_never_asked(
    tmp_path: Path, record: Record, server: str
) -> None:
    activities = activities_with(tmp_path, Allowed(("http://127.0.0.1:9/v1",), None))
    keep(tmp_path, "000001", record)
    retire = {"trainRun": RUN, "keep": [], "servers": ["http://127.0.0.1:9/v1", server]}
    for work, request in (
        (activities.publish, publish_request(server)),
        (activities.publish, publish_request("http://127.0.0.1:9/v1", f"{server}/../../v1")),
        (activities.retire, retire),
    ):
        error = await fail(work, request)
        assert (error.type, error.non_retryable) == ("Trainer.BadRequest", True)
        assert f"{request['servers'][-1]} is not among the policy servers" in error.message
        assert "--allow-server" in error.message
    assert httpx.get(f"{server}/models").json()["data"] == []


@pytest.mark.parametrize(
    "directory", ["../away", "out/../elsewhere", "out", "outside", "out/link/elsewhere"]
)
async def test_an_export_stays_below_the_folder_of_the_command_line(
    directory: str, tmp_path: Path, record: Record, activities: TrainerActivities
) -> None:
    keep(tmp_path, "000001", record)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "link").symlink_to(tmp_path)
    request = export_request(tmp_path / directory)
    error = await fail(activities.export, request)
    assert (error.type, error.non_retryable) == ("Trainer.BadRequest", True)
    assert f"must be below {tmp_path / 'out'}" in error.message
    assert sorted(path.name for path in tmp_path.glob("[!.]*")) == [RUN, "out"]


async def test_without_a_folder_for_exports_there_are_none(tmp_path: Path, record: Record) -> None:
    keep(tmp_path, "000001", record)
    error = await fail(
        activities_with(tmp_path, Allowed((), None)).export, export_request(tmp_path / "out" / "it")
    )
    assert error.type == "Trainer.BadRequest"
    assert "start the trainer with --export-root" in error.message


@pytest.mark.parametrize(
    ("path", "roots"),
    [
        ("models/good", []),
        ("models/good", ["models/goo", "other"]),
        ("models/../secrets", ["models"]),
        ("models/link", ["models"]),
        (".", ["models"]),
    ],
)
async def test_a_base_model_lies_below_a_folder_of_the_command_line(
    path: str, roots: list[str], tmp_path: Path
) -> None:
    for folder in ("models/good", "secrets", "other"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "models" / "link").symlink_to(tmp_path / "secrets")
    allowed = Allowed((), None, [tmp_path / root for root in roots])
    error = await fail(activities_with(tmp_path, allowed).init, init_request(tmp_path / path))
    assert (error.type, error.non_retryable) == ("Trainer.BadRequest", True)
    assert "start the trainer with --base-root" in error.message


@pytest.mark.parametrize("root", ["models", "models/good"])
def test_a_base_model_may_be_such_a_folder_or_lie_below_it(root: str, tmp_path: Path) -> None:
    (tmp_path / "models" / "good").mkdir(parents=True)
    Allowed((), None, [tmp_path / root]).check_base(str(tmp_path / "models" / "good"))


def init_request(path: Path) -> dict[str, Any]:
    return {
        "trainRun": RUN,
        "base": {"kind": "folder", "path": str(path)},
        "config": config_of(),
    }


def export_request(directory: Path) -> dict[str, Any]:
    return {
        "checkpoint": {"trainRun": RUN, "name": "000001"},
        "directory": str(directory),
    }


async def test_collect_removes_old_cycles_and_never_what_is_kept(
    tmp_path: Path, activities: TrainerActivities, record: Record
) -> None:
    for name in ("base", "warm", *(f"{cycle:06}" for cycle in range(1, 9))):
        (keep(tmp_path, name, record) / "weights").write_bytes(bytes(1000))
    # Leftover of a collection that was killed halfway.
    (tmp_path / RUN / ".going-000000").mkdir()
    request = {"trainRun": RUN, "keep": ["000002", "000004", "000007", "000008"]}
    result = await ActivityEnvironment().run(activities.collect, request)
    assert result["removed"] == ["000001", "000003", "000005", "000006"]
    assert result["bytes"] > 4000
    left = sorted(path.name for path in (tmp_path / RUN).glob("[!.]*"))
    assert left == ["000002", "000004", "000007", "000008", "base", "warm"]
    again = await ActivityEnvironment().run(activities.collect, request)
    assert again == {"removed": [], "bytes": 0}


async def test_an_unknown_error_is_tried_three_times(
    tmp_path: Path, activities: TrainerActivities, record: Record
) -> None:
    keep(tmp_path, "000001", record)
    # Makes the collection fail: it expects a folder here.
    (tmp_path / RUN / ".going-000001").write_text("")
    request = {"trainRun": RUN, "keep": []}
    errors = [await fail(activities.collect, request, attempt) for attempt in (1, 2, 3)]
    assert {error.type for error in errors} == {"Trainer.Failed"}
    assert [error.non_retryable for error in errors] == [False, False, True]
    assert "NotADirectoryError" in str(errors[0])


async def test_a_broken_request_is_refused_before_anything_is_done(
    activities: TrainerActivities,
) -> None:
    for work in activities.all:
        error = await fail(work, {"trainRun": "Night Shift"})
        assert error.type == "Trainer.BadRequest"
        assert error.non_retryable


async def test_a_batch_that_is_not_the_one_asked_for_never_reaches_a_step(
    tmp_path: Path, activities: TrainerActivities, record: Record
) -> None:
    keep(tmp_path, "warm", record)
    request = read_golden("updateRequest")["payload"]
    request["parent"] = {"trainRun": RUN, "name": "warm"}
    gone = await fail(activities.update, request)
    assert (gone.type, gone.non_retryable) == ("Trainer.NotInArtifacts", True)
    artifacts_of(tmp_path).write(request["batch"]["key"], b"another batch")
    altered = await fail(activities.update, request)
    assert (altered.type, altered.non_retryable) == ("Trainer.BatchInvalid", True)


async def test_servers_that_share_the_gpu_sleep_during_a_step(
    tmp_path: Path, record: Record
) -> None:
    keep(tmp_path, "000001", record)
    told: list[str] = []

    def tell(route: str, answer: Any) -> Any:
        async def heard(_body: Any, request: Any) -> Any:
            told.append(f"{route} {request.url.query}".strip())
            return answer()

        return heard

    def is_sleeping() -> Any:
        asleep = [each for each in told if each.split()[0] in ("sleep", "wake_up")][-1:]
        return {"is_sleeping": asleep == ["sleep level=1"]}

    routes = {
        "GET /is_sleeping": tell("is_sleeping", is_sleeping),
        "POST /sleep": tell("sleep", dict),
        "POST /wake_up": tell("wake_up", dict),
    }
    with serving(routes) as url, serving({}) as without:
        servers = [f"{url}/v1", f"{without}/v1", "http://127.0.0.1:9/v1"]
        activities = activities_with(tmp_path, Allowed(servers, None))
        request: Any = {"checkpoint": name_of("000001"), "config": config_of()}
        # One that is away occupies no memory.
        request["asleep"] = [servers[0], servers[2]]
        attempts = [ActivityEnvironment().run(activities.preflight, request) for _ in range(2)]
        await asyncio.gather(*attempts)
        # Whoever waits for a turn has not put them to sleep: the step before wakes them.
        assert told == ["is_sleeping", "sleep level=1", "is_sleeping", "wake_up"] * 2
        # Whatever fails, those that sleep are woken.
        error = await fail(activities.preflight, {**request, "asleep": servers[:2]})
        assert (error.type, error.non_retryable) == ("Trainer.ServerRefused", True)
        assert f"{servers[1]} has no sleep mode" in error.message
        assert told[-1] == "wake_up"


def test_which_servers_sleep_does_not_change_what_is_made() -> None:
    request = {"trainRun": RUN}
    assert identity_of("update", {**request, "asleep": ["a"]}) == identity_of("update", request)
