"""Policies that a server knows by name, a few of which stay in memory."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from conductor_trainer import http_answers as answers
from conductor_trainer.http_answers import ApiError, Locate
from conductor_trainer.model import load_merged
from conductor_trainer.weights import SAFELY

_SETTINGS = ("config.json", "adapter_config.json")


@dataclass(frozen=True)
class Policy:
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    end_ids: frozenset[int]
    max_positions: int
    """Token limit of prompt and reply together."""


def load_policy(folder: Path, device: str = "cpu") -> Policy:
    """Loads a folder with a whole model, or with a LoRA adapter that names its base model.

    The weights are float32, even on a GPU.
    """
    model: Any = load_merged(folder)
    has_tokenizer = (folder / "tokenizer_config.json").exists()
    tokenizer = AutoTokenizer.from_pretrained(
        folder if has_tokenizer else model.name_or_path, **SAFELY
    )
    model.to(device).eval()
    most = model.config.max_position_embeddings
    return Policy(model, tokenizer, _end_ids(model, tokenizer), most)


def _end_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    named = model.generation_config.eos_token_id if model.generation_config else None
    ids = [*named] if isinstance(named, list) else [named, tokenizer.eos_token_id]
    return frozenset(each for each in ids if isinstance(each, int))


class PolicyCache:
    """Keeps the last used policies in memory. A name means one folder until `unload`."""

    def __init__(
        self,
        folders: Mapping[str, Path],
        *,
        in_memory: int,
        read: Callable[[Path], Policy] = load_policy,
        locate: Locate = nullcontext,
    ) -> None:
        """`locate` resolves a requested path to a local folder, which stays while it is read."""
        self._folders = dict(folders)
        self._in_memory = in_memory
        self._read = read
        self._locate = locate
        self._loaded: OrderedDict[str, Policy] = OrderedDict()

    @property
    def names(self) -> list[str]:
        return list(self._folders)

    def find(self, name: str) -> Policy:
        """Returns the policy of that name, read again if it was evicted. Raises `ApiError`."""
        folder = self._folders.get(name)
        if folder is None:
            raise answers.unknown_model(name, self.names)
        policy = self._loaded.pop(name, None)
        if policy is None:
            with self._locate(folder) as place:
                policy = self._read(place)
        self._loaded[name] = policy
        while len(self._loaded) > self._in_memory:
            self._loaded.popitem(last=False)
        return policy

    def load(self, name: str, folder: Path) -> None:
        """Registers a folder under a new name, and loads it. Raises `ApiError` if that fails."""
        if name in self._folders:
            raise answers.loaded_already(name, self._folders[name])
        try:
            with self._locate(folder) as place:
                if not any((place / file).exists() for file in _SETTINGS):
                    raise ApiError(404, f"No adapter or model found for '{name}' in {folder}.")
                self._folders[name] = folder
                self.find(name)
        except Exception as error:
            self._folders.pop(name, None)
            if isinstance(error, ApiError):
                raise
            raise ApiError(400, f"'{name}' cannot be loaded from {folder}: {error}") from error

    def unload(self, name: str) -> None:
        if self._folders.pop(name, None) is None:
            raise answers.never_loaded(name)
        self._loaded.pop(name, None)
