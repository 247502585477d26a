"""Loads checkpoints into policy servers, unloads them, and has servers sleep during a step."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass

import httpx

from conductor_trainer.checkpoint import Record
from conductor_trainer.contract import CheckpointName, JsonObject
from conductor_trainer.errors import ProbeFailed, ServerUnavailable, TrainerError
from conductor_trainer.worker.policy_server import PolicyServer
from conductor_trainer.worker.same_prompts import require_same_prompts

_LAG = 60.0
"""Seconds that other servers get to load a checkpoint once the first one has it."""

_LONGEST_REASON = 400
"""Characters of a reason in a result, which Temporal keeps."""


def model_name(checkpoint: CheckpointName) -> str:
    """Returns a name unique to the checkpoint, since a server may cache results by name."""
    return f"{checkpoint['trainRun']}-{checkpoint['name']}"


@dataclass(frozen=True)
class Holding:
    """Servers that hold a checkpoint, by their gap on the probe, and why the others do not."""

    gaps: dict[str, float]
    failures: dict[str, TrainerError]

    def left_out(self) -> list[JsonObject]:
        return [
            {"server": url, "why": str(error)[:_LONGEST_REASON]}
            for url, error in self.failures.items()
        ]

    def require_one(self) -> None:
        """Raises a server's error if none holds the checkpoint; a passing one if there is any."""
        if self.gaps or not self.failures:
            return
        raise min(self.failures.values(), key=lambda error: not error.retryable)


async def publish(record: Record, request: JsonObject, lag: float = _LAG) -> JsonObject:
    """Loads a checkpoint into servers, and tells which were left out. Raises if all were."""
    holding = await hold(
        record, request["checkpoint"], request["servers"], request["tolerance"], lag
    )
    holding.require_one()
    chat = {} if record.chat is None else {"chat": asdict(record.chat)}
    return {
        "model": model_name(request["checkpoint"]),
        "logprobGap": max(holding.gaps.values()),
        "leftOut": holding.left_out(),
        **chat,
    }


async def require_servers(
    record: Record, request: JsonObject, prompts: Sequence[JsonObject] = ()
) -> list[JsonObject]:
    """Returns those of a night's servers that cannot be used. Raises if none ever can.

    `prompts` are those that servers must write as the trainer does.
    """
    servers, tolerance = request.get("servers", []), request.get("tolerance", float("inf"))
    holding = await hold(record, request["checkpoint"], servers, tolerance, prompts=prompts)
    if not holding.gaps and any(error.retryable for error in holding.failures.values()):
        # Whoever samples waits for a server that is away.
        return []
    holding.require_one()
    return holding.left_out()


async def hold(
    record: Record,
    checkpoint: CheckpointName,
    servers: Sequence[str],
    tolerance: float,
    lag: float = _LAG,
    prompts: Sequence[JsonObject] = (),
) -> Holding:
    """Has each server load a checkpoint and prove it; none is waited for long after the first."""
    model = model_name(checkpoint)

    async def prove(server: PolicyServer) -> float:
        await server.wake()
        await server.load(model, record.folder)
        gap = await server.probe(model, record.probe)
        # Both are written so that NaN fails.
        if not gap <= tolerance:
            # The name may be from elsewhere, or a vLLM took the weights wrongly while it ran.
            await server.unload(model)
            await server.load(model, record.folder)
            gap = await server.probe(model, record.probe)
        if not gap <= tolerance:
            raise ProbeFailed(
                f"{server.url} gives log-probabilities of {model} that differ from the trainer's "
                f"by {gap:.3g}, over the tolerance of {tolerance:.3g}: it serves other weights "
                f"than {record.folder}, although it was told to load them anew, or uses another "
                "precision. Start the server again, or raise the tolerance."
            )
        await server.require_processed(model, record.probe)
        await require_same_prompts(server, model, record.base, prompts)
        return gap

    return await _ask_all(servers, prove, lag)


async def _ask_all(
    servers: Sequence[str], ask: Callable[[PolicyServer], Awaitable[float]], lag: float
) -> Holding:
    gaps: dict[str, float] = {}
    failures: dict[str, TrainerError] = {}

    async def ask_one(url: str, client: httpx.AsyncClient) -> None:
        try:
            gaps[url] = await ask(PolicyServer(url, client))
        except TrainerError as error:
            failures[url] = error
        except (ValueError, LookupError, TypeError, AttributeError) as cause:
            failures[url] = ServerUnavailable(
                f"{url} gives an answer that cannot be read ({type(cause).__name__}: {cause}): it "
                "must have vLLM's /v1/completions with `prompt_logprobs` and `return_token_ids`."
            )

    async with httpx.AsyncClient() as client, asyncio.TaskGroup() as group:
        asking = {group.create_task(ask_one(url, client)): url for url in servers}
        left = set(asking)
        while left and not gaps:
            _, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
        if left:
            _, left = await asyncio.wait(left, timeout=lag)
        for task in left:
            task.cancel()
            failures[asking[task]] = ServerUnavailable(
                f"{asking[task]} has not loaded it {lag:g} s after another server had."
            )
    return Holding(gaps, {url: failures[url] for url in servers if url in failures})


async def retire(request: JsonObject) -> JsonObject:
    """Unloads every checkpoint of a training run that the request does not keep."""
    own = re.compile(rf"{request['trainRun']}-(?:base|warm|warm-[0-9a-f]{{8}}|\d{{6}})")
    kept = {model_name({"trainRun": request["trainRun"], "name": name}) for name in request["keep"]}
    retired: set[str] = set()

    async def unload(server: PolicyServer) -> float:
        for model in sorted(await server.models()):
            if own.fullmatch(model) and model not in kept and await server.unload(model):
                retired.add(model)
        return 0.0

    holding = await _ask_all(request["servers"], unload, _LAG)
    for error in holding.failures.values():
        raise error
    return {"retired": sorted(retired)}


@asynccontextmanager
async def asleep(servers: Sequence[str]) -> AsyncIterator[None]:
    """Frees the GPU memory of servers during the block; one that is away occupies none.

    If this process dies inside, whoever publishes or samples next wakes them.
    """
    async with httpx.AsyncClient() as client:
        all_servers = [PolicyServer(url, client) for url in servers]
        try:
            for server in all_servers:
                with suppress(ServerUnavailable):
                    await server.sleep()
            yield
        finally:
            for server in all_servers:
                with suppress(ServerUnavailable):
                    await server.wake()
