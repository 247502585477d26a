"""Speaks the fork server's protocol, and does what the name of the job says."""

import json
import os
import sys


def send(message: dict[str, object]) -> None:
    print(json.dumps(message), flush=True)


def read() -> dict[str, object]:
    return json.loads(sys.stdin.readline() or sys.exit(0))


send({"ready": True})
while True:
    job = read()
    match job["job"]:
        case "echo":
            send({"id": job["id"], "progress": {"phase": "echoing"}})
            send({"id": job["id"], "result": {"server": os.getpid(), **job}})
        case "refuse":
            told = {"type": "Trainer.Conflict", "message": "it is another", "retryable": False}
            send({"id": job["id"], "error": told})
        case "die":
            os.abort()
        case "wait":
            send({"id": job["id"], "progress": {"phase": "waiting to be killed"}})
            assert read() == {"cancel": job["id"]}
            told = {"type": "Trainer.StepLost", "message": "killed", "retryable": True}
            send({"id": job["id"], "error": told})
