"""A child of `os.fork` and its parent do not disturb each other. In separate programs, because pytest must not be forked."""

import os
import subprocess
import sys

import pytest

from scripted import PATIENCE, SNAPSHOT


@pytest.fixture
def program(scripted):
    """Runs a program with a daemon that sends its subscribers a new snapshot for each sign-out. Returns what it printed."""
    subscriptions = []

    def respond(peer, message):
        if message["method"] == "session.signOut":
            for each in subscriptions:
                each.send(method="session.changed", params={"snapshot": {**SNAPSHOT, "revision": 2}})
        peer.send(id=message["id"], result=SNAPSHOT)
        if message["method"] == "session.subscribe":
            subscriptions.append(peer)

    path = scripted(respond)

    def run(code):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], env={**os.environ, "JUNCTIOND_SOCKET": path},
            capture_output=True, text=True, timeout=PATIENCE,
        )
        return done.stdout + done.stderr

    return run


@pytest.mark.parametrize("action", ["client.status(); os._exit(0)", "client.close(); os._exit(0)", "sys.exit(0)"])
def test_a_child_does_not_wait_for_a_lock_of_a_client(program, action):
    """This thread holds the locks during the fork, as another thread of the parent may."""
    assert program(f"""
import os, sys
from junctiond import Client
with Client() as client:
    client.status()
    locks = client._lock, client._connection._lock
    for lock in locks:
        lock.acquire()
    child = os.fork()
    if child == 0:
        {action}
    for lock in locks:
        lock.release()
    assert os.waitpid(child, 0)[1] == 0
    print(client.status().state)
""") == "notLoggedIn\n"


def test_a_child_does_not_wait_for_a_thread_of_its_parent_on_a_watch(program):
    assert program("""
import os, threading
from junctiond import Client
watch, waits = Client().watch(), threading.Event()
watch.next()
take = watch._changes.take
watch._changes.take = lambda feed: waits.set() or take(feed)
thread = threading.Thread(target=watch.next)
thread.start()
waits.wait()
child = os.fork()
if child == 0:
    assert watch.next().revision == 1
    watch.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
Client().sign_out()
thread.join()
print("the parent's thread got the change")
""") == "the parent's thread got the change\n"


def test_a_callback_that_forks_leaves_the_connection_to_the_parent(binaries, daemon, sandbox):
    """The child gets an error, the parent signs in."""
    user = sandbox.new_user("anna")
    code = f"""
import os, sys
from junctiond import Client, ConnectionLost, credentials
client = Client()
def credential(name):
    global child
    child = os.fork()
    return credentials.SignInToken({sandbox.sign_in_token(user)!r})
try:
    outcome = client.identify("anna@example.com", credential).outcome
except ConnectionLost:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), outcome)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], env={**os.environ, "JUNCTIOND_SOCKET": daemon.socket},
        capture_output=True, text=True, timeout=PATIENCE,
    )
    assert (done.stdout, done.stderr) == ("7 signedIn\n", "")


# asyncio.


@pytest.mark.parametrize("action", ["asyncio.run(state()); os._exit(0)", "sys.exit(0)"])
def test_a_child_leaves_the_connection_of_an_asynchronous_client_to_the_parent(program, action):
    assert program(f"""
import asyncio, os, sys
from junctiond import AsyncClient

async def state():
    return (await client.status()).state

async def main():
    global client
    async with AsyncClient() as client:
        await state()
        child = os.fork()
        if child == 0:
            {action}
        assert os.waitpid(child, 0)[1] == 0
        print(await state())

asyncio.run(main())
""") == "notLoggedIn\n"


@pytest.mark.parametrize("action", ["assert asyncio.run(watch.next()).revision == 1; os._exit(0)", "sys.exit(0)"])
def test_a_child_leaves_the_connection_of_an_asynchronous_watch_to_the_parent(program, action):
    assert program(f"""
import asyncio, os, sys
from junctiond import AsyncClient

async def main():
    async with AsyncClient() as client, client.watch() as watch:
        await watch.next()
        change = asyncio.ensure_future(watch.next())
        await asyncio.sleep(0)
        child = os.fork()
        if child == 0:
            {action}
        assert os.waitpid(child, 0)[1] == 0
        await client.sign_out()
        print((await change).revision)

asyncio.run(main())
""") == "2\n"


def test_a_child_does_not_read_from_the_connection_of_its_parent_s_watch(program):
    """The daemon has sent the change before the child asks for it."""
    assert program("""
import asyncio, os, sys
from junctiond import AsyncClient, Client

async def main():
    async with AsyncClient() as client, client.watch() as watch:
        await watch.next()
        Client().sign_out()
        child = os.fork()
        if child == 0:
            assert asyncio.run(watch.next()).revision == 1
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print((await watch.next()).revision)

asyncio.run(main())
""") == "2\n"
