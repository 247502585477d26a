"""The one server behind the fetching server: a command that runs for as long as it does."""

import os
import threading
import time
from collections.abc import Sequence

import httpx

from conductor_trainer.restarting_server.guard import GuardedProcess, tell
from conductor_trainer.starting import CannotStart, free_port

_BETWEEN_LOOKS = 0.5
"""Seconds between health checks; a server takes some tens of them to start."""


class ServerBehind:
    """A running command. It ends with this process, and this process with it."""

    def __init__(self, command: Sequence[str], *, start_limit: float, grace: float) -> None:
        """Fills in a free port as `{port}`, and waits until the command answers there.

        Both times are in seconds. Raises `CannotStart`.
        """
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        filled = [word.replace("{port}", str(port)) for word in command]
        self._process = GuardedProcess(filled, grace, label="vLLM: ")
        self._is_closing = False
        problem = self._wait_until_ready(start_limit)
        if problem is not None:
            told = self._process.stop()
            raise CannotStart(f"vLLM {problem}: {told or 'it printed nothing'}")
        threading.Thread(target=self._end_with_it, daemon=True).start()

    async def close(self) -> None:
        self._is_closing = True
        self._process.stop()

    def _wait_until_ready(self, start_limit: float) -> str | None:
        deadline = time.monotonic() + start_limit
        with httpx.Client(trust_env=False, timeout=5) as client:
            while time.monotonic() < deadline:
                status = self._process.status()
                if status is not None:
                    return f"ended with status {status} before it was ready"
                if _is_healthy(client, self.url):
                    return None
                time.sleep(_BETWEEN_LOOKS)
        return f"was not ready after {start_limit:g} s"

    def _end_with_it(self) -> None:
        status = self._process.wait()
        if self._is_closing:
            return
        told = self._process.stop()
        tell(f"vLLM ended with status {status}: {told or 'it printed nothing'}")
        # Whoever started this program starts both again.
        os._exit(1)


def _is_healthy(client: httpx.Client, url: str) -> bool:
    try:
        return client.get(f"{url}/health").is_success
    except httpx.TransportError:
        return False
