"""Runs a solution, or one of its functions, with the imports and the recursion and digit limits of LiveCodeBench.

The call of `run` is appended by grade-code.ts.
"""

import base64
import json
import os
import sys
import types

MODULES = (
    "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json "
    "builtins typing"
).split()
PRELUDE = "".join(f"from {name} import *\n" for name in MODULES) + f"import {', '.join(MODULES)}\n"


def run(job):
    solution = json.loads(base64.b64decode(job))
    os.closerange(3, 4096)  # Closes what the worker inherited and left open.
    sys.setrecursionlimit(50_000)
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(50_000)
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    exec(PRELUDE, module.__dict__)
    try:
        if solution["function"] is None:
            exec(compile(solution["code"], "solution.py", "exec"), module.__dict__)
        else:
            call(solution, module)
    except SystemExit:
        pass


def call(solution, module):
    values = [json.loads(line) for line in sys.stdin.read().split("\n") if line.strip()]
    result = os.dup(1)
    os.dup2(2, 1)  # Prints go to stderr, apart from the return value.
    exec(compile(solution["code"], "solution.py", "exec"), module.__dict__)
    owner = module.Solution() if hasattr(module, "Solution") else module
    value = getattr(owner, solution["function"])(*values)
    text = json.dumps(value, allow_nan=False, default=lambda other: other.item())  # converts numpy numbers
    with open(result, "w") as file:
        file.write(text)
