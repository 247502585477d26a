"""Machines that train together, from the variables of torchrun, SLURM and Kubernetes' Indexed Jobs.

Loads no package, as programs must at first. The options set torchrun's variables, which steps then
inherit.
"""

import argparse
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conductor_trainer.errors import BadRequest
from conductor_trainer.starting import CannotStart

if TYPE_CHECKING:
    from conductor_trainer.contract import Config

_RENDEZVOUS = "PET_RDZV_ENDPOINT"
_COUNT = ("PET_NNODES", "SLURM_NNODES")
_RANK = ("PET_NODE_RANK", "SLURM_NODEID", "JOB_COMPLETION_INDEX")


@dataclass(frozen=True)
class Nodes:
    count: int
    rank: int
    """0 is the worker's own node."""
    host: str
    port: int
    """Port of the worker's node, where the others find it; 0 takes any, for a single node."""


ALONE = Nodes(1, 0, "127.0.0.1", 0)


def add_node_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of a program that trains together with other nodes."""
    parser.add_argument(
        "--rendezvous",
        metavar="HOST:PORT",
        default=os.environ.get(_RENDEZVOUS),
        help="address at which several nodes meet, on the worker's node (default: "
        f"{_RENDEZVOUS}, or else one node trains alone)",
    )
    parser.add_argument(
        "--nodes",
        metavar="N",
        default=_first_of(_COUNT),
        help=f"how many nodes train together (default: {' or '.join(_COUNT)})",
    )
    parser.add_argument(
        "--node-rank",
        metavar="N",
        default=_first_of(_RANK),
        help=f"this node's number, 0 for the worker's (default: {', '.join(_RANK)})",
    )


def set_nodes(options: argparse.Namespace) -> Nodes:
    """Hands the options to the steps of this program. Raises `CannotStart`."""
    if options.rendezvous is None:
        return ALONE
    given = {_RENDEZVOUS: options.rendezvous, _COUNT[0]: options.nodes, _RANK[0]: options.node_rank}
    os.environ.update({name: value for name, value in given.items() if value is not None})
    return nodes()


def nodes() -> Nodes:
    """Returns the nodes of this program. Raises `CannotStart` if they cannot be numbered."""
    rendezvous = os.environ.get(_RENDEZVOUS)
    if rendezvous is None:
        return ALONE
    host, _, port = rendezvous.rpartition(":")
    count, rank = _first_of(_COUNT), _first_of(_RANK)
    numbers = [port, count or "", rank or ""]
    if not host or not all(each.isdecimal() for each in numbers):
        raise CannotStart(
            f"nodes at {rendezvous!r} cannot meet, {count or 'unknown'} in number and this one "
            f"numbered {rank or 'unknown'}: give --rendezvous HOST:PORT, --nodes N, the same "
            "number of them at all times, and --node-rank from 0 to N - 1"
        )
    found = Nodes(int(count or 0), int(rank or 0), host.strip("[]"), int(port))
    if found.rank >= found.count:
        raise CannotStart(f"--node-rank {found.rank} must be less than --nodes {found.count}")
    return found


def processes_here(config: "Config") -> int:
    """Returns the processes of a step on each node. Raises `BadRequest`."""
    processes, count = config["processes"], nodes().count
    if processes == 1 or processes % count == 0:
        return max(1, processes // count)
    raise BadRequest(
        f"training.trainer.processes is {processes}, which {count} nodes cannot share equally: "
        f"give a multiple of {count}."
    )


def _first_of(names: tuple[str, ...]) -> str | None:
    return next((os.environ[name] for name in names if name in os.environ), None)
