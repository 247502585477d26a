"""Simon Willison's `llm`, as a user sets it up."""

import json
import os
import subprocess
import sys
import tempfile

from outcome import KEY, MODEL, URL, report


def ask(question: str, *options: str) -> dict:
    # A folder of its own: two that start at once would both make its database.
    with tempfile.TemporaryDirectory() as folder:
        entry = [{"model_id": "ours", "model_name": MODEL, "api_base": f"{URL}/v1", "api_key_name": "ours"}]
        with open(os.path.join(folder, "extra-openai-models.yaml"), "w") as file:
            json.dump(entry, file)
        command = [sys.executable, "-m", "llm", "-m", "ours", "--key", KEY, question, "--usage", *options]
        done = subprocess.run(
            command,
            env={**os.environ, "LLM_USER_PATH": folder},
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    # "Token usage: 12 input, 3 output", with whatever else the answer counts.
    words = [word.replace(",", "") for word in done.stderr.split()]
    return {"text": done.stdout.strip(), "tokens": sum(int(word) for word in words if word.isdigit())}


report(whole=lambda question: ask(question, "--no-stream"), streamed=ask)
