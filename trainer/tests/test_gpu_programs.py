"""The programs of `scripts/gpu`, tried out without a GPU."""

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "scripts" / "gpu"


def run(monkeypatch: pytest.MonkeyPatch, program: str, *options: str) -> None:
    path = str(PROGRAMS / program)
    monkeypatch.setattr(sys, "argv", [path, "--device", "cpu", *options])
    runpy.run_path(path, run_name="__main__")


def test_each_precision_is_held_against_float32(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "losses.py")
    _, *lines, _ = capfd.readouterr().out.splitlines()
    rows = {(row[0], row[2]): [*map(float, row[3:])] for row in map(str.split, lines)}
    assert [*rows] == [(w, p) for w in ("full", "lora") for p in ("float32", "bfloat16")]
    for weights in ("full", "lora"):
        loss, gradient, largest, mean, learned = rows[weights, "float32"]
        assert largest < 1e-5 and mean < 1e-5 and learned == 0
        of_half = rows[weights, "bfloat16"]
        assert of_half[:2] == pytest.approx([loss, gradient], rel=0.1)
        # Gaps from rounding to bfloat16: measurable, and far below what a night allows.
        assert all(1e-3 < gap < 0.1 for gap in of_half[2:])


def test_the_tolerances_that_are_printed_are_the_products() -> None:
    told = runpy.run_path(str(PROGRAMS / "losses.py"))
    resolve = (ROOT / "src" / "training" / "config" / "resolve.ts").read_text()
    assert f"cuda: {{ probe: {told['PROBE']}, canary: {told['CANARY']} }}" in resolve


def test_memory_and_time_of_an_update_stand_beside_what_was_reckoned(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "seven_b.py", "--shape", "tiny")
    *measured, step, whole = capfd.readouterr().out.splitlines()
    of_update, of_check = measured[:2], measured[2:]
    for reckoned, taken in (of_update, of_check):
        total, *parts = map(float, re.findall(r"([\d.]+) GB", reckoned))
        assert total == pytest.approx(sum(parts), rel=0.02) and " GB for activations" in reckoned
        # Python and its libraries are most of that.
        assert float(re.findall(r"([\d.]+) GB", taken)[0]) > total
    of_some, of_cycle = map(float, re.findall(r"([\d.]+) s for \d+", step))
    assert of_cycle == pytest.approx(16 * of_some, abs=0.6)
    assert float(whole.split()[1]) > of_some
