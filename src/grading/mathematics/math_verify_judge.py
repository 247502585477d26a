"""Compares mathematics with math-verify: one JSON line in, one JSON line out, until standard input ends.

The answers come from a model and may be hostile. Only LaTeX is parsed, never Python syntax. An audit hook keeps this
process from starting programs, connecting and writing files; with bubblewrap, the caller confines it as well. Memory is
limited, and the caller kills it if it takes too long.
"""

import json
import logging
import os
import sys
from importlib.metadata import version

from math_verify import LatexExtractionConfig, parse, verify

# Decimal places to which numbers must agree: with math-verify's default of 6, pi / 4 would equal 0.785398.
PLACES = 12

FORBIDDEN = ("os.", "subprocess.", "shutil.", "socket.", "ctypes.")
READING = ("os.listdir", "os.scandir", "os.walk", "os.fwalk")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def forbid(event: str, arguments: tuple) -> None:
    if event.startswith(FORBIDDEN) and event not in READING:
        raise PermissionError(event)
    if event == "import" and arguments[0] == "_posixsubprocess":
        raise PermissionError(event)
    if event == "open":
        mode, flags = arguments[1:3]
        if set(mode or "") & set("wax+") or flags & WRITING:
            raise PermissionError(event)


def hinder(megabytes: int) -> None:
    sys.modules.pop("_posixsubprocess", None)
    sys.addaudithook(forbid)
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def read(latex: str) -> list:
    # math-verify's own timeouts use signals; the caller has a better one.
    return parse(
        f"\\boxed{{{latex}}}",
        extraction_config=[LatexExtractionConfig(boxed_match_priority=0)],
        fallback_mode="no_fallback",
        parsing_timeout=None,
    )


def compare(right: str, answer: str) -> str:
    try:
        wanted, given = read(right), read(answer)
        if not wanted or not given:
            return "unknown"
        same = verify(wanted, given, float_rounding=PLACES, timeout_seconds=None)
        return "same" if same else "no"
    except (Exception, RecursionError, MemoryError):
        return "unknown"


def main() -> None:
    logging.disable(logging.CRITICAL)
    compare("x^2-1", "(x-1)(x+1)")  # loads what it imports on first use
    hinder(2048)
    installed = version("math-verify")
    print('"ready"', flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        found = compare(request["right"], request["answer"])
        print(json.dumps({"comparison": found, "version": installed}), flush=True)


if __name__ == "__main__":
    main()
