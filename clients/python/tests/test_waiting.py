"""Who may wait for the daemon: threads, tasks, and both after an exception of a signal handler."""

import asyncio
import math
import sys
import threading

import pytest

import junctiond
from junctiond import AsyncClient, Client
from scripted import SNAPSHOT, in_background, in_thread


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
    first = in_background(lambda: list(watch))
    waits.wait()

    def second():
        with pytest.raises(junctiond.Busy, match="another thread"):
            watch.next(timeout=60)
        return True

    assert in_thread(second)
    watch.close()
    assert first.result() == []


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
                await watch.next(timeout=60)
            first.cancel()
            with pytest.raises(junctiond.TimedOut):
                await asyncio.gather(first, return_exceptions=True)
                await watch.next(timeout=0.01)

    asyncio.run(story())


EXPIRED = {"issuedAt": "2026-11-22T10:00:00Z", "expiresAt": "2026-11-22T11:00:00Z", "generation": 1}
ENDED = {"code": "user_banned", "message": "The user is banned", "at": "2026-11-22T10:00:00Z"}


@pytest.mark.parametrize("members, error, word", [
    ({"state": "terminated", "termination": ENDED}, junctiond.SessionTerminated, "The user is banned"),
    ({"state": "terminated"}, junctiond.SessionTerminated, "does not say why"),
    (
        {"state": "tokenExpired", "flags": ["signedIn", "pendingReauthentication"], "accessToken": EXPIRED},
        junctiond.ReauthenticationRequired, "sign the same user in again",
    ),
    (
        {"state": "established", "storage": {**SNAPSHOT["storage"], "status": "locked", "readable": False, "reason": "Look."}},
        junctiond.StorageUnavailable, "locked: Look.",
    ),
])
def test_waiting_for_a_fresh_session_ends_if_a_person_has_to_act(scripted, members, error, word):
    path = scripted(lambda peer, message: peer.send(id=message["id"], result={**SNAPSHOT, **members}))

    with pytest.raises(error, match=word) as raised:
        Client(path).wait("fresh", timeout=60)
    assert (raised.value.termination is not None) == ("termination" in members)

    async def story():
        with pytest.raises(error, match=word):
            await AsyncClient(path).wait("fresh", timeout=60)

    asyncio.run(story())


# Exceptions of signal handlers, such as ^C.


class Interrupted(Exception):
    """The exception of a signal handler."""


def is_interrupted(point, function):
    """Calls the function, and raises an exception at the n-th place where Python runs signal handlers: at the beginning of a
    function in Python, and after a call. Returns whether the function has so many places."""
    left = point

    def profile(frame, event, argument):
        nonlocal left
        if event in ("call", "return", "c_return"):
            left -= 1
            if left == 0:
                raise Interrupted

    sys.setprofile(profile)
    try:
        function()
    except Interrupted:
        pass
    finally:
        sys.setprofile(None)
    return left <= 0


# An exception in a destructor is only printed.
interrupts = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def interrupted_everywhere(story):
    """Plays the story with an interrupt at each place, until there is no such place. The story returns `is_interrupted`."""
    point = 1
    while in_thread(lambda: story(point)):
        point += 1
    assert point > 100


@interrupts
@pytest.mark.parametrize("is_late", [False, True])
def test_an_interrupt_of_the_thread_that_receives_affects_no_other_thread(scripted, is_late):
    """The interrupted thread receives the other thread's answer; a late one the other thread has to receive itself."""
    here = {}

    def respond(peer, message):
        if message["method"] == "daemon.metrics":
            here["held"] = peer, message["id"]
            here["goes"].set()
        else:
            if not is_late:
                peer.send(id=message["id"], result=SNAPSHOT)
            if "held" in here:
                asking, id = here.pop("held")
                asking.send(id=id, result={"text": "metrics"})
            if is_late:
                here["is_over"].wait()
                peer.send(id=message["id"], result=SNAPSHOT)

    path = scripted(respond)

    def story(point):
        here.clear()
        here.update(goes=threading.Event(), is_over=threading.Event())
        with Client(path, timeout=math.inf) as client:

            def other():
                here["goes"].wait()
                return client.status().state

            answer = in_background(other)
            was_interrupted = is_interrupted(point, client.metrics)
            here["goes"].set()
            here["is_over"].set()
            assert answer.result() == "notLoggedIn"
            assert client.status().state == "notLoggedIn"
        return was_interrupted

    interrupted_everywhere(story)


@interrupts
def test_an_interrupt_of_a_thread_that_does_not_receive_affects_no_other_thread(scripted):
    here = {}

    def respond(peer, message):
        if message["method"] == "daemon.metrics":
            here["reads"].set()
            is_over = here["is_over"]

            def answer():
                is_over.wait()
                peer.send(id=message["id"], result={"text": "metrics"})

            threading.Thread(target=answer, daemon=True).start()
        else:
            peer.send(id=message["id"], result=SNAPSHOT)

    path = scripted(respond)

    def story(point):
        here.update(reads=threading.Event(), is_over=threading.Event())
        with Client(path, timeout=math.inf) as client:
            answer = in_background(client.metrics)
            here["reads"].wait()
            was_interrupted = is_interrupted(point, client.status)
            assert client.status().state == "notLoggedIn"
            here["is_over"].set()
            assert answer.result() == "metrics"
        return was_interrupted

    interrupted_everywhere(story)


@interrupts
def test_an_interrupt_of_a_watch_leaves_it_usable(subscribed):
    def story(point):
        with Client(subscribed).watch() as watch:
            was_interrupted = is_interrupted(point, watch.next)
            with pytest.raises(junctiond.TimedOut):
                watch.next(timeout=0)
                watch.next(timeout=0)
        return was_interrupted

    interrupted_everywhere(story)
