"""Unpacks a model from GGUF into a folder like those of the Hugging Face hub, in float32.

Usage: unpack.py FILE.gguf FOLDER
"""

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def unpack(file: Path, folder: Path) -> None:
    """Writes weights, configuration, tokenizer and chat template."""
    given = {"gguf_file": file.name, "local_files_only": True}
    AutoTokenizer.from_pretrained(file.parent, **given).save_pretrained(folder)
    packed = AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.float32, **given)
    # A model whose configuration names a quantization cannot be saved.
    config = packed.config
    delattr(config, "quantization_config")
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(packed.state_dict())
    model.save_pretrained(folder)


if __name__ == "__main__":
    unpack(Path(sys.argv[1]), Path(sys.argv[2]))
