"""Measures an update against bare TRL; prints one line of JSON, in seconds.

`python bench/measure_step.py --root … --request … --batch … --rounds N`, with `src` on the path:
the request of an update (JSON), its batch, and the root where its parent lies. Nothing below the
root is changed. The two take turns, each time in a process that was forked for it, so that a noisy
machine disturbs both alike; a first round fills caches and does not count.
"""

import argparse
import gc
import json
import time
from pathlib import Path
from statistics import median


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("root", "request", "batch"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()

    began = time.perf_counter()
    # Imported here because the time of the imports is measured too.
    from transformers.conversion_mapping import get_checkpoint_conversion_mapping

    from contenders import CONTENDERS, measure

    imports = time.perf_counter() - began
    # `step/main.py` does this in the fork server, before the first step.
    get_checkpoint_conversion_mapping("qwen2")
    gc.collect()
    gc.freeze()

    request = json.loads(given.request.read_text())
    rounds = [
        {name: measure(learn, given.root, request, given.batch) for name, learn in CONTENDERS}
        for _ in range(given.rounds + 1)
    ][1:]
    medians = {
        name: {part: median(each[name][part] for each in rounds) for part in rounds[0][name]}
        for name, _ in CONTENDERS
    }
    print(json.dumps({"imports": imports, **medians}))


if __name__ == "__main__":
    main()
