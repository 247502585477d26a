"""Settings that all tests share."""

import os
from pathlib import Path

# Set before torch is loaded, as in every process of the trainer: see `policy_server/__main__.py`.
os.environ["OMP_NUM_THREADS"] = "1"
# For programs that tests start, and for the fork server, which is not given this one's path.
os.environ["PYTHONPATH"] = str(Path(__file__).parents[1] / "src")

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests run on asyncio, as Temporal's worker does."""
    return "asyncio"
