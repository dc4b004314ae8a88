"""The answers of a session handler, and the cancellation of an asynchronous one."""

import asyncio
import json
import queue
import signal
import threading
from datetime import datetime, timedelta, timezone

import pytest

from junctiond import AsyncClient, Client, renewal
from scripted import PATIENCE, in_background


def question(id, seconds=3600):
    deadline = (datetime.now(timezone.utc) + timedelta(seconds=seconds)).isoformat()
    params = {"renewalId": str(id), "reason": "expiring", "userId": "anna", "expiresAt": None, "deadline": deadline}
    return {"jsonrpc": "2.0", "id": id, "method": "session.willRenewAccessToken", "params": params}


class Stage:
    """A daemon with one script for each connection, and a handler that never answers question 1."""

    def __init__(self, path, *scripts):
        self.path = path
        self.scripts = list(scripts)
        self.thinks = asyncio.Event()
        self.was_cancelled = asyncio.Event()
        self.over = asyncio.Event()
        self.failure = None

    async def serve(self, reader, writer):
        async def hear():
            return json.loads(await reader.readline())

        def say(message):
            writer.write(json.dumps(message).encode() + b"\n")

        try:
            say({"jsonrpc": "2.0", "id": (await hear())["id"], "result": {"registered": True}})
            await self.scripts.pop(0)(hear, say)
        except Exception as error:
            self.failure = error
            self.over.set()
        finally:
            writer.close()

    async def decide(self, request):
        if request.renewal_id != "1":
            return renewal.Renew()
        self.thinks.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled.set()
            raise

    async def play(self):
        server = await asyncio.start_unix_server(self.serve, self.path)
        async with AsyncClient(self.path) as client, client.session_handler(self.decide):
            await self.over.wait()
            await self.was_cancelled.wait()
        server.close()
        if self.failure is not None:
            raise self.failure


def test_a_new_question_cancels_the_previous_one(folder):
    async def story():
        async def script(hear, say):
            say(question(1))
            await stage.thinks.wait()
            say(question(2))
            assert await hear() == {"jsonrpc": "2.0", "id": 2, "result": {"action": "renew"}}
            stage.over.set()

        stage = Stage(f"{folder}/d.sock", script)
        await stage.play()

    asyncio.run(story())


def test_a_handler_is_cancelled_at_the_deadline_and_answers_unable(folder):
    async def story():
        async def script(hear, say):
            say(question(1, seconds=0.2))
            assert (await hear())["result"] == {"action": "unableToRetrieveAuthToken"}
            stage.over.set()

        stage = Stage(f"{folder}/d.sock", script)
        await stage.play()

    asyncio.run(story())


def test_a_handler_is_cancelled_when_the_connection_is_lost(folder):
    async def story():
        async def goes(hear, say):
            say(question(1))
            await stage.thinks.wait()

        async def asks_again(hear, say):
            say(question(2))
            assert (await hear())["id"] == 2
            stage.over.set()

        stage = Stage(f"{folder}/d.sock", goes, asks_again)
        await stage.play()

    asyncio.run(story())


# Answers that cannot be given.

UNABLE = {"action": "unableToRetrieveAuthToken"}


class OtherExit(BaseException):
    """An exception that is no `Exception`."""


def raises(error):
    raise error


@pytest.fixture
def asks(scripted):
    """A daemon that asks a new handler question 1 and, after its answer, question 2. Has the queue of the answers, which ends with
    `None` when the connection ends."""

    class Asks:
        answers = queue.Queue()

        def respond(self, peer, message):
            if "method" in message:
                peer.send(id=message["id"], result={"registered": True})
                peer.send(**question(1))
            else:
                self.answers.put(message)
                if message["id"] == 1:
                    peer.send(**question(2))

        def answer(self):
            message = self.answers.get(timeout=PATIENCE)
            return message and (message["id"], message["result"])

    asks = Asks()
    asks.path = scripted(asks.respond, lambda: asks.answers.put(None))
    return asks


