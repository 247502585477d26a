"""The first checkpoint of a training run: what it begins with, untouched."""

from pathlib import Path

from conductor_trainer.checkpoint import Record, describe, identity_of
from conductor_trainer.contract import CheckpointName, InitRequest, JsonObject
from conductor_trainer.errors import BadRequest
from conductor_trainer.make_once import make_once
from conductor_trainer.memory import require_memory
from conductor_trainer.model import add_adapter, load_model, load_tokenizer
from conductor_trainer.record import Made, record_of, save_record
from conductor_trainer.tiny_model import build_tiny, read_texts

BASE = "base"
"""Name of the checkpoint that a training run begins with."""


def init(root: Path, request: InitRequest, texts: Path | None) -> JsonObject:
    """Makes the checkpoint `base`.

    With LoRA it holds an adapter that changes nothing yet, so that every checkpoint of a run is
    served in the same way.
    """
    target = CheckpointName(trainRun=request["trainRun"], name=BASE)
    identity = identity_of("init", request)

    def build(temporary: Path) -> Record:
        model_folder, base = _place_base(request, texts, temporary)
        made = Made(root, temporary, target, identity, base, request["config"], step=0)
        return begin(made, model_folder, {})

    record, replayed = make_once(root, target, identity, build)
    return describe(target, record, replayed)


def _place_base(request: InitRequest, texts: Path | None, temporary: Path) -> tuple[Path, str]:
    """Where the whole model lies now, and where it will be found. A given one stays in place."""
    base, model = request["base"], temporary / "model"
    if base["kind"] == "folder":
        folder = Path(base["path"]).absolute()
        if not folder.is_dir():
            raise BadRequest(
                f"There is no folder {folder} on the trainer's machine. Put the base model there, "
                "or name its folder."
            )
        model.symlink_to(folder)
    elif texts is None:
        raise BadRequest("A tiny base model needs texts for its tokenizer; none were handed over.")
    else:
        build_tiny(base, read_texts(texts), request["config"]["seed"], model)
    return model, f"{request['trainRun']}/{BASE}/model"


def begin(made: Made, model_folder: Path, outcome: JsonObject) -> Record:
    """Records a whole model as it is, or with LoRA an adapter to it that changes nothing yet."""
    require_memory(model_folder, made.config)
    tokenizer = load_tokenizer(model_folder)
    model = load_model(model_folder)
    tuning = made.config["tuning"]
    if tuning["kind"] == "full":
        return record_of(made, model, tokenizer, model_folder, made.base, outcome)
    adapted = add_adapter(model, tuning, made.config["seed"])
    return save_record(made, adapted, tokenizer, model_folder, outcome)
