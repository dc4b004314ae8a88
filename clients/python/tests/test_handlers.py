"""The cancellation of an asynchronous session handler."""

import asyncio
import json
from datetime import datetime, timedelta, timezone

from junctiond import AsyncClient, renewal


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
