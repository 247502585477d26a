"""A folder of artifacts; a bucket is tried from TypeScript, by a server that speaks its API."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conductor_trainer import artifacts as module
from conductor_trainer.artifacts import Artifacts, open_artifacts
from conductor_trainer.errors import BadRequest, DiskFull


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    return open_artifacts(str(tmp_path / "deep" / "artifacts"))


def unfinished(artifacts: Artifacts) -> list[Path]:
    return [*(Path(artifacts.url) / "unfinished").iterdir()]


def test_what_was_written_last_is_read(artifacts: Artifacts, tmp_path: Path) -> None:
    assert (artifacts.read("a/b"), artifacts.modified_at("a/b")) == (None, None)
    artifacts.write("a/b", b"one")
    artifacts.write("a/b", b"two")
    assert artifacts.fetch("a/b", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"two"
    artifacts.put("a/c", tmp_path / "copy")
    assert artifacts.read("a/c") == b"two"
    assert not artifacts.fetch("a/d", tmp_path / "copy")
    assert unfinished(artifacts) == []


def test_of_many_that_create_one_is_told_so(artifacts: Artifacts) -> None:
    with ThreadPoolExecutor(8) as pool:
        told = [*pool.map(lambda at: artifacts.create("a", bytes([at])), range(8))]
    assert sum(told) == 1
    assert artifacts.read("a") == bytes([told.index(True)])
    assert unfinished(artifacts) == []


@pytest.mark.parametrize("key", ["../a", "/etc/passwd", "a/../../b", "", "a//b", ".a"])
def test_no_key_leads_out_of_the_folder(artifacts: Artifacts, key: str) -> None:
    with pytest.raises(BadRequest, match="is refused"):
        artifacts.read(key)
    with pytest.raises(BadRequest, match="is refused"):
        artifacts.write(key, b"")


@pytest.mark.parametrize("url", ["", "sqlite:store.db", "postgres://me@db/x", "s3://b/../x", "s3:"])
def test_another_kind_of_place_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="is not a place for artifacts: expected FOLDER or s3:"):
        open_artifacts(url)


def test_nothing_is_in_place_before_the_disk_has_it(
    artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed, or a machine without power, leaves what was there before."""
    artifacts.write("a/b", b"old")
    pid = os.fork()
    if pid == 0:
        monkeypatch.setattr(module, "sync", lambda _: os.kill(os.getpid(), signal.SIGKILL))
        artifacts.write("a/b", b"new")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    assert artifacts.read("a/b") == b"old"
    assert len(unfinished(artifacts)) == 1


def test_a_place_is_synced_after_its_file(
    artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifacts.write("a/b", b"old")
    synced: list[str] = []
    monkeypatch.setattr(module, "sync", lambda path: synced.append(path.parent.name))
    artifacts.write("a/b", b"new")
    assert synced == ["unfinished", "artifacts"]


def test_a_full_disk_is_named(artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    artifacts.write("a", b"")
    monkeypatch.setattr(module, "sync", fail)
    with pytest.raises(DiskFull, match="was full while a was written"):
        artifacts.write("a", b"")
