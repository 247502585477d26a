"""Whether settings ask for weights in 4 bits or moments in 8, for which the trainer needs an extra.

Only learning uses them: probes and scores compute with the weights that policy servers have.
"""

from importlib.util import find_spec

from conductor_trainer.contract import Config
from conductor_trainer.errors import BadRequest


def has_4_bits(config: Config) -> bool:
    return "quantize" in config["tuning"]


def has_8_bit_moments(config: Config) -> bool:
    return config["optimizer"].get("name") == "adamw8bit"


def needs_bitsandbytes(config: Config) -> bool:
    return has_4_bits(config) or has_8_bit_moments(config)


def require_bitsandbytes(config: Config) -> None:
    """Raises `BadRequest` if the settings need bitsandbytes and it is not installed."""
    if needs_bitsandbytes(config) and find_spec("bitsandbytes") is None:
        asked = "tuning.quantize: 4bit" if has_4_bits(config) else "optimizer.name: adamw8bit"
        raise BadRequest(
            f"`training.trainer.{asked}` needs bitsandbytes, which the trainer's Python does not "
            'have: install "temporal-conductor-trainer[bitsandbytes]" there, or leave it out.'
        )
