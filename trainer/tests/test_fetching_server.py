"""The fetching server as a process, before a real policy server that knows no artifacts."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from select import select

import httpx
import pytest

from conductor_trainer.artifacts import open_artifacts
from conductor_trainer.checkpoint import RESULT_FILE, Probe, Record
from conductor_trainer.checkpoint_cache import CheckpointCache
from policies import PROMPT, make_policy
from tiny_run import RUN, checkpoint

PLACE = f"{RUN}/000001/model"


@contextmanager
def running(module: str, *options: str) -> Iterator[httpx.Client]:
    command = [sys.executable, "-m", f"conductor_trainer.{module}", "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        url = json.loads(process.stdout.readline())["url"]
        with httpx.Client(base_url=url, timeout=300) as client:
            yield client
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds artifacts with six checkpoints of one policy."""
    root = tmp_path_factory.mktemp("fetching")
    cache = CheckpointCache(root / "trainer", open_artifacts(str(root / "artifacts")), most=9)
    for cycle in range(1, 7):
        name = checkpoint(f"{cycle:06}")
        made = cache.root / RUN / name["name"]
        make_policy(made / "model", seed=1)
        place = f"{RUN}/{name['name']}/model"
        probe = Probe([1, 2], [-0.5])
        record = Record("", "model", place, place, "", "", 320, 0, probe, {})  # pyright: ignore
        (made / RESULT_FILE).write_text(record.to_json())
        cache.keep(name)
    shutil.copytree(cache.root / PLACE, root / "beside")
    shutil.rmtree(cache.root)
    return root


@pytest.fixture(scope="module")
def servers(folder: Path) -> Iterator[Sequence[httpx.Client]]:
    """The one in front, and the one behind."""
    places = ["--artifacts", str(folder / "artifacts"), "--checkpoints", str(folder / "cache")]
    with ExitStack() as stack:
        model = f"beside={folder / 'beside'}"
        behind = stack.enter_context(running("policy_server", "--model", model))
        upstream = str(behind.base_url)
        options = ["--upstream", upstream, "--cached", "1", *places]
        yield stack.enter_context(running("fetching_server", *options)), behind


def load(client: httpx.Client, name: str, place: str) -> httpx.Response:
    body = {"lora_name": name, "lora_path": place}
    return client.post("/v1/load_lora_adapter", json=body)


def cached(folder: Path) -> list[str]:
    return sorted(path.parent.name for path in (folder / "cache").glob(f"*/*/{RESULT_FILE}"))


def test_what_is_loaded_is_fetched_and_asked_of_the_server_behind(
    servers: Sequence[httpx.Client],
) -> None:
    front, behind = servers
    assert load(behind, "one", PLACE).status_code == 404, "it knows no artifacts"
    assert load(front, "one", PLACE).status_code == 200
    assert front.get("/v1/models").json() == behind.get("/v1/models").json()
    body = {"model": "one", "prompt": PROMPT, "add_special_tokens": False}
    tokens = front.post("/tokenize", json=body).json()["tokens"]
    asked = {"prompt": tokens, "n": 2, "seed": 7, "temperature": 1, "max_tokens": 20}
    replies = [
        client.post("/v1/completions", json={**asked, "model": model}).json()["choices"]
        for client, model in ((front, "one"), (behind, "beside"))
    ]
    assert replies[0] == replies[1]


def test_what_is_loaded_stays_until_it_is_unloaded(
    servers: Sequence[httpx.Client], folder: Path
) -> None:
    front, _ = servers
    for cycle in (2, 3, 4):
        assert load(front, f"model-{cycle}", f"{RUN}/{cycle:06}/model").status_code == 200
    assert {"000002", "000003", "000004"} <= {*cached(folder)}
    for cycle in (2, 3, 4):
        body = {"lora_name": f"model-{cycle}"}
        assert front.post("/v1/unload_lora_adapter", json=body).status_code == 200
    assert len(cached(folder)) <= 2


def test_what_is_not_there_and_what_the_server_refuses_is_told(
    servers: Sequence[httpx.Client], folder: Path
) -> None:
    front, _ = servers
    missing = load(front, "nine", f"{RUN}/000009/model")
    assert missing.status_code == 404
    assert "no checkpoint night/000009 in /" in missing.json()["error"]["message"]
    assert load(front, "again", f"{RUN}/000005/model").status_code == 200
    refused = load(front, "again", f"{RUN}/000005/model")
    assert refused.status_code == 400
    assert "already been loaded" in refused.json()["error"]["message"]
    assert front.get("/metrics").status_code == 404


