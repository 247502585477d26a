"""Steps without Temporal, for tests and measurements from TypeScript: JSON lines in and out.

`python bench/serve_steps.py`, with `src` on the path, says `{"ready": true}`. Each line is a job,
`{"id", "job", "root", "request", "files"}`, answered by `{"id", "result"}` or `{"id", "error"}`.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from conductor_trainer.checkpoint import describe, identity_of, read_record, require_same
from conductor_trainer.contract import CheckpointName
from conductor_trainer.errors import TrainerError
from conductor_trainer.step.runner import StepRunner, claim_stdout
from conductor_trainer.train.init import BASE


def main() -> None:
    say = claim_stdout()
    asyncio.run(StepRunner(Path()).start())
    say({"ready": True})
    for line in sys.stdin:
        say(asyncio.run(_answer(json.loads(line))))


async def _answer(message: Any) -> dict[str, Any]:
    runner = StepRunner(Path(message["root"]).absolute())
    job, request = message["job"], message["request"]
    file = next(map(Path, message["files"].values()), None)
    try:
        result = _made_before(Path(message["root"]), job, request)
        if result is None:
            result = await runner.run(job, request, file, lambda _: None)
    except TrainerError as error:
        return {"id": message["id"], "error": {"type": error.type, "message": str(error)}}
    return {"id": message["id"], "result": result}


def _made_before(root: Path, job: str, request: Any) -> dict[str, Any] | None:
    """Finds an earlier base model or warm start of this name, as the trainer's activities do."""
    name = {"init": BASE, "warmStart": request.get("name")}.get(job)
    if name is None:
        return None
    target = CheckpointName(trainRun=request["trainRun"], name=name)
    record = read_record(root, target)
    if record is None:
        return None
    require_same(record, target, identity_of(job, request))
    return describe(target, record, replayed=True)


if __name__ == "__main__":
    main()
