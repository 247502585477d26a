"""One step in a process of its own: `python -m conductor_trainer.step`, a job on stdin, its answers on stdout.

For CUDA, which does not survive a fork; on a CPU the fork server saves the imports.
"""

from __future__ import annotations

import json
import sys

from conductor_trainer.json_lines import claim_stdout


def main() -> None:
    send = claim_stdout()
    job = json.loads(sys.stdin.readline())
    from conductor_trainer.jobs import perform

    perform(job, send)


if __name__ == "__main__":
    main()
