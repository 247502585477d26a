"""Who may go and who waits: the line tells at once."""

import asyncio

import pytest

from conductor_trainer.restarting_server.service import Turns


def test_all_who_want_the_same_are_let_in_at_once() -> None:
    turns = Turns()
    assert [turns.ask("a").is_set() for _ in range(3)] == [True, True, True]


def test_another_thing_waits_until_the_last_one_has_left() -> None:
    turns = Turns()
    turns.ask("a")
    turns.ask("a")
    other = turns.ask("b")
    turns.leave()
    assert not other.is_set()
    turns.leave()
    assert other.is_set()


def test_once_somebody_waits_nobody_overtakes() -> None:
    turns = Turns()
    turns.ask("a")
    other = turns.ask("b")
    late = turns.ask("a")
    assert not late.is_set()
    turns.leave()
    assert (other.is_set(), late.is_set()) == (True, False)
    turns.leave()
    assert late.is_set()


def test_all_who_wait_for_the_same_go_together_in_order_of_the_first() -> None:
    turns = Turns()
    turns.ask("start")
    waiting = [(each, turns.ask(each)) for each in "bcbacb"]
    inside, went = 1, list[str]()
    while inside:
        for _ in range(inside):
            turns.leave()
        went.append("".join(each for each, turn in waiting if turn.is_set()))
        waiting = [(each, turn) for each, turn in waiting if not turn.is_set()]
        inside = len(went[-1])
    assert went == ["bbb", "cc", "a", ""]


@pytest.mark.anyio
async def test_whoever_comes_when_nobody_is_in_goes_at_once() -> None:
    turns = Turns()
    async with turns.turn("a"):
        pass
    assert turns.ask("b").is_set()


@pytest.mark.anyio
async def test_whoever_gives_up_waiting_is_not_waited_for() -> None:
    turns = Turns()
    turns.ask("a")

    async def wait() -> None:
        async with turns.turn("b"):
            pass

    impatient = asyncio.create_task(wait())
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.wait([impatient])
    other = turns.ask("c")
    turns.leave()
    assert other.is_set()
