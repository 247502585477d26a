"""Hides bitsandbytes from the fork server, which imports this module before all others.

PEFT imports it wherever it is installed, and it starts CUDA at once, which does not survive a fork.
"""

import sys

# What Python takes for a module that is not there.
sys.modules["bitsandbytes"] = None  # pyright: ignore[reportArgumentType]
