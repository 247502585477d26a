"""The restarting server as a process, before real policy servers, which it starts and stops."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from select import select
from typing import Any

import httpx
import pytest

from conductor_trainer.checkpoint import Probe, Record
from conductor_trainer.worker.publish import publish, retire
from policies import PROMPT, make_policy

MODULES = os.pathsep.join(sys.path)
POLICY_SERVER = (sys.executable, "-m", "conductor_trainer.policy_server")
# Each start of a server behind writes down its process id, which is how tests find it.
NOTED = ("sh", "-c", 'echo $$ >> "$0"; exec "$@"')
BEHIND = (*POLICY_SERVER, "--port", "{port}", "--model", "{model}={folder}")
# Serves the files of a folder, `health` among them, and is there at once.
SWIFT = ("sh", "-c", 'exec "$0" -m http.server "$1" --directory "$2"', sys.executable)
SWIFT_BEHIND = (*SWIFT, "{port}", "{folder}", "{model}")
RELOADING = Path(__file__).parent / "reloading_server.py"
NAMES = ("one", "two")


@dataclass(frozen=True)
class Outer:
    """A restarting server, and the process ids of what it has started."""

    client: httpx.Client
    process: "subprocess.Popen[str]"
    notes: Path

    def started(self) -> list[int]:
        return [int(line) for line in self.notes.read_text().split()]

    def load(self, name: str, folder: Path) -> httpx.Response:
        body = {"lora_name": name, "lora_path": str(folder)}
        return self.client.post("/v1/load_lora_adapter", json=body)

    def unload(self, name: str) -> httpx.Response:
        return self.client.post("/v1/unload_lora_adapter", json={"lora_name": name})

    def names(self) -> list[str]:
        return [model["id"] for model in self.client.get("/v1/models").json()["data"]]


def start(command: Sequence[str]) -> tuple["subprocess.Popen[str]", httpx.Client]:
    """A server that says its URL on stdout."""
    env = {**os.environ, "PYTHONPATH": MODULES}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    assert process.stdout is not None
    url = json.loads(process.stdout.readline())["url"]
    return process, httpx.Client(base_url=url, timeout=300)


@contextmanager
def restarting(notes: Path, *behind: str, options: Sequence[str] = ()) -> Iterator[Outer]:
    command = [sys.executable, "-m", "conductor_trainer.restarting_server", "--port", "0"]
    process, client = start([*command, *options, "--", *NOTED, str(notes), *behind])
    notes.touch()
    try:
        yield Outer(client, process, notes)
    finally:
        client.close()
        process.terminate()
        assert process.wait(60) == 0


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("policies")
    return {name: make_policy(root / name, seed=seed) for seed, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def alone(folders: dict[str, Path]) -> Iterator[httpx.Client]:
    """A policy server that has both models at once: what should be answered."""
    models = [word for name, folder in folders.items() for word in ("--model", f"{name}={folder}")]
    process, client = start([*POLICY_SERVER, "--port", "0", *models])
    yield client
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def served(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outer]:
    """A restarting server that knows both models."""
    with restarting(tmp_path_factory.mktemp("notes") / "started", *BEHIND) as outer:
        for name, folder in folders.items():
            assert outer.load(name, folder).status_code == 200
        yield outer


def ask(client: httpx.Client, model: str, seed: int = 7) -> Any:
    """Choices of a request for sampled replies, after its prompt was tokenized there."""
    text = {"model": model, "prompt": PROMPT, "add_special_tokens": False}
    tokens = client.post("/tokenize", json=text).json()["tokens"]
    return complete(client, model, tokens, seed)


def complete(client: httpx.Client, model: str, prompt: Sequence[int], seed: int) -> Any:
    answer = client.post("/v1/completions", json=completion(model, prompt) | {"seed": seed})
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json()["model"] == model
    return answer.json()["choices"]


def completion(model: str, prompt: Sequence[int]) -> dict[str, Any]:
    body = {"model": model, "prompt": [*prompt], "n": 4, "temperature": 1, "max_tokens": 40}
    return body | {"logprobs": 0, "return_token_ids": True}


def test_each_model_answers_as_it_does_alone_by_one_server_at_a_time(
    served: Outer, alone: httpx.Client
) -> None:
    answers = {name: ask(served.client, name) for name in reversed(NAMES)}
    assert answers == {name: ask(alone, name) for name in NAMES}
    assert answers["one"] != answers["two"]
    *others, last = started = served.started()
    assert len(started) == 3, "as they were loaded, and back"
    assert [is_alive(pid) for pid in others] == [False, False]
    assert is_alive(last)


def test_who_ask_for_different_models_at_once_are_all_answered_rightly(
    served: Outer, alone: httpx.Client
) -> None:
    asked = [(name, [5, 6, seed], seed) for seed in range(4) for name in NAMES]
    wanted = [complete(alone, *each) for each in asked]
    before = len(served.started())
    with ThreadPoolExecutor(len(asked)) as pool:
        answers = list(pool.map(lambda each: complete(served.client, *each), asked))
    assert answers == wanted
    # One by one it would be seven.
    assert len(served.started()) - before <= 3


def test_a_server_that_was_killed_is_started_by_the_next_request(
    served: Outer, alone: httpx.Client
) -> None:
    ask(served.client, "one")
    killed = served.started()[-1]
    os.kill(killed, signal.SIGKILL)
    # A request may meet it while it dies.
    body = completion("one", [1])
    statuses = iter(lambda: served.client.post("/v1/completions", json=body).status_code, None)
    assert {each for each in takewhile(lambda status: status != 200, statuses)} <= {503}
    assert ask(served.client, "one") == ask(alone, "one")
    assert served.started()[-1] != killed


def test_refusals_of_the_server_behind_come_through(served: Outer, alone: httpx.Client) -> None:
    body = completion("one", [1, 2, 3]) | {"max_tokens": 1000}
    answers = [client.post("/v1/completions", json=body) for client in (served.client, alone)]
    assert answers[0].status_code == answers[1].status_code == 400
    assert answers[0].content == answers[1].content


def test_a_name_that_was_never_loaded_is_unknown(served: Outer) -> None:
    answer = served.client.post("/v1/completions", json=completion("three", [1]))
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["code"]) == (404, "NotFoundError", 404)
    assert "The model `three` does not exist (there is: one, two)" in error["message"]
    assert served.unload("three").status_code == 404


def test_a_name_that_is_taken_is_not_given_to_another_folder(
    served: Outer, folders: dict[str, Path]
) -> None:
    answer = served.load("one", folders["two"])
    assert answer.status_code == 400
    assert "has already been loaded" in answer.json()["error"]["message"]


def test_a_folder_without_a_whole_model_is_not_named(served: Outer, tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    answer = served.load("adapter", tmp_path)
    assert answer.status_code == 404
    assert "No whole model found for 'adapter'" in answer.json()["error"]["message"]
    assert served.names() == [*NAMES]


def test_a_server_that_takes_weights_while_it_runs_is_not_restarted(tmp_path: Path) -> None:
    for name in (*NAMES, "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
    # Anything but weights is read only at a start.
    (tmp_path / "other" / "tokenizer.json").write_text("{}")
    behind = (sys.executable, str(RELOADING), "{port}", "{model}", "{folder}")
    with restarting(tmp_path / "started", *behind) as outer:
        for name in (*NAMES, "other"):
            assert outer.load(name, tmp_path / name).status_code == 200
        assert len(outer.started()) == 2
        for name in (*NAMES, "one"):
            answer = outer.client.post("/v1/completions", json=completion(name, [1])).json()
            assert answer == {"model": name, "choices": [name]}
        assert len(outer.started()) == 3
        # Weights that came out wrong would come out so again, and others, too.
        assert outer.unload("one").status_code == 200
        assert outer.load("one", tmp_path / "one").status_code == 200
        assert len(outer.started()) == 4
        assert complete(outer.client, "two", [1], 7) == ["two"]
        assert len(outer.started()) == 5


def test_while_it_sleeps_nothing_runs_behind_it_and_requests_wait(
    alone: httpx.Client, folders: dict[str, Path], tmp_path: Path
) -> None:
    with restarting(tmp_path / "started", *BEHIND) as outer, ThreadPoolExecutor() as pool:
        assert outer.load("one", folders["one"]).status_code == 200
        assert outer.client.get("/is_sleeping").json() == {"is_sleeping": False}
        for _ in range(2):
            assert outer.client.post("/sleep?level=1", json={}).status_code == 200
        assert outer.client.get("/is_sleeping").json() == {"is_sleeping": True}
        (pid,) = outer.started()
        assert not Path(f"/proc/{pid}").exists()
        asked = pool.submit(ask, outer.client, "one")
        for _ in range(2):
            assert outer.client.post("/wake_up", json={}).status_code == 200
        assert asked.result() == ask(alone, "one")
        assert len(outer.started()) == 2


@pytest.mark.anyio
async def test_the_trainer_publishes_probes_and_retires_through_it(
    served: Outer, alone: httpx.Client, tmp_path: Path
) -> None:
    url = f"{served.client.base_url}/v1"
    for seed, name in enumerate(("000001", "000002")):
        record = write_checkpoint(tmp_path / name, seed, alone)
        result = await publish(record, publishing(name, url))
        assert result == {"model": f"run-{name}", "logprobGap": 0, "leftOut": []}
    assert served.names() == [*NAMES, "run-000001", "run-000002"]
    # The name of the second has its weights; the first's are loaded in their place.
    record = write_checkpoint(tmp_path / "000003", 0, alone)
    result = await publish(record, publishing("000002", url))
    assert result == {"model": "run-000002", "logprobGap": 0, "leftOut": []}
    keep = ["000002"]
    retired = await retire({"trainRun": "run", "keep": keep, "servers": [url]})
    assert retired == {"retired": ["run-000001"]}
    assert served.names() == [*NAMES, "run-000002"]
    served.unload("run-000002")


def test_a_model_that_cannot_be_served_is_told_why_and_is_not_named(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    behind = ("sh", "-c", "echo {model} has no layer 7 >&2; exit 3", "{port}", "{folder}")
    with restarting(tmp_path / "started", *behind) as outer:
        answer = outer.load("one", folders["one"])
        assert outer.names() == []
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (503, "ServiceUnavailableError")
    assert "The server for `one` ended with status 3." in error["message"]
    assert "Its last output: one has no layer 7" in error["message"]


def test_a_command_that_is_not_there_is_named(folders: dict[str, Path], tmp_path: Path) -> None:
    program = [sys.executable, "-m", "conductor_trainer.restarting_server", "--port", "0", "--"]
    process, client = start([*program, "no-such-server", "{port}", "{model}", "{folder}"])
    with client:
        answer = Outer(client, process, tmp_path).load("one", folders["one"])
    process.terminate()
    assert process.wait(60) == 0
    assert answer.status_code == 503
    assert "no-such-server cannot be started" in answer.json()["error"]["message"]


def test_a_server_that_never_gets_ready_is_given_up(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    """Even where it does not hear that it should stop."""
    behind = ("sh", "-c", 'trap "" TERM; echo loading {folder}; sleep 600', "{port}", "{model}")
    limits = ["--start-limit", "4", "--grace", "0"]
    with restarting(tmp_path / "started", *behind, options=limits) as outer:
        answer = outer.load("one", folders["one"])
        [pid] = outer.started()
        assert not is_alive(pid)
    message = answer.json()["error"]["message"]
    assert "was not ready after 4 s" in message
    assert f"loading {folders['one']}" in message


def test_who_waits_for_a_model_when_it_ends_may_try_again(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    behind = ("sh", "-c", "exec sleep 600", "{port}", "{model}", "{folder}")
    with (
        restarting(tmp_path / "started", *behind) as outer,
        ThreadPoolExecutor() as pool,
    ):
        asked = pool.submit(outer.load, "one", folders["one"])
        while not outer.started():
            assert not asked.done()
        outer.process.terminate()
        answer = asked.result()
    assert answer.status_code == 503
    assert "This server is ending" in answer.json()["error"]["message"]


def test_a_name_loaded_again_is_started_anew(tmp_path: Path) -> None:
    """The folder may hold other weights by then."""
    (tmp_path / "health").touch()
    (tmp_path / "config.json").touch()
    with restarting(tmp_path / "started", *SWIFT_BEHIND) as outer:
        assert outer.load("one", tmp_path).status_code == 200
        assert outer.unload("one").status_code == 200
        assert outer.names() == []
        assert outer.load("one", tmp_path).status_code == 200
        assert len(outer.started()) == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_it_started_ends_with_it(tmp_path: Path, number: signal.Signals) -> None:
    """Also a child that does not hear. A pipe that all hold open tells when they are gone."""
    for name in ("config.json", "health"):
        (tmp_path / name).touch()
    held = tmp_path / "held"
    os.mkfifo(held)
    reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    holding = ("sh", "-c", 'exec 9> "$0"; (trap "" TERM; exec sleep 600) & exec "$@"', str(held))
    command = [sys.executable, "-m", "conductor_trainer.restarting_server", "--port", "0", "--"]
    process, client = start([*command, *holding, *SWIFT_BEHIND])
    with client:
        assert Outer(client, process, held).load("one", tmp_path).status_code == 200
    process.send_signal(number)
    assert process.wait(60) == (0 if number is signal.SIGTERM else -number)
    assert select([reader], [], [], 60)[0] == [reader]
    assert os.read(reader, 1) == b""
    os.close(reader)


@pytest.mark.parametrize(
    ("command", "said"), [(BEHIND[:-2], "{model} and no {folder}"), (BEHIND[5:], "{port}")]
)
def test_a_command_that_leaves_something_out_is_refused(command: Sequence[str], said: str) -> None:
    program = [sys.executable, "-m", "conductor_trainer.restarting_server", "--", *command]
    env = {**os.environ, "PYTHONPATH": MODULES}
    ended = subprocess.run(program, stderr=subprocess.PIPE, text=True, env=env)
    assert ended.returncode == 2
    assert f"the command has no {said}" in ended.stderr


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def publishing(name: str, url: str) -> Any:
    checkpoint = {"trainRun": "run", "name": name}
    return {"checkpoint": checkpoint, "servers": [url], "tolerance": 1e-6}


def write_checkpoint(folder: Path, seed: int, alone: httpx.Client) -> Record:
    """A whole policy of that seed, with what a policy server alone says of its probe."""
    make_policy(folder, seed=seed)
    tokens = [1, 40, 41, 42, 2]
    body = completion(NAMES[seed], tokens) | {"prompt_logprobs": 0}
    [_, *told] = alone.post("/v1/completions", json=body).json()["choices"][0]["prompt_logprobs"]
    logprobs = [told[at][str(token)]["logprob"] for at, token in enumerate(tokens[1:])]
    made: dict[str, Any] = {"identity": "", "kind": "model", "base": "", "weightsSha256": ""}
    made |= {"tokenizerSha256": "", "vocabulary": 320, "step": 0, "config": {}}
    return Record(**made, folder=str(folder), probe=Probe(tokens, logprobs))
