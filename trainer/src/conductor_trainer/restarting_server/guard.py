"""Runs a command that must not outlive whoever started it, not even where that was killed.

`python -m conductor_trainer.restarting_server.guard GRACE COMMAND…`: when stdin ends, which it does
with the process at its other end, however that ended, the command and all it started get SIGTERM,
and GRACE seconds later SIGKILL. The kernel's own signal on a parent's death (PR_SET_PDEATHSIG)
would not do: it is sent when the thread ends that started the command, and to nobody below it.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress


def main() -> None:
    grace, *command = sys.argv[1:]
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
    except OSError as error:
        sys.exit(f"{command[0]} cannot be started: {error}")
    threading.Thread(target=_end_with, args=(process,)).start()
    os.read(0, 1)
    _signal_group(process, signal.SIGTERM)
    time.sleep(float(grace))
    _signal_group(process, signal.SIGKILL)


def _end_with(process: "subprocess.Popen[bytes]") -> None:
    """Ends when the command does, and leaves nothing of it behind."""
    status = process.wait()
    _signal_group(process, signal.SIGKILL)
    os._exit(status if status >= 0 else 128 - status)


def _signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


if __name__ == "__main__":
    main()
