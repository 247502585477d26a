"""Checkpoints go through the artifacts from one machine to another, here from folder to folder."""

import json
import os
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conductor_trainer.artifacts import Artifacts, open_artifacts
from conductor_trainer.checkpoint import (
    MOMENTS_FOLDER,
    RESULT_FILE,
    TRAINER_FOLDER,
    Probe,
    Record,
    make_checkpoint,
)
from conductor_trainer.checkpoint_cache import CheckpointCache
from conductor_trainer.contract import CheckpointName
from conductor_trainer.errors import BadRequest, CheckpointMissing, CheckpointUnreadable
from conductor_trainer.policy_server.policy_cache import load_policy
from tiny_run import LORA, RUN, begin, checkpoint, config_of

ONE = checkpoint("000001")
MB = 1 << 20
MOMENTS = f"{TRAINER_FOLDER}/{MOMENTS_FOLDER}"


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    return open_artifacts(str(tmp_path / "artifacts"))


@pytest.fixture
def one(artifacts: Artifacts, tmp_path: Path) -> CheckpointCache:
    return CheckpointCache(tmp_path / "one", artifacts, most=4)


@pytest.fixture
def other(artifacts: Artifacts, tmp_path: Path) -> CheckpointCache:
    """Cache of another machine."""
    return CheckpointCache(tmp_path / "other", artifacts, most=4)


def record_of(name: CheckpointName, identity: str = "same") -> Record:
    probe = Probe([1, 2, 3], [-0.5, -1.25])
    folder = f"{name['trainRun']}/{name['name']}/model"
    return Record(identity, "model", folder, folder, "a", "b", 400, 2, probe, config_of())


def make(cache: CheckpointCache, name: CheckpointName = ONE, weights: bytes = b"weights") -> Record:
    """Makes and stores a checkpoint, as a step does for an activity."""

    def build(folder: Path) -> Record:
        for part in ("model", MOMENTS):
            (folder / part).mkdir(parents=True)
        (folder / "model" / "model.safetensors").write_bytes(weights)
        (folder / "model" / "empty.json").touch()
        (folder / MOMENTS / "part.safetensors").write_bytes(b"state")
        return replace(record_of(name), weightsSha256=str(len(weights)))

    with cache.making(name, "same") as is_made:
        if not is_made:
            make_checkpoint(cache.root, name, build)
        return cache.keep(name)


def kept(tmp_path: Path) -> int:
    return len([*(tmp_path / "artifacts" / "weights").glob("*/*")])


def test_what_one_machine_kept_another_one_has(
    one: CheckpointCache, other: CheckpointCache
) -> None:
    weights = os.urandom(9 * MB)
    record = make(one, weights=weights)
    with other.held(ONE) as folder:
        assert (folder / "model" / "model.safetensors").read_bytes() == weights
        assert (folder / "model" / "empty.json").read_bytes() == b""
        assert not (folder / "trainer").exists()
    with other.held(ONE, to_go_on=True) as folder:
        assert (folder / MOMENTS / "part.safetensors").read_bytes() == b"state"
        assert other.require(ONE).record == record
    with other.located(Path(record.folder)) as folder:
        assert folder == other.root / record.folder


def test_an_older_checkpoint_loses_its_moments_alone(
    one: CheckpointCache, other: CheckpointCache, artifacts: Artifacts
) -> None:
    record = make(one)
    one.forget_moments(ONE)
    one.forget_moments(ONE)
    assert not (one.root / RUN / ONE["name"] / MOMENTS).exists()
    with other.held(ONE, to_go_on=True) as folder:
        assert (folder / "model" / "model.safetensors").read_bytes() == b"weights"
        assert not (folder / MOMENTS).exists()
    assert other.require(ONE).record == record
    one.forget_moments(checkpoint("000009"))


def test_equal_bytes_are_there_once(
    one: CheckpointCache, artifacts: Artifacts, tmp_path: Path
) -> None:
    weights = os.urandom(9 * MB)
    make(one, weights=weights)
    before = kept(tmp_path)
    make(one, checkpoint("000002"), weights + b"more")
    assert (before, kept(tmp_path)) == (3, 4)
    assert [*(tmp_path / "artifacts" / "unfinished").iterdir()] == []


def test_it_is_none_until_its_record_is_there(
    one: CheckpointCache, other: CheckpointCache, tmp_path: Path
) -> None:
    """A process that is killed before that leaves it whole on its own machine at most."""
    weights = os.urandom(5 * MB)
    pid = os.fork()
    if pid == 0:
        one.artifacts.create = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # pyright: ignore
        make(one, weights=weights)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    with pytest.raises(CheckpointMissing, match="night/000001 in /"), other.held(ONE):
        pass

    # Does not build it again.
    make(one, weights=b"others")
    with other.held(ONE) as folder:
        assert (folder / "model" / "model.safetensors").read_bytes() == weights


def test_what_was_made_of_another_request_and_never_kept_is_made_anew(
    one: CheckpointCache,
) -> None:
    make_checkpoint(one.root, ONE, lambda _: record_of(ONE, "other"))
    assert make(one).identity == "same"


def test_who_comes_second_waits_and_finds_what_was_made(
    one: CheckpointCache, artifacts: Artifacts
) -> None:
    def make_it(_: int) -> bool:
        cache = CheckpointCache(one.root, artifacts, most=4)
        with cache.making(ONE, "same") as is_made:
            if not is_made:
                make_checkpoint(one.root, ONE, lambda _: record_of(ONE))
            return is_made

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(make_it, range(8))].count(False) == 1


