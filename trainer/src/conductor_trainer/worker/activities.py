"""The trainer's activities: each can be retried at any time, and takes effect only once."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from temporalio import activity
from temporalio.exceptions import ApplicationError

from conductor_trainer.checkpoint import describe, identity_of, require_same
from conductor_trainer.checkpoint_cache import CheckpointCache
from conductor_trainer.contract import CheckpointName, JsonObject, StoredBytes, check_request
from conductor_trainer.disk import Sizes, require_space
from conductor_trainer.errors import BadRequest, TrainerError
from conductor_trainer.step.messages import Report
from conductor_trainer.step.runner import StepRunner
from conductor_trainer.worker.publish import asleep, publish, require_servers, retire

_HEARTBEAT_SECONDS = 3.0

_ATTEMPTS = 3
"""Attempt limit for an unknown error, which may be temporary but must not use up a night."""

T = TypeVar("T")
Fetch = Callable[[StoredBytes], AbstractContextManager[Path]]
Hold = Callable[[ExitStack], Any]
"""Keeps the files that a step reads on this machine until the stack closes. Blocks."""

Work = Callable[["TrainerActivities", Any], Coroutine[Any, Any, Any]]

_METHODS: list[str] = []
"""Names of the methods that are activities."""


def _activity(name: str) -> Callable[[Work], Work]:
    """Makes a method an activity: its request is checked, and its errors keep their type."""

    def make(work: Work) -> Work:
        _METHODS.append(work.__name__)

        @activity.defn(name=name)
        @wraps(work)
        async def perform(self: "TrainerActivities", request: Any) -> Any:
            try:
                check_request(name, request)
                return await work(self, request)
            except Exception as cause:
                said = f"The trainer failed: {type(cause).__name__}: {cause}"
                error = cause if isinstance(cause, TrainerError) else TrainerError(said)
                is_over = error.type == TrainerError.type and activity.info().attempt >= _ATTEMPTS
                # Temporal drops the type of a failure over 4 KB; our own errors state their cause.
                raise ApplicationError(
                    str(error), type=error.type, non_retryable=is_over or not error.retryable
                ) from (None if error is cause else cause)

        return perform

    return make


@dataclass(frozen=True)
class Allowed:
    """Limits on what requests may name, since others may also write to Temporal."""

    servers: Sequence[str]
    export_root: Path | None
    """Folder below which exports are written; None refuses exports."""
    base_roots: Sequence[Path] = ()
    """Folders that a base model must be, or be below."""

    def check_servers(self, servers: Sequence[str]) -> None:
        """Raises `BadRequest`."""
        allowed = {each.rstrip("/") for each in self.servers}
        for server in servers:
            if server.rstrip("/") not in allowed:
                raise BadRequest(
                    f"{server} is not among the policy servers of this trainer "
                    f"({', '.join(sorted(allowed)) or 'it has none'}): start the trainer with "
                    f"--allow-server {server} to let it load checkpoints there."
                )

    def check_base(self, path: str) -> None:
        """Raises `BadRequest`."""
        folder, roots = Path(path).resolve(), [root.resolve() for root in self.base_roots]
        if not any(folder.is_relative_to(root) for root in roots):
            raise _not_below("A base model", folder, roots, "--base-root")

    def export_folder(self, directory: str) -> Path:
        """Returns the folder for an export, with links resolved. Raises `BadRequest`."""
        folder = Path(directory).resolve()
        roots = [] if self.export_root is None else [self.export_root.resolve()]
        if not any(root in folder.parents for root in roots):
            raise _not_below("An export", folder, roots, "--export-root")
        return folder


def _not_below(what: str, folder: Path, roots: Sequence[Path], option: str) -> BadRequest:
    there = " or ".join(map(str, roots)) or f"the folder of {option}, which this trainer lacks"
    return BadRequest(
        f"{what} must be below {there}, but {folder} is not: start the trainer with {option} "
        "FOLDER to allow it."
    )


class TrainerActivities:
    def __init__(
        self, cache: CheckpointCache, fetch: Fetch, steps: StepRunner, allowed: Allowed
    ) -> None:
        """`fetch` copies an artifact that a request names to a local file."""
        self._cache = cache
        self._fetch = fetch
        self._steps = steps
        self._allowed = allowed

    @property
    def all(self) -> list[Callable[..., Any]]:
        return [getattr(self, name) for name in _METHODS]

    @_activity("conductor.trainer.init")
    async def init(self, request: Any) -> Any:
        base = request["base"]
        if base["kind"] == "folder":
            self._allowed.check_base(base["path"])
        return await self._make("init", request, "base", base.get("texts"), lambda _: None)

    @_activity("conductor.trainer.warmStart")
    async def warm_start(self, request: Any) -> Any:
        hold = self._hold(request["parent"])
        return await self._make("warmStart", request, request["name"], request["examples"], hold)

    @_activity("conductor.trainer.preflight")
    async def preflight(self, request: Any) -> Any:
        """Checks, before a night spends anything, its memory, its disks and its policy server."""
        servers, checkpoint = request.get("servers", []), request["checkpoint"]
        self._allowed.check_servers(servers)

        def hold(files: ExitStack) -> Path | None:
            files.enter_context(self._cache.held(checkpoint))
            prompts = request.get("prompts")
            return None if prompts is None else files.enter_context(self._fetch(prompts))

        async with self._ready(hold) as (file, report):
            found = await self._run("preflight", request, file, report)
            sizes = Sizes(**found["sizes"])
            await asyncio.to_thread(require_space, self._cache, sizes, request.get("cycles", 1))
            stored = await asyncio.to_thread(self._cache.require, checkpoint)
            return {"leftOut": await require_servers(stored.record, request, found["prompts"])}

    @_activity("conductor.trainer.update")
    async def update(self, request: Any) -> Any:
        parent, name = request["parent"], f"{request['cycle']:06}"
        goes_on = parent["trainRun"] == request["trainRun"]

        def hold(files: ExitStack) -> None:
            files.enter_context(self._cache.held(parent, to_go_on=goes_on))
            if request["config"]["loss"]["beta"] != 0:
                first = self._cache.require(parent).record.first or parent
                files.enter_context(self._cache.held(first))

        made = await self._make("update", request, name, request["batch"], hold)
        if goes_on:
            await asyncio.to_thread(self._cache.forget_moments, parent)
        return made

    @_activity("conductor.trainer.score")
    async def score(self, request: Any) -> Any:
        """Compares served replies' log-probabilities with a checkpoint's and its parent's."""

        def hold(files: ExitStack) -> Path:
            files.enter_context(self._cache.held(request["checkpoint"]))
            parent = self._cache.require(request["checkpoint"]).record.parent
            if parent is not None and self._cache.find(parent) is not None:
                files.enter_context(self._cache.held(parent))
            return files.enter_context(self._fetch(request["batch"]))

        async with self._ready(hold) as (batch, report):
            return await self._run("score", request, batch, report)

    @_activity("conductor.trainer.export")
    async def export(self, request: Any) -> Any:
        folder = self._allowed.export_folder(request["directory"])
        async with self._ready(self._hold(request["checkpoint"])) as (_, report):
            asked = {**request, "directory": str(folder)}
            return await self._run("export", asked, None, report)

    @_activity("conductor.trainer.publish")
    async def publish(self, request: Any) -> Any:
        self._allowed.check_servers(request["servers"])
        # Some servers share this folder and fetch nothing themselves.
        async with self._ready(self._hold(request["checkpoint"])) as (_, report):
            report("publishing")
            stored = await asyncio.to_thread(self._cache.require, request["checkpoint"])
            return await publish(stored.record, request)

    @_activity("conductor.trainer.retire")
    async def retire(self, request: Any) -> Any:
        self._allowed.check_servers(request["servers"])
        async with _heartbeats("retiring"):
            return await retire(request)

    @_activity("conductor.trainer.collect")
    async def collect(self, request: Any) -> Any:
        """Removes old checkpoints from local disk; `forgetCheckpoints` covers the artifacts."""
        async with _heartbeats("collecting"):
            return await asyncio.to_thread(self._cache.collect, request)

    async def _run(self, job: str, request: Any, file: Path | None, report: Report) -> JsonObject:
        """Runs a step while the servers that share its GPU sleep."""
        servers = request.get("asleep", [])
        self._allowed.check_servers(servers)
        return await self._steps.run(job, request, file, report, meanwhile=asleep(servers))

    def _hold(self, checkpoint: CheckpointName) -> Hold:
        return lambda files: files.enter_context(self._cache.held(checkpoint))

    @asynccontextmanager
    async def _ready(self, hold: Callable[[ExitStack], T]) -> AsyncIterator[tuple[T, Report]]:
        """Sends heartbeats, and yields what `hold` returns once the files it fetches are there."""
        with ExitStack() as files:
            async with _heartbeats("fetching") as report:
                yield await asyncio.to_thread(hold, files), report

    async def _make(
        self, job: str, request: Any, name: str, stored: StoredBytes | None, hold: Hold
    ) -> JsonObject:
        """Has a step make a checkpoint, then stores it, after which the checkpoint exists.

        If it exists already, an earlier attempt made it, here or elsewhere. The step gets a local
        copy of the `stored` artifact, and the files that `hold` keeps in the cache.
        """
        target = CheckpointName(trainRun=request["trainRun"], name=name)
        identity = identity_of(job, request)
        found = await asyncio.to_thread(self._cache.find, target)
        if found is not None:
            require_same(found.record, target, identity)
            return describe(target, found.record, replayed=True)

        def hold_all(files: ExitStack) -> tuple[Path | None, bool]:
            hold(files)
            file = None if stored is None else files.enter_context(self._fetch(stored))
            return file, files.enter_context(self._cache.making(target, identity))

        async with self._ready(hold_all) as ((file, is_made), report):
            if not is_made:
                await self._run(job, request, file, report)
            report("keeping")
            record = await asyncio.to_thread(self._cache.keep, target)
            require_same(record, target, identity)
            return describe(target, record, replayed=is_made)


@asynccontextmanager
async def _heartbeats(phase: str) -> AsyncIterator[Report]:
    """Sends Temporal a heartbeat with the phase of the work, now and every few seconds."""
    timeout = activity.info().heartbeat_timeout
    pause = min(_HEARTBEAT_SECONDS, timeout.total_seconds() / 3) if timeout else _HEARTBEAT_SECONDS

    def report(now: str) -> None:
        nonlocal phase
        phase = now
        activity.heartbeat({"phase": phase})

    async def beat() -> None:
        while True:
            await asyncio.sleep(pause)
            activity.heartbeat({"phase": phase})

    report(phase)
    beating = asyncio.create_task(beat())
    try:
        yield report
    finally:
        beating.cancel()
