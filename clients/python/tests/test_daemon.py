"""Both clients against the built daemon."""

import asyncio
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import junctiond
from junctiond import AsyncClient, Client, credentials, renewal
from stage import Daemon


def token_for(sandbox, user):
    return credentials.SignInToken(sandbox.sign_in_token(user))


def test_signs_in_and_out(client, sandbox):
    user = sandbox.new_user("anna")
    assert client.status().state == junctiond.State.NOT_LOGGED_IN

    snapshot = client.sign_in(token_for(sandbox, user))

    assert (snapshot.user_id, snapshot.is_signed_in, snapshot.is_fresh) == (user, True, True)
    assert snapshot.access_token.expires_at > snapshot.access_token.issued_at
    assert snapshot.storage.durable and snapshot.json["userId"] == user
    assert client.reconcile(user).action == "none"
    assert client.sign_out().state == junctiond.State.NOT_LOGGED_IN
    with pytest.raises(junctiond.NotSignedIn) as refused:
        client.token()
    assert (refused.value.code, refused.value.kind) == (1003, "notSignedIn")


def test_a_token_is_good_at_the_provider_and_is_not_shown(client, anna):
    token = client.token()
    assert (token.user_id, token.token_type) == (anna, "Bearer")
    assert token.authorization == f"Bearer {token.token.reveal()}"
    assert token.token.reveal() not in repr(token)
    answer = client.api("GET", f"/v2/user/{anna}")
    assert answer.is_success and answer.json()["user_id"] == anna
    assert client.api("GET", f"/v2/user/{anna}/nothing").status == 404


def test_errors_have_their_details(client, sandbox, anna):
    bert = sandbox.new_user("bert")
    with pytest.raises(junctiond.AlreadySignedIn) as refused:
        client.sign_in(token_for(sandbox, bert))
    assert refused.value.user_id == anna
    with pytest.raises(junctiond.InvalidParams) as refused:
        client.token(minimum_validity=86400)
    assert 0 < refused.value.maximum < 86400
    with pytest.raises(junctiond.PermissionDenied):
        client.api("GET", f"/v2/user/{bert}")
    with pytest.raises(junctiond.InvalidCredential):
        client.sign_out()
        client.sign_in(credentials.LinkCode("nothing like it"))


def test_identify_asks_for_a_credential_only_if_one_is_needed(client, sandbox):
    anna, bert = sandbox.new_user("anna"), sandbox.new_user("bert")
    asked = []

    def credential(name):
        asked.append(name)
        return token_for(sandbox, {"anna@example.com": anna, "bert@example.com": bert}[name])

    assert client.identify("anna@example.com", credential).outcome == "signedIn"
    assert client.identify("anna@example.com", credential).outcome == "unchanged"
    assert client.identify("bert@example.com", credential).outcome == "switched"
    assert asked == ["anna@example.com", "bert@example.com"]
    with pytest.raises(KeyError):
        client.identify("carl@example.com", credential)
    with pytest.raises(junctiond.InvalidCredential):
        client.identify("carl@example.com")
    assert client.status().external_user_id == "bert@example.com"
    assert client.identify(None).outcome == "signedOut"


def test_states_reports_a_sign_in_once_and_no_renewal_and_no_restart(client, daemon, sandbox):
    user = sandbox.new_user("anna")
    with client.states() as states:
        assert next(states).state == junctiond.State.NOT_LOGGED_IN
        client.sign_in(token_for(sandbox, user))
        while (signed_in := next(states)).state != junctiond.State.ESTABLISHED:
            assert signed_in.state == junctiond.State.ESTABLISHING
        assert client.renew().snapshot.access_token.generation == 2
        assert client.renew().access_token.generation == 3
        daemon.kill()
        daemon.start()
        with pytest.raises(junctiond.TimedOut):
            states.next(timeout=0.05)
        client.sign_out()
        assert next(states).state == junctiond.State.NOT_LOGGED_IN


def test_a_watch_continues_after_a_restart(client, daemon, sandbox):
    user = sandbox.new_user("anna")
    with client.watch() as watch:
        assert next(watch).state == "notLoggedIn"
        client.sign_in(token_for(sandbox, user))
        while not next(watch).is_fresh:
            pass
        daemon.kill()
        daemon.start()
        # The same session, from the new daemon.
        assert next(watch).user_id == user
        with pytest.raises(junctiond.TimedOut):
            watch.next(timeout=0.05)
        client.sign_out()
        while next(watch).is_signed_in:
            pass
    assert client.status().state == "notLoggedIn"


def test_wait(client, daemon, sandbox):
    user = sandbox.new_user("anna")
    with pytest.raises(junctiond.TimedOut):
        client.wait("signed-in", timeout=0.05)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(client.wait, "fresh")
        client.sign_in(token_for(sandbox, user))
        assert waiting.result().user_id == user
    assert client.wait(lambda snapshot: snapshot.user_id == user).is_signed_in
    with pytest.raises(ValueError):
        client.wait("sober")


def test_many_threads_share_one_connection(client, anna):
    with ThreadPoolExecutor(16) as pool:
        tokens = list(pool.map(lambda _: client.token().user_id, range(400)))
    assert tokens == [anna] * 400


