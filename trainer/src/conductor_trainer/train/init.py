"""Makes a training run's first checkpoint, `base`: the initial model, unchanged."""

import json
from pathlib import Path

from conductor_trainer.chat import read_chat
from conductor_trainer.checkpoint import Record
from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import BadRequest
from conductor_trainer.model import add_adapter, load_base, load_model, load_tokenizer
from conductor_trainer.thoughts import require_thoughts
from conductor_trainer.tiny_model import build_tiny
from conductor_trainer.train.memory import require_memory
from conductor_trainer.train.record import Made, make, probed_tokens, record_of, save_made

BASE = "base"


def init(root: Path, request: JsonObject, texts: Path | None) -> JsonObject:
    """Links a given model, or builds a tiny one, whose tokenizer is trained on `texts`.

    With LoRA, `base` is a no-op adapter, so that every checkpoint is served the same way.
    """

    def build(temporary: Path) -> Record:
        base, model = request["base"], temporary / "model"
        if texts is not None:
            lines = [json.loads(line) for line in texts.open()]
            build_tiny(base, lines, request["config"]["seed"], model)
        elif (folder := Path(base["path"]).absolute()).is_dir():
            model.symlink_to(folder)
        else:
            raise BadRequest(
                f"There is no folder {folder} on the trainer's machine. Put the base model there, "
                "or give its folder."
            )
        own = f"{request['trainRun']}/{BASE}/model"
        return begin(Made(root, temporary, "init", BASE, request, own), model, {})

    return make(root, request, BASE, build)


def begin(made: Made, model_folder: Path, outcome: JsonObject) -> Record:
    """Records a whole model unchanged or, with LoRA, a new adapter on it that has no effect yet."""
    require_memory(model_folder, made.config)
    tokenizer = load_tokenizer(model_folder)
    chat = read_chat(model_folder, tokenizer)
    require_thoughts(tokenizer, chat, made.config)
    probed = probed_tokens(tokenizer, chat)
    if made.kind == "model":
        return record_of(made, load_model(model_folder), chat, probed, outcome)
    base, config = load_base(model_folder, made.config), made.config
    policy = add_adapter(base, config["tuning"], config["seed"])
    save_made(made, policy, model_folder)
    return record_of(made, policy, chat, probed, outcome)