def test_a_server_behind_that_is_away_is_waited_for_by_clients(folder: Path) -> None:
    places = ["--artifacts", str(folder / "artifacts"), "--checkpoints", str(folder / "cache")]
    with running("fetching_server", "--upstream", "http://127.0.0.1:9", *places) as front:
        answer = front.get("/v1/models")
    assert answer.status_code == 503
    assert "http://127.0.0.1:9, broke off /v1/models" in answer.json()["error"]["message"]


# A server that is there at once, writes down its process id, and serves the files of a folder.
SWIFT = ("sh", "-c", 'echo $$ > "$1/pid"; exec "$0" -m http.server "$2" --directory "$1"')


@contextmanager
def in_front_of(folder: Path, *command: str) -> Iterator["subprocess.Popen[str]"]:
    places = ["--artifacts", str(folder / "artifacts"), "--checkpoints", str(folder / "cache")]
    module = [sys.executable, "-m", "conductor_trainer.fetching_server", "--port", "0", *places]
    pipe = subprocess.PIPE
    options = [*module, "--end-with-stdin", "--", *command]
    with subprocess.Popen(options, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def before_a_swift_one(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """A fetching server, and the process id of the server that it has started."""
    (folder / "health").touch()
    with in_front_of(folder, *SWIFT, sys.executable, str(folder), "{port}") as front:
        assert front.stdout is not None
        assert "url" in json.loads(front.stdout.readline())
        yield front, int((folder / "pid").read_text())


def ended(process: int) -> bool:
    """Waits until a process that is no child of this one has ended."""
    try:
        watched = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select([watched], [], [], 60)[0])
    finally:
        os.close(watched)


@pytest.mark.parametrize("how", ["asked", "killed"])
def test_a_server_that_it_starts_ends_with_it(tmp_path: Path, how: str) -> None:
    with before_a_swift_one(tmp_path) as (front, behind):
        assert front.stdin is not None
        if how == "killed":
            front.kill()
        else:
            front.stdin.close()
        assert ended(behind)
        assert front.wait(60) == (-signal.SIGKILL if how == "killed" else 0)


def test_it_ends_with_a_server_that_it_started_so_that_both_start_again(tmp_path: Path) -> None:
    with before_a_swift_one(tmp_path) as (front, behind):
        os.kill(behind, signal.SIGKILL)
        assert front.wait(60) == 1
        assert front.stderr is not None
        *_, last = front.stderr.read().splitlines()
        assert last.startswith(f"vLLM ended with status {128 + signal.SIGKILL}: ")


def test_both_go_on_and_end_whether_or_not_their_lines_are_read(tmp_path: Path) -> None:
    with before_a_swift_one(tmp_path) as (front, behind):
        assert front.stderr is not None
        front.stderr.close()
        os.kill(behind, signal.SIGKILL)
        assert front.wait(60) == 1
    loud = "print('one of its lines\\n' * 10_000)"
    with in_front_of(tmp_path, sys.executable, "-c", loud, "{port}") as front:
        assert front.stderr is not None
        front.stderr.close()
        assert front.wait(60) != 0


FAILING = """
print("INFO: a limit may cause errors like `OSError: too many`")
print("(Worker pid=7) ERROR 11-30 09:22:48 [executor.py:10] ValueError: no memory is left")
raise RuntimeError("the engine failed, see above")
"""


def test_why_a_server_did_not_start_is_its_first_error_in_one_sentence(tmp_path: Path) -> None:
    with in_front_of(tmp_path, sys.executable, "-c", FAILING, "{port}") as front:
        assert front.wait(60) == 1
        assert front.stderr is not None
        *lines, last = front.stderr.read().splitlines()
    assert lines[0].startswith("vLLM: INFO: a limit"), "forwarded under its name"
    assert last == (
        "The fetching server cannot start: vLLM ended with status 1 before it was ready: "
        "ValueError: no memory is left"
    )


@pytest.mark.parametrize(
    "options, told",
    [
        ([], "give either --upstream, or after -- a command that starts vLLM"),
        (["--upstream", "http://127.0.0.1:9", "--", "vllm", "{port}"], "give either --upstream"),
        (["--", "vllm", "serve"], "the command has no {port}"),
    ],
)
def test_one_server_is_behind_it(options: Sequence[str], told: str) -> None:
    module = [sys.executable, "-m", "conductor_trainer.fetching_server", "--port", "0"]
    places = ["--artifacts", "artifacts", "--checkpoints", "cache"]
    refused = subprocess.run([*module, *places, *options], capture_output=True, text=True)
    assert refused.returncode == 2
    assert told in refused.stderr
