"""The policies that a server knows by name."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path

from conductor_trainer.policy_server.api_error import (
    bad_request,
    loaded_already,
    never_loaded,
    not_found,
    unknown_model,
)
from conductor_trainer.policy_server.policy import Policy, load_policy


class PolicyShelf:
    """Policies by name, of which the weights of the few used last are in memory.

    A name means one folder from `load` to `unload`: as with vLLM, a new version has a new name.
    """

    def __init__(
        self,
        folders: Mapping[str, Path],
        *,
        in_memory: int,
        read: Callable[[Path], Policy] = load_policy,
    ) -> None:
        self._folders = dict(folders)
        self._in_memory = in_memory
        self._read = read
        self._loaded: OrderedDict[str, Policy] = OrderedDict()

    @property
    def names(self) -> list[str]:
        """Every name that can be asked for, oldest first."""
        return list(self._folders)

    def find(self, name: str) -> Policy:
        """The policy of that name, read anew if it had to make room."""
        folder = self._folders.get(name)
        if folder is None:
            raise unknown_model(name, self.names)
        policy = self._loaded.pop(name, None) or self._read(folder)
        self._loaded[name] = policy
        while len(self._loaded) > self._in_memory:
            self._loaded.popitem(last=False)
        return policy

    def load(self, name: str, folder: Path) -> None:
        """Makes a folder known by a new name, and reads it to be sure that it can be."""
        if name in self._folders:
            raise loaded_already(name, self._folders[name])
        if not any((folder / file).exists() for file in ("config.json", "adapter_config.json")):
            raise not_found(f"No adapter or model found for '{name}' in {folder}.")
        self._folders[name] = folder
        try:
            self.find(name)
        except Exception as error:
            del self._folders[name]
            raise bad_request(f"'{name}' cannot be loaded from {folder}: {error}") from error

    def unload(self, name: str) -> None:
        """Forgets a name."""
        if self._folders.pop(name, None) is None:
            raise never_loaded(name)
        self._loaded.pop(name, None)
