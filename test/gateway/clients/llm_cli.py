"""Simon Willison's `llm`, as a user sets it up."""

import json
import os
import subprocess
import sys
import tempfile

from outcome import KEY, MODEL, QUESTION, URL, report


def ask(*options: str) -> dict:
    command = [sys.executable, "-m", "llm", "-m", "ours", "--key", KEY, QUESTION, "--usage", *options]
    done = subprocess.run(command, env={**os.environ, "LLM_USER_PATH": folder}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    # "Token usage: 12 input, 3 output", with whatever else the answer counts.
    tokens = [int(word.replace(",", "")) for word in done.stderr.split() if word.replace(",", "").isdigit()]
    return {"text": done.stdout.strip(), "tokens": sum(tokens)}


with tempfile.TemporaryDirectory() as folder:
    entry = [{"model_id": "ours", "model_name": MODEL, "api_base": f"{URL}/v1", "api_key_name": "ours"}]
    with open(os.path.join(folder, "extra-openai-models.yaml"), "w") as file:
        json.dump(entry, file)
    report(lambda: ask("--no-stream"), ask)
