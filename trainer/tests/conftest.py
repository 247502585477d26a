"""What all tests have."""

import os

# As every process of the trainer has it, before torch is loaded: see `policy_server/__main__.py`.
os.environ["OMP_NUM_THREADS"] = "1"

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests run on asyncio, as Temporal's worker does."""
    return "asyncio"
