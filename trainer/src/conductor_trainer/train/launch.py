"""Trains in several processes, which torchelastic starts here, and on other nodes `join` there.

1. It restarts none: Temporal repeats the step, from the last checkpoint.
2. Each has a session of its own. It ends when its stdin does, and so with whoever launched it.
3. The first failure ends all of them, since the others would wait for the failed one.
"""

import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from signal import SIGTERM, Signals
from threading import Event, Thread
from typing import Any
from uuid import uuid4

from torch.distributed import DistStoreError
from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure
from torch.distributed.launcher.api import LaunchConfig, launch_agent

from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import StepLost
from conductor_trainer.step.messages import Report
from conductor_trainer.train.board import HAS_ANSWERED, Board, join_board, open_board
from conductor_trainer.train.nodes import Nodes, nodes

_GATHERING = timedelta(minutes=10)
"""Time that the other nodes have to join a step."""
_MOURNING = timedelta(seconds=5)
"""Time that another node has to say which of its processes died, before this one's error counts."""
_SECONDS_BETWEEN_LOOKS = 0.2
_LAST_LINES, _LAST_LETTERS = 6, 800


def launch(
    work: Callable[..., Any],
    given: tuple[Any, ...],
    processes: int,
    report: Report,
    folder: Path,
) -> Sequence[JsonObject]:
    """Calls `work` with `given` and a `Report` in each process; returns its last results by rank.

    `work` must be at module level. `folder` is empty, and all nodes share it. Raises the first
    `TrainerError`, or `StepLost` with the last words of a process that died.
    """
    together = nodes()
    board = open_board(together)
    order = folder / "order"
    order.write_bytes(pickle.dumps((work, given)))
    board.give({"id": uuid4().hex, "file": str(order), "processes": processes})
    try:
        with _slowest_reported(board.port, together, processes, report):
            run_agent(board, together, folder)
    except DistStoreError as cause:
        absent = (
            f"Only some of {together.count} nodes came to {together.host}:{board.port} within "
            f"{_GATHERING}: run `temporal-conductor-trainer rank` on each of the others. There is "
            "no checkpoint: try again."
        )
        raise StepLost(board.lost(_MOURNING) or absent) from cause
    except ProcessesFailed as failed:
        said = failed.silent()
        if said is None and together.count > 1:
            said = board.lost(_MOURNING)
        if said is None and (error := board.error()) is not None:
            raise error from failed
        raise StepLost(said or failed.words_of(failed.first)) from failed
    return board.results(processes)


class ProcessesFailed(Exception):
    """Some processes of this node failed; the others were ended."""

    def __init__(
        self, failures: Mapping[int, ProcessFailure], phases: Sequence[tuple[int, str]], logs: Path
    ) -> None:
        super().__init__(f"ranks {sorted(failures)} failed")
        self.failures = failures
        self._phases = phases
        self._logs = logs

    @property
    def first(self) -> int:
        """Rank that failed, rather than one that was ended since another had failed."""
        return min(self.failures, key=lambda rank: self.failures[rank].exitcode == -SIGTERM)

    def silent(self) -> str | None:
        """Describes a process that ended without saying why: the others' errors follow from it."""
        told = (-SIGTERM, HAS_ANSWERED)
        silent = (rank for rank, each in self.failures.items() if each.exitcode not in told)
        return next(map(self.words_of, silent), None)

    def words_of(self, rank: int) -> str:
        """Says how and when a process ended, and what it wrote last."""
        failure = self.failures[rank]
        status = failure.exitcode
        how = f"was killed by {Signals(-status).name}" if status < 0 else f"ended with {status}"
        (log,) = self._logs.glob(f"*/attempt_0/{failure.local_rank}/stderr.log")
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        words = "\n".join(lines[-_LAST_LINES:])[-_LAST_LETTERS:]
        return (
            f"Rank {rank} of {len(self._phases)} {how} in its phase {self._phases[rank][1]!r}. It "
            f"left no checkpoint: try again. It wrote last: {words or '(nothing)'}"
        )


def run_agent(board: Board, together: Nodes, logs: Path) -> None:
    """Runs this node's processes of the order on a board. Raises `ProcessesFailed`."""
    order = board.order()
    processes = order["processes"]
    config = LaunchConfig(
        min_nodes=together.count,
        max_nodes=together.count,
        nproc_per_node=processes // together.count,
        run_id=order["id"],
        rdzv_backend="static",
        rdzv_endpoint=f"{together.host}:{board.port}",
        rdzv_configs={"rank": together.rank, "timeout": int(_GATHERING.total_seconds())},
        max_restarts=0,
        logs_specs=DefaultLogsSpecs(str(logs), tee=Std.ERR),
        log_line_prefix_template="[rank ${rank}] ",
    )
    command = ["-m", "conductor_trainer.train.rank", order["file"]]
    with _lifeline(), _path_handed_on():
        try:
            launch_agent(config, sys.executable, command)
        except ChildFailedError as failed:
            raise ProcessesFailed(failed.failures, board.phases(processes), logs) from failed


@contextmanager
def _lifeline() -> Iterator[None]:
    """Makes this process's stdin, which its children inherit, end when it does."""
    (reading, writing), before = os.pipe(), os.dup(0)
    os.dup2(reading, 0)
    os.close(reading)
    try:
        yield
    finally:
        os.close(writing)
        os.dup2(before, 0)
        os.close(before)


@contextmanager
def _path_handed_on() -> Iterator[None]:
    """Has children find what this process finds: the fork server has not handed its path on."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    try:
        yield
    finally:
        del os.environ["PYTHONPATH"]
        if before is not None:
            os.environ["PYTHONPATH"] = before


@contextmanager
def _slowest_reported(port: int, together: Nodes, processes: int, report: Report) -> Iterator[None]:
    """Reports, while processes work, the phase of the one that is furthest behind."""
    board, ended = join_board(together.host, port), Event()

    def look() -> None:
        last = ""
        while not ended.wait(_SECONDS_BETWEEN_LOOKS):
            phases = board.phases(processes)
            behind = min(range(processes), key=lambda rank: phases[rank][0])
            count, phase = phases[behind]
            is_alone = any(other > count for other, _ in phases)
            now = f"{phase} (rank {behind} of {processes})" if is_alone else phase
            if now != last:
                last = now
                report(now)

    looking = Thread(target=look, daemon=True)
    looking.start()
    try:
        yield
    finally:
        ended.set()
        looking.join()