IMPOSSIBLE = {
    "a number": lambda: 5,
    "half of a surrogate pair": lambda: "\ud800",
    "too long": lambda: "x" * (1 << 20),
    "an exception": lambda: raises(OtherExit()),
}


@pytest.mark.parametrize("answer", [*IMPOSSIBLE.values(), lambda: raises(SystemExit(3))], ids=[*IMPOSSIBLE, "an exit"])
def test_a_handler_without_an_answer_is_unable_and_continues(asks, answer):
    handler = Client(asks.path).session_handler(lambda request: answer() if request.renewal_id == "1" else "token")

    with handler:
        assert asks.answer() == (1, UNABLE)
        assert asks.answer() == (2, {"action": "renewWithAuthToken", "authToken": "token"})


@pytest.mark.parametrize("answer", [*IMPOSSIBLE.values(), lambda: raises(asyncio.CancelledError())], ids=[*IMPOSSIBLE, "cancelled"])
def test_an_asynchronous_handler_without_an_answer_is_unable_and_continues(asks, answer):
    async def story():
        async with AsyncClient(asks.path) as client:

            @client.session_handler
            async def handler(request):
                return answer() if request.renewal_id == "1" else "token"

            async with handler:
                loop = asyncio.get_running_loop()
                assert await loop.run_in_executor(None, asks.answer) == (1, UNABLE)
                assert (await loop.run_in_executor(None, asks.answer))[0] == 2

    asyncio.run(story())


def test_a_handler_in_this_thread_that_exits_is_unable_and_ends_the_registration(asks):
    handler = Client(asks.path).session_handler(lambda request: raises(SystemExit(3)))

    with pytest.raises(SystemExit):
        handler.run()

    assert asks.answer() == (1, UNABLE)
    assert asks.answer() is None


def test_an_asynchronous_handler_that_exits_is_unable_before_the_program_ends(asks):
    async def story():
        async with AsyncClient(asks.path) as client:
            await client.session_handler(lambda request: raises(SystemExit(3))).run()

    with pytest.raises(SystemExit):
        asyncio.run(story())

    assert asks.answer() == (1, UNABLE)


def test_a_long_answer_of_an_asynchronous_handler_is_sent_completely(asks):
    async def story():
        async with AsyncClient(asks.path) as client, client.session_handler(lambda request: "x" * 1_000_000):
            assert (await asyncio.get_running_loop().run_in_executor(None, asks.answer))[0] == 1
            assert (await asyncio.get_running_loop().run_in_executor(None, asks.answer))[0] == 2

    asyncio.run(story())


# A block that is not entered.


@pytest.fixture
def silent(scripted):
    """A daemon that does not answer. Has the queue of the methods, which ends with `None` when the connection ends."""

    class Silent:
        heard = queue.Queue()

    silent = Silent()
    silent.path = scripted(lambda peer, message: silent.heard.put(message["method"]), lambda: silent.heard.put(None))
    return silent


def test_an_asynchronous_handler_whose_block_is_not_entered_is_not_registered(silent):
    async def story():
        async with AsyncClient(silent.path) as client:
            entering = asyncio.ensure_future(client.session_handler(lambda request: None).__aenter__())
            loop = asyncio.get_running_loop()
            assert await loop.run_in_executor(None, silent.heard.get) == "handler.register"
            entering.cancel()
            with pytest.raises(asyncio.CancelledError):
                await entering
            assert await loop.run_in_executor(None, silent.heard.get) is None

    asyncio.run(story())


def test_a_handler_whose_block_is_not_entered_is_not_registered(silent):
    class Interrupted(Exception):
        """The exception of a signal handler."""

    def interrupt(*_):
        raise Interrupted

    def interrupt_when_heard():
        assert silent.heard.get() == "handler.register"
        signal.pthread_kill(main, signal.SIGUSR1)

    main = threading.get_ident()
    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(Interrupted):
            in_background(interrupt_when_heard)
            with Client(silent.path).session_handler(lambda request: None):
                pytest.fail("the block was entered")
    finally:
        signal.signal(signal.SIGUSR1, before)

    assert silent.heard.get(timeout=PATIENCE) is None
