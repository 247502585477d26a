"""A checkpoint is made whole or not at all."""

import json
import os
import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from conductor_trainer.checkpoint import (
    Probe,
    Record,
    identity_of,
    make_checkpoint,
    read_record,
    require_record,
)
from conductor_trainer.contract import CheckpointName
from conductor_trainer.errors import CheckpointMissing, DiskFull
from tiny_run import config_of

TARGET = CheckpointName(trainRun="night", name="000001")


def record_of(identity: str) -> Record:
    probe = Probe([1, 2, 3], [-0.5, -1.25])
    folder = "night/000001/model"
    return Record(identity, "model", folder, "/base", "a", "b", 400, 2, probe, config_of())


def build(folder: Path) -> Record:
    (folder / "model").mkdir()
    (folder / "model" / "weights").write_text("weights")
    return record_of("same")


def files_below(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_a_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    assert make_checkpoint(tmp_path, TARGET, build) == record_of("same")
    assert read_record(tmp_path, TARGET) == record_of("same")


def test_what_was_there_makes_room(tmp_path: Path) -> None:
    make_checkpoint(tmp_path, TARGET, lambda _: record_of("other"))
    make_checkpoint(tmp_path, TARGET, build)
    assert read_record(tmp_path, TARGET) == record_of("same")
    assert [path.name for path in (tmp_path / "night").iterdir()] == ["000001"]


@pytest.fixture
def no_room() -> Iterator[None]:
    """A disk on which no file can grow beyond 100 kB: the system's refusal takes the same way."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


WEIGHTS = {"weights": torch.zeros(50_000)}


@pytest.mark.usefixtures("no_room")
@pytest.mark.parametrize(
    "write",
    [
        lambda file: file.write_bytes(bytes(200_000)),
        lambda file: save_file(WEIGHTS, file),
        lambda file: torch.save(WEIGHTS, file),
    ],
)
def test_a_full_disk_is_reported_for_good_whichever_library_met_it(
    tmp_path: Path, write: Callable[[Path], object]
) -> None:
    def fill(folder: Path) -> Record:
        write(folder / "weights")
        return record_of("same")

    with pytest.raises(DiskFull, match="was full while 000001 was written") as failure:
        make_checkpoint(tmp_path, TARGET, fill)
    assert not failure.value.retryable
    assert files_below(tmp_path) == set()


@pytest.mark.parametrize("text", ["", "{", "{}", '{"probe": 3}', "[]"])
def test_a_record_that_cannot_be_read_counts_as_missing(tmp_path: Path, text: str) -> None:
    make_checkpoint(tmp_path, TARGET, build)
    (tmp_path / "night" / "000001" / "RESULT.json").write_text(text)
    assert read_record(tmp_path, TARGET) is None


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    def break_off(folder: Path) -> Record:
        build(folder)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        make_checkpoint(tmp_path, TARGET, break_off)
    assert files_below(tmp_path) == set()


def test_what_a_killed_process_left_is_no_checkpoint_and_is_swept_away(tmp_path: Path) -> None:
    def be_killed(folder: Path) -> Record:
        build(folder)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    pid = os.fork()
    if pid == 0:
        make_checkpoint(tmp_path, TARGET, be_killed)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    assert read_record(tmp_path, TARGET) is None
    assert f"night/.tmp-000001-{pid}/model/weights" in files_below(tmp_path)

    make_checkpoint(tmp_path, TARGET, build)
    kept = {"night/000001/RESULT.json", "night/000001/model/weights"}
    assert files_below(tmp_path) == kept


def test_what_another_process_makes_under_a_longer_name_stays(tmp_path: Path) -> None:
    longer = CheckpointName(trainRun="night", name="000001-1a2b3c4d")

    def build_meanwhile(folder: Path) -> Record:
        make_checkpoint(tmp_path, TARGET, build)
        return build(folder)

    assert make_checkpoint(tmp_path, longer, build_meanwhile) == record_of("same")


def test_a_server_of_another_user_can_read_it(tmp_path: Path) -> None:
    def build_private(folder: Path) -> Record:
        record = build(folder)
        (folder / "model" / "weights").chmod(0o600)
        return record

    make_checkpoint(tmp_path, TARGET, build_private)
    assert (tmp_path / "night/000001/model/weights").stat().st_mode & 0o777 == 0o644


def test_a_missing_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointMissing, match=r"no checkpoint night/000001 below"):
        require_record(tmp_path, TARGET)


def test_where_bytes_are_stored_does_not_count_but_what_they_are() -> None:
    def request(key: str, sha256: str) -> object:
        return json.loads(json.dumps({"cycle": 1, "batch": {"key": key, "sha256": sha256}}))

    assert identity_of("update", request("a", "x")) == identity_of("update", request("b", "x"))
    assert identity_of("update", request("a", "x")) != identity_of("update", request("a", "y"))
    assert identity_of("update", request("a", "x")) != identity_of("init", request("a", "x"))
