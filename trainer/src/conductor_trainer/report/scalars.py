"""The metrics of a cycle as named numbers."""

from collections.abc import Mapping
from typing import Any

# What other people's pictures call it, by where it lies in the metrics.
_PLAIN = {
    "reward/mean": "rewardMean",
    "reward/spread": "rewardSpread",
    "reward/held_out": "heldOut",
    "plans/format_rate": "formatRate",
    "plans/length": "planLength",
    "plans/tokens": "planTokens",
    "rollouts/worker_tokens": "workerTokens",
    "rollouts/usd": "usd",
    "groups/drawn": "draws",
    "groups/dropped": "dropped",
}
_NESTED = {
    "workers": "workerShares",
    "shapes": "topologyShares",
    "update": "update",
}


def scalars_of(metrics: Mapping[str, Any]) -> dict[str, float]:
    """One number a name, in ascending order of names; what a cycle did not have is left out."""
    scalars = {name: metrics.get(field) for name, field in _PLAIN.items()}
    for prefix, field in _NESTED.items():
        scalars |= {f"{prefix}/{name}": value for name, value in (metrics.get(field) or {}).items()}
    scalars |= {f"seconds/{part}": ms / 1000 for part, ms in metrics["times"].items()}
    rollouts = sum(metrics["verdicts"].values())
    for verdict, count in metrics["verdicts"].items():
        scalars[f"verdicts/{verdict}"] = count / max(1, rollouts)
    return {name: float(value) for name, value in sorted(scalars.items()) if value is not None}
