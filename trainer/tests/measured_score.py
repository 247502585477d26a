"""A process's comparison of served replies, which writes down what it held, or dies."""

import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import ref

from peft import PeftModel

from conductor_trainer import score
from conductor_trainer.checkpoint import Record
from conductor_trainer.contract import JsonObject
from conductor_trainer.step.messages import Report
from measured_update import bytes_of


def compare(
    root: Path, request: JsonObject, records: Mapping[str, Record], batch: Path, report: Report
) -> Any:
    """Writes to `held-RANK`, for each checkpoint, the bytes of weights, and of those before."""
    load, held, before = score.load_policy, [], []

    def measured(*given: Any) -> Any:
        left = [policy for each in before if (policy := each()) is not None]
        policy = load(*given)
        # An adapter is small; what is below it is shared.
        before.append(ref(policy.get_base_model() if isinstance(policy, PeftModel) else policy))
        held.append([bytes_of(policy.parameters()), len(left)])
        return policy

    score.load_policy = measured
    compared = score.compare(root, request, records, batch, report)
    (root / f"held-{os.environ['RANK']}").write_text(json.dumps(held))
    return compared


def die(
    root: Path, request: JsonObject, records: Mapping[str, Record], batch: Path, report: Report
) -> Any:
    """Rank 1 is killed once it compares, while the other one waits for its weights."""

    def report_and_die(phase: str) -> None:
        report(phase)
        if phase == "comparing" and os.environ["RANK"] == "1":
            print("alas", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    return score.compare(root, request, records, batch, report_and_die)