def test_a_forked_child_opens_its_own_connection(daemon, anna):
    """In a separate program, because pytest must not be forked."""
    program = """
import os, sys
from junctiond import Client
client = Client()
watch = client.watch()
assert next(watch).is_signed_in and client.status().is_signed_in
if os.fork() == 0:
    assert client.token().user_id and next(watch).is_signed_in
    watch.close()
    client.close()
    os._exit(0)
_, status = os.wait()
try:
    watch.next(timeout=0.05)
except TimeoutError:
    pass
print(status, client.token().user_id)
"""
    environment = {**os.environ, "JUNCTIOND_SOCKET": daemon.socket}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == (f"0 {anna}\n", "")


def test_calls_on_a_stopped_daemon_time_out(client, daemon, anna):
    client.status()
    daemon.pause()
    with pytest.raises(junctiond.TimedOut):
        client.status(timeout=0.1)
    with pytest.raises(TimeoutError):
        client.token(timeout=0.1)
    daemon.go_on()
    assert client.token().user_id == anna


def test_closing_a_client_cancels_its_calls(client, daemon):
    client.status()
    daemon.pause()
    failures = []

    def ask():
        try:
            client.status()
        except junctiond.Cancelled as error:
            failures.append(error.kind)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    client.close()
    for thread in threads:
        thread.join()
    daemon.go_on()
    assert failures == ["cancelled"] * 3
    with pytest.raises(junctiond.Cancelled):
        client.status()


def test_without_a_daemon_a_call_fails_at_once(folder):
    with pytest.raises(junctiond.DaemonUnreachable, match="there is no socket"):
        Client(f"{folder}/none").status()
    with pytest.raises(junctiond.InvalidSocketPath):
        Client("/" + "x" * 200)


def test_a_caller_without_rights_is_denied(binaries, folder, sandbox):
    daemon = Daemon(binaries, folder, 'provider = "social"\n').start()
    try:
        with Client(daemon.socket) as client:
            with pytest.raises(junctiond.Unsupported):
                client.sign_in(credentials.Device())
            info = client.info()
            assert (info.name, info.provider, info.protocol_version) == ("junctiond", "social", 1)
            assert info.pid == daemon.process.pid
            caller = client.whoami()
            assert (caller.user, caller.process) == (os.getuid(), os.getpid())
            assert "manage" in caller.capabilities and caller.basis in ("root", "daemonUser")
            assert "junctiond" in client.metrics()
            assert (client.reload(), client.info().pending_restart) == ((), ())
            assert {check.verdict for check in client.diagnose()} <= {"ok", "note", "problem"}
    finally:
        daemon.kill()


# Session handlers.


def test_a_session_handler_decides(asking):
    with Client(asking.socket) as client:
        client.sign_in(credentials.UserLogin("anna"))
        generation = client.status().access_token.generation
        requests = []

        @client.session_handler
        def handler(request):
            requests.append(request)
            return renewal.Renew()

        with handler:
            assert client.renew().access_token.generation > generation
        assert (requests[0].user_id, requests[0].reason) == ("anna", "requested")
        assert 0 < requests[0].time_left <= 30


def test_a_session_handler_that_was_unable(asking):
    with Client(asking.socket) as client:
        client.sign_in(credentials.UserLogin("anna"))

        @client.session_handler
        def handler(request):
            raise RuntimeError("the backend is offline")

        with handler:
            with pytest.raises(junctiond.ProviderUnavailable) as refused:
                client.renew()
            assert refused.value.retry_after > 0
        assert client.status().renewal.phase == junctiond.Phase.POSTPONED


# The asynchronous client.


def test_tasks(daemon, sandbox):
    user = sandbox.new_user("anna")

    async def story():
        async with AsyncClient(daemon.socket) as client:
            assert (await client.status()).state == "notLoggedIn"

            async def credential(name):
                return token_for(sandbox, user)

            assert (await client.identify("anna@example.com", credential)).outcome == "signedIn"
            tokens = await asyncio.gather(*(client.token() for _ in range(400)))
            assert {token.user_id for token in tokens} == {user}
            async with client.watch() as watch:
                assert (await watch.next()).is_fresh
                daemon.kill()
                daemon.start()
                assert (await watch.next()).user_id == user
            with pytest.raises(junctiond.NotSignedIn):
                await client.sign_out()
                await client.token()
            with pytest.raises(junctiond.TimedOut):
                await client.wait("signed-in", timeout=0.05)
            daemon.pause()
            with pytest.raises(junctiond.TimedOut):
                await client.status(timeout=0.1)
            waiting = asyncio.ensure_future(client.status())
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            daemon.go_on()
            assert (await client.info()).name == "junctiond"
            assert (await client.whoami()).process == os.getpid()

    asyncio.run(story())


def test_one_client_in_two_event_loops(daemon):
    client = AsyncClient(daemon.socket)

    async def state():
        return (await client.status()).state

    assert [asyncio.run(state()), asyncio.run(state())] == ["notLoggedIn"] * 2
    asyncio.run(client.aclose())


def test_an_asynchronous_session_handler_decides(asking):
    async def story():
        async with AsyncClient(asking.socket) as client:
            await client.sign_in(credentials.UserLogin("anna"))
            generation = (await client.status()).access_token.generation

            @client.session_handler
            async def handler(request):
                await asyncio.sleep(0)
                return renewal.Renew()

            async with handler:
                assert (await client.renew()).access_token.generation > generation

    asyncio.run(story())
