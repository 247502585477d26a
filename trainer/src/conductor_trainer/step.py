"""One step in a process of its own: a job on stdin, its answers on stdout.

For CUDA, which does not survive a fork: `python -m conductor_trainer.step`.
"""

import json
import sys

from conductor_trainer.json_lines import claim_stdout


def main() -> None:
    send = claim_stdout()
    job = json.loads(sys.stdin.readline())
    # The imports take seconds, and print what is not for stdout.
    from conductor_trainer.jobs import perform

    perform(job, send)


if __name__ == "__main__":
    main()