def test_of_two_that_made_it_the_first_one_counts(
    one: CheckpointCache, other: CheckpointCache
) -> None:
    first = make(one, weights=b"the first")
    assert make(other, weights=b"the second one") == first
    with other.held(ONE) as folder:
        assert (folder / "model" / "model.safetensors").read_bytes() == b"the first"


def test_many_fetch_at_once(one: CheckpointCache, artifacts: Artifacts, tmp_path: Path) -> None:
    weights = os.urandom(5 * MB)
    make(one, weights=weights)

    def fetch(_: int) -> bytes:
        cache = CheckpointCache(tmp_path / "shared", artifacts, most=4)
        with cache.held(ONE) as folder:
            return (folder / "model" / "model.safetensors").read_bytes()

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(fetch, range(8))) == {weights}
    assert sorted(path.name for path in (tmp_path / "shared" / RUN).iterdir()) == [
        ".000001.lock",
        "000001",
    ]


def test_the_last_used_stay_and_those_in_use(one: CheckpointCache, artifacts: Artifacts) -> None:
    names = [checkpoint(f"{cycle:06}") for cycle in range(1, 6)]
    for at, name in enumerate(names):
        make(one, name)
        os.utime(one.root / RUN / name["name"] / RESULT_FILE, (at, at))
    small = CheckpointCache(one.root, artifacts, most=2)
    with ExitStack() as stack:
        stack.enter_context(one.held(names[0]))
        os.utime(one.root / RUN / "000001" / RESULT_FILE, (0, 0))
        with small.held(names[1]):
            pass
        assert cached(one) == ["000001", "000002", "000005"]
    with small.held(names[3]):
        pass
    assert cached(one) == ["000002", "000004"]


def test_a_collection_leaves_a_checkpoint_in_use(
    one: CheckpointCache, other: CheckpointCache
) -> None:
    names = [checkpoint(f"{cycle:06}") for cycle in range(1, 3)]
    for name in names:
        make(one, name)
    shared = CheckpointCache(one.root, other.artifacts, most=4)
    request = {"trainRun": RUN, "keep": []}
    with shared.held(names[0]):
        assert one.collect(request)["removed"] == ["000002"]
    assert one.collect(request)["removed"] == ["000001"]
    assert cached(one) == []


def cached(cache: CheckpointCache) -> list[str]:
    return sorted(path.parent.name for path in cache.root.glob(f"*/[!.]*/{RESULT_FILE}"))


def test_what_lies_there_altered_is_fetched_again(one: CheckpointCache) -> None:
    make(one)
    for break_it in (
        lambda folder: (folder / RESULT_FILE).write_text("{"),
        lambda folder: shutil.rmtree(folder / "model"),
        shutil.rmtree,
    ):
        break_it(one.root / RUN / "000001")
        with one.held(ONE) as folder:
            assert (folder / "model" / "model.safetensors").read_bytes() == b"weights"


def test_a_file_that_is_gone_or_altered_is_named(
    one: CheckpointCache, other: CheckpointCache, artifacts: Artifacts, tmp_path: Path
) -> None:
    make(one)
    stored = one.require(ONE)
    (file,) = (file for file in stored.files if file.path == "model/model.safetensors")
    digest = file.sha256
    artifacts.write(f"weights/{digest[:2]}/{digest}", b"others")
    with pytest.raises(CheckpointUnreadable, match=f"{digest} in .* was altered"):
        other.held(ONE).__enter__()
    assert cached(other) == []
    assert [path.name for path in (other.root / RUN).iterdir()] == [".000001.lock"]


@pytest.mark.parametrize("path", ["../escaped", "/etc/passwd", "model/../../escaped", ""])
def test_a_record_that_names_a_file_elsewhere_is_none(
    path: str, one: CheckpointCache, other: CheckpointCache, artifacts: Artifacts
) -> None:
    make(one)
    key = "training/night/weights/000001.json"
    found = artifacts.read(key)
    assert found is not None
    fields: Any = json.loads(found)
    fields["files"][0]["path"] = path
    artifacts.write(key, json.dumps(fields).encode())
    with pytest.raises(CheckpointUnreadable, match="has an invalid name"):
        other.held(ONE).__enter__()


@pytest.mark.parametrize("place", ["night/000001", "../night/000001/model", "night/000001/trainer"])
def test_a_server_is_told_what_a_reference_is(place: str, one: CheckpointCache) -> None:
    with pytest.raises(BadRequest, match="such as nightly/000040/adapter"):
        one.located(Path(place)).__enter__()


@pytest.fixture(scope="module")
def lora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("lora")
    begin(root, tmp_path_factory.mktemp("files"), config_of(tuning=LORA))
    return root


def test_an_adapter_finds_its_base_on_another_machine(
    lora: Path, artifacts: Artifacts, other: CheckpointCache, tmp_path: Path
) -> None:
    one = CheckpointCache(
        Path(shutil.copytree(lora, tmp_path / "lora", symlinks=True)), artifacts, most=4
    )
    for name in ("base", "warm"):
        one.keep(checkpoint(name))
    shutil.rmtree(one.root)
    with other.located(Path(other.require(checkpoint("warm")).record.folder)) as folder:
        assert load_policy(folder).model.num_parameters() > 0
    assert cached(other) == ["base", "warm"]
