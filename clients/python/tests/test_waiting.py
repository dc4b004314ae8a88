"""Who may wait for the daemon: threads, tasks, and both after an exception of a signal handler."""

import asyncio
import threading

import pytest

import junctiond
from junctiond import AsyncClient, Client
from scripted import SNAPSHOT, in_thread


@pytest.fixture
def subscribed(scripted):
    """The socket of a daemon that answers each subscription with the same snapshot, and never sends another one."""
    return scripted(lambda peer, message: peer.send(id=message["id"], result=SNAPSHOT))


def test_a_second_thread_that_waits_on_a_watch_is_refused_at_once(subscribed):
    waits = threading.Event()

    watch = Client(subscribed).watch()
    watch.next()
    take = watch._changes.take

    def noticing(feed):
        waits.set()
        return take(feed)

    watch._changes.take = noticing
    first = threading.Thread(target=lambda: list(watch))
    first.start()
    waits.wait()

    def second():
        with pytest.raises(junctiond.Busy, match="another thread"):
            watch.next(timeout=60)
        return True

    assert in_thread(second)
    watch.close()
    first.join()


def test_a_watch_serves_another_thread_after_the_first_one(subscribed):
    watch = Client(subscribed).watch()
    assert watch.next().state == "notLoggedIn"

    def second():
        with pytest.raises(junctiond.TimedOut):
            watch.next(timeout=0.01)
        return True

    assert in_thread(second)
    watch.close()


def test_a_second_task_that_waits_on_a_watch_is_refused_at_once(subscribed):
    async def story():
        async with AsyncClient(subscribed).watch() as watch:
            await watch.next()
            first = asyncio.ensure_future(watch.next())
            await asyncio.sleep(0)
            with pytest.raises(junctiond.Busy, match="another task"):
                await watch.next()
            first.cancel()
            with pytest.raises(junctiond.TimedOut):
                await asyncio.gather(first, return_exceptions=True)
                await watch.next(timeout=0.01)

    asyncio.run(story())
