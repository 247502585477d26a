"""HTTP around the service: many connections, and one thread that works in the order of arrival."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from conductor_trainer.http_answers import (
    AnsweringServer,
    Body,
    IsWanted,
    Reply,
    as_json,
    read_body,
)
from conductor_trainer.policy_server.api_error import not_found
from conductor_trainer.policy_server.service import PolicyService


class PolicyHttpServer(AnsweringServer):
    """Serves a policy service."""

    def __init__(self, address: tuple[str, int], service: PolicyService) -> None:
        super().__init__(address, self.respond)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="policy")
        self._routes: dict[str, Callable[[Body], Body]] = {
            "GET /v1/models": service.models,
            "POST /tokenize": service.tokenize,
            "POST /v1/completions": service.completions,
            "POST /v1/load_lora_adapter": service.load,
            "POST /v1/unload_lora_adapter": service.unload,
        }

    def respond(self, route: str, sent: bytes, is_wanted: IsWanted) -> Reply:
        """Does what a request asks for when its turn has come.

        Clients are killed and their requests asked again by others, so what nobody waits for any
        more must not keep those waiting.
        """
        work = self._routes.get(route)
        if work is None:
            raise not_found(f"There is no {route}.")
        body = read_body(sent)
        return as_json(self._worker.submit(lambda: work(body) if is_wanted() else {}).result())
