"""Arguments that cannot be sent."""

import asyncio
import math
import queue

import pytest

import junctiond
from junctiond import AsyncClient, Client, credentials
from scripted import PATIENCE, SNAPSHOT


@pytest.fixture
def asks(scripted):
    """A daemon that asks for a credential, and signs the user in. Has the queue of the connections and the answers on them."""

    class Asks:
        answers = queue.Queue()

        def respond(self, peer, message):
            if message.get("method") == "session.identify":
                params = {"externalUserId": message["params"]["externalUserId"]}
                peer.send(id=f"about {message['id']}", method="session.authenticate", params=params)
            elif "method" in message:
                peer.send(id=message["id"], result=SNAPSHOT)
            else:
                self.answers.put((peer, message))
                asked = int(message["id"].split()[1])
                if "error" in message:
                    peer.send(id=asked, error={"code": 1002, "message": "No credential"})
                else:
                    peer.send(id=asked, result={"outcome": "signedIn", "snapshot": SNAPSHOT})

    asks = Asks()
    asks.path = scripted(asks.respond)
    return asks


UNSENDABLE = {
    "half of a surrogate pair": ("secret\ud800", junctiond.InvalidParams),
    "too long": ("secret" * 200_000, junctiond.RequestTooLarge),
}
unsendable = pytest.mark.parametrize("token, error", UNSENDABLE.values(), ids=UNSENDABLE)


def check(asks, raised):
    """The daemon's question was refused on the connection that also brought the second credential, and the error has no secret."""
    first, refused = asks.answers.get(timeout=PATIENCE)
    second, answered = asks.answers.get(timeout=PATIENCE)
    assert "error" in refused and answered["result"]["token"] == "token" and first is second
    assert isinstance(raised, junctiond.JunctionError) and raised.__context__ is None
    assert "secret" not in f"{raised} {raised.args} {raised.__dict__}"


@unsendable
def test_a_credential_that_cannot_be_sent_refuses_the_question(asks, token, error):
    with Client(asks.path) as client:
        with pytest.raises(error) as raised:
            client.identify("anna", lambda user: credentials.SignInToken(token))
        assert client.identify("anna", lambda user: credentials.SignInToken("token")).outcome == "signedIn"
    check(asks, raised.value)


@unsendable
def test_a_credential_of_a_task_that_cannot_be_sent_refuses_the_question(asks, token, error):
    async def story():
        async with AsyncClient(asks.path) as client:

            async def wrong(user):
                return credentials.SignInToken(token)

            async def right(user):
                return credentials.SignInToken("token")

            with pytest.raises(error) as raised:
                await client.identify("anna", wrong)
            assert (await client.identify("anna", right)).outcome == "signedIn"
            return raised.value

    check(asks, asyncio.run(story()))


HALF = "\ud800"
WRONG = {
    "sign_in": lambda client: client.sign_in(credentials.UserLogin(HALF)),
    "identify": lambda client: client.identify(HALF),
    "reconcile": lambda client: client.reconcile(HALF),
    "authorization_page": lambda client: client.authorization_page("https://app", HALF, "challenge"),
    "api method": lambda client: client.api(HALF, "/"),
    "api path": lambda client: client.api("GET", HALF),
    "api query": lambda client: client.api("GET", "/", query={"a": HALF}),
    "api header": lambda client: client.api("GET", "/", headers={HALF: "a"}),
    "api body": lambda client: client.api("POST", "/", body=HALF),
    "api query of another type": lambda client: client.api("GET", "/", query={"a": b"a"}),
    "validity nan": lambda client: client.token(minimum_validity=math.nan),
    "validity inf": lambda client: client.token(minimum_validity=math.inf),
    "validity negative": lambda client: client.token(minimum_validity=-1),
    "patience nan": lambda client: client.token(patience=math.nan),
    "timeout nan": lambda client: client.status(timeout=math.nan),
    "timeout of wait nan": lambda client: client.wait("fresh", timeout=math.nan),
    "timeout of next nan": lambda client: client.watch().next(timeout=math.nan),
    "goal": lambda client: client.wait("sober"),
}


@pytest.fixture
def heard(scripted):
    """A daemon that answers every request. Has the list of their methods."""

    class Heard:
        methods = []

        def respond(self, peer, message):
            self.methods.append(message["method"])
            peer.send(id=message["id"], result=SNAPSHOT)

    heard = Heard()
    heard.path = scripted(heard.respond)
    return heard


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_found_before_anything_is_sent(heard, call):
    with Client(heard.path) as client:
        with pytest.raises(junctiond.InvalidParams) as raised:
            call(client)
        assert raised.value.code is None
        client.status()
    assert heard.methods == ["session.status"]


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_a_wrong_argument_of_a_task_is_found_before_anything_is_sent(heard, call):
    async def story():
        async with AsyncClient(heard.path) as client:
            with pytest.raises(junctiond.InvalidParams) as raised:
                await call(client)
            assert raised.value.code is None
            await client.status()

    asyncio.run(story())
    assert heard.methods == ["session.status"]
