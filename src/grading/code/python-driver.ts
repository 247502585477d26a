/** What is run: a solution as a program, or one of its functions. */
export interface Solution {
  readonly code: string;
  /** A function, or a method of its class `Solution`. */
  readonly function: string | null;
}

/**
 * The Python program that runs a solution once. It is never told what is right: it prints what the solution prints or, as
 * JSON, what its function returns for the JSON values on standard input, one a line. The rest is judged outside.
 */
export function programFor(solution: Solution): string {
  const job = Buffer.from(JSON.stringify(solution)).toString('base64');
  return `${DRIVER}\nrun("${job}")\n`;
}

/** Names that LiveCodeBench gives every solution, its limits of recursion and of digits among them. */
const DRIVER = `
import base64, json, os, sys, types

MODULES = (
    "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json "
    "builtins typing"
).split()
PRELUDE = "".join(f"from {name} import *\\n" for name in MODULES) + f"import {', '.join(MODULES)}\\n"


def run(job):
    solution = json.loads(base64.b64decode(job))
    os.closerange(3, 4096)  # Whatever the worker inherited, and left open.
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
    values = [json.loads(line) for line in sys.stdin.read().split("\\n") if line.strip()]
    result = os.dup(1)
    os.dup2(2, 1)  # What it prints is not what it returns.
    exec(compile(solution["code"], "solution.py", "exec"), module.__dict__)
    owner = module.Solution() if hasattr(module, "Solution") else module
    value = getattr(owner, solution["function"])(*values)
    text = json.dumps(value, allow_nan=False, default=lambda other: other.item())  # numpy's own numbers
    with open(result, "w") as file:
        file.write(text)
`.trimStart();
