"""The queue is bounded, gives every client its turn, and loses no place."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torl.sandbox.admission import FairQueue, Refused


def make_queue(**changes: float) -> FairQueue:
    return FairQueue(**({"places": 1, "limit": 100, "client_limit": 100, "longest_wait_s": 60.0} | changes))


async def hold(queue: FairQueue, client: str, order: list[str], until: Callable[[], Awaitable[object]]) -> None:
    async with queue.place(client):
        order.append(client)
        await until()


def test_clients_take_turns_however_much_one_has_waiting() -> None:
    async def run() -> list[str]:
        queue, order, go = make_queue(), [], asyncio.Event()
        tasks = []
        for client in ("first", *["greedy"] * 4, *["modest"] * 2):
            tasks.append(asyncio.create_task(hold(queue, client, order, go.wait)))
            await asyncio.sleep(0)
        go.set()
        await asyncio.gather(*tasks)
        return order

    assert asyncio.run(run()) == ["first", "greedy", "modest", "greedy", "modest", "greedy", "greedy"]


def test_a_client_has_its_share_and_the_queue_its_end() -> None:
    async def run() -> list[int]:
        queue, statuses = make_queue(limit=3, client_limit=2), []
        done = asyncio.Event()
        waiting = [asyncio.create_task(hold(queue, client, [], done.wait)) for client in "aaab"]
        await asyncio.sleep(0)
        for client in "ac":
            with pytest.raises(Refused) as refusal:
                async with queue.place(client):
                    pass
            statuses.append(refusal.value.status)
        done.set()
        await asyncio.gather(*waiting)
        return statuses

    assert asyncio.run(run()) == [503, 503]


def test_one_client_alone_cannot_fill_the_queue() -> None:
    async def run() -> int:
        queue = make_queue(limit=4, client_limit=2)
        done = asyncio.Event()
        waiting = [asyncio.create_task(hold(queue, "a", [], done.wait)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Refused, match="this client has 2") as refusal:
            async with queue.place("a"):
                pass
        done.set()
        await asyncio.gather(*waiting)
        return refusal.value.status

    assert asyncio.run(run()) == 429


def test_who_waits_too_long_is_refused_and_leaves_no_trace() -> None:
    async def run() -> FairQueue:
        queue = make_queue(longest_wait_s=0.01)
        async with queue.place("a"):
            with pytest.raises(Refused, match=r"within 0\.01 s"):
                async with queue.place("b"):
                    pass
        return queue

    queue = asyncio.run(run())
    assert (queue.busy, queue.waiting) == (0, 0)


def test_a_place_that_comes_in_the_moment_of_giving_up_is_passed_on() -> None:
    async def run() -> FairQueue:
        queue, ran = make_queue(), []

        async def step() -> None:
            await asyncio.sleep(0)

        async with queue.place("a"):
            waiting = asyncio.create_task(hold(queue, "b", ran, step))
            await asyncio.sleep(0)
        waiting.cancel()  # it has the place and does not know yet
        await asyncio.gather(waiting, return_exceptions=True)
        assert ran == []
        return queue

    queue = asyncio.run(run())
    assert (queue.busy, queue.waiting) == (0, 0)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=30), st.integers(1, 3))
def test_no_place_is_lost_when_requests_are_given_up(requests: list[tuple[str, bool]], places: int) -> None:
    async def run() -> None:
        queue, ran = make_queue(places=places), []

        async def step() -> None:
            assert queue.busy <= places
            await asyncio.sleep(0)

        tasks = []
        for client, given_up in requests:
            task = asyncio.create_task(hold(queue, client, ran, step))
            await asyncio.sleep(0)
            tasks.append(task)
            if given_up:
                task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert len(ran) >= sum(result is None for result in results)
        assert (queue.busy, queue.waiting) == (0, 0)

    asyncio.run(run())
