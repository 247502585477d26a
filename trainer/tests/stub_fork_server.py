"""Speaks the fork server's protocol, and does what the name of the job says."""

import json
import os
import sys
from io import FileIO
from select import select


def send(message: dict[str, object]) -> None:
    print(json.dumps(message), flush=True)


messages = FileIO(0)


def read() -> dict[str, object]:
    return json.loads(messages.readline() or sys.exit(0))


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
            # Nobody may ask for another step before this one is known to be dead.
            assert not select([messages], [], [], 0.3)[0]
            told = {"type": "Trainer.StepLost", "message": "killed", "retryable": True}
            send({"id": job["id"], "error": told})
