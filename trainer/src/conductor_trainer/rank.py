"""`python -m conductor_trainer.rank`: one of the processes of `ranks.py`."""

import json
import sys
from pathlib import Path

from conductor_trainer.errors import TrainerError
from conductor_trainer.starting import end_with_stdin
from conductor_trainer.worker.steps import claim_stdout


def main() -> None:
    job = json.loads(sys.stdin.readline())
    end_with_stdin()
    say = claim_stdout()
    try:
        # Imported when stdin is watched and stdout claimed: it takes seconds, and libraries print.
        from conductor_trainer.learn import learn
        from conductor_trainer.record import Made
        from conductor_trainer.warm_start import learn_examples

        paths = {name: Path(job["made"][name]) for name in ("root", "temporary")}
        made = Made(**job["made"] | paths)
        learn_part = {"update": learn, "warmStart": learn_examples}[job["job"]]
        file = Path(job["file"])
        _, told = learn_part(made, job["request"], file, lambda each: say({"phase": each}))
        say({"result": told})
    except TrainerError as error:
        say({"error": type(error).__name__, "message": str(error)})
    except Exception as error:
        said = f"The step failed: {type(error).__name__}: {error}"
        say({"error": TrainerError.__name__, "message": said})


if __name__ == "__main__":
    main()
