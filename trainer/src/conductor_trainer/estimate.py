"""`temporal-conductor-trainer estimate`: prints what a night would need, as one line of JSON.

Reads JSON from stdin: `model`, the base's folder, and `config` as updates get it. Loads no weights
and looks at no GPU.
"""

import json
import sys
from pathlib import Path

from conductor_trainer.options import program_parser
from conductor_trainer.starting import start


def main() -> None:
    program_parser("estimate", __doc__).parse_args()
    start("The estimate", _estimate)


def _estimate() -> None:
    asked = json.load(sys.stdin)
    from conductor_trainer.low_bits import require_bitsandbytes
    from conductor_trainer.train.memory import (
        needed_by_host,
        needed_by_process,
        needed_to_score,
        shape_of,
        sizes_of,
    )

    model, config = Path(asked["model"]), asked["config"]
    require_bitsandbytes(config)
    shape = shape_of(model, config)
    needs = {
        "process": needed_by_process(shape, config),
        "check": needed_to_score(shape, config),
        "host": needed_by_host(shape, config),
        "checkpoint": sizes_of(model, config),
    }
    print(json.dumps({name: sum(parts.values()) for name, parts in needs.items()}))


if __name__ == "__main__":
    main()
