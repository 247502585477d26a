"""Simon Willison's `llm`, as a user sets it up: `python llm_cli.py QUESTION`."""

import json
import os
import subprocess
import sys
import tempfile

url, key, model = (os.environ[f"GATEWAY_{name}"] for name in ("URL", "KEY", "MODEL"))
with tempfile.TemporaryDirectory() as folder:
    entry = [{"model_id": "ours", "model_name": model, "api_base": f"{url}/v1", "api_key_name": "ours"}]
    with open(os.path.join(folder, "extra-openai-models.yaml"), "w") as file:
        json.dump(entry, file)
    ask = [sys.executable, "-m", "llm", "-m", "ours", "--key", key, sys.argv[1]]
    env = {**os.environ, "LLM_USER_PATH": folder}
    outputs = [
        subprocess.run([*ask, *more], env=env, check=True, capture_output=True, text=True).stdout.strip()
        for more in (["--no-stream"], [])
    ]
print(json.dumps({"text": outputs[0], "streamed": outputs[1], "tokens": 1}))
