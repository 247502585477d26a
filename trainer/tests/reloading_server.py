"""A server with the routes by which vLLM's developer mode takes weights while it runs.

It needs no model: its replies are the folder of its weights, or `stale` if it kept its cache.
"""

import socket
import sys
from pathlib import Path
from typing import Any

from conductor_trainer.http_answers import serve

port, name, folder = sys.argv[1:]
weights = cached = Path(folder).name


async def describe(_body: Any, _request: Any) -> Any:
    return {"paths": {"/collective_rpc": {}, "/reset_prefix_cache": {}}}


async def collective_rpc(body: Any, _request: Any) -> Any:
    global weights
    assert body["method"] == "reload_weights"
    weights = Path(body["kwargs"]["weights_path"]).name
    return {"results": [None]}


async def reset_prefix_cache(_body: Any, _request: Any) -> Any:
    global cached
    cached = weights
    return {"success": True}


async def complete(body: Any, _request: Any) -> Any:
    assert body["model"] == name
    return {"model": name, "choices": [weights if cached == weights else "stale"]}


serve(
    {
        "GET /openapi.json": describe,
        "POST /collective_rpc": collective_rpc,
        "POST /reset_prefix_cache": reset_prefix_cache,
        "POST /v1/completions": complete,
    },
    socket.create_server(("127.0.0.1", int(port))),
)
