"""Serves whole models by name with a server that can hold only one, as vLLM does.

`python -m conductor_trainer.restarting_server --port 8001 -- vllm serve {folder}
--served-model-name {model} --host 127.0.0.1 --port {port}`

It speaks the routes of a policy server. A request for another model than the one that runs waits
until the requests before it are answered; then the server is stopped and started on that model's
folder. How long that takes is how long vLLM takes to start.
"""
