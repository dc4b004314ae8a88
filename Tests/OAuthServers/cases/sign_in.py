"""Sign-ins by device, by browser, and with another program's refresh token."""

import base64
import hashlib

from servers import Glewlwyd, Toolkit
from servers.server import Server
from suite import await_that, case, is_healthy


def by_device(stage, server, client="public", **configuration):
    daemon = stage.daemon(server, client=client, **configuration)
    begun = daemon.call("session.signIn", scheme="device")
    codes = begun["authorization"]
    stage.check("the answer has the codes", codes["userCode"] and codes["verificationUri"].startswith(server.root), begun)
    stage.check("and says that a session is being established", begun["state"] == "establishing", begun)
    again = daemon.call("session.signIn", scheme="device")["authorization"]
    stage.check("a second sign-in shows the same code", again["userCode"] == codes["userCode"])

    server.approve(codes["userCode"], "alice", client)
    signed_in = daemon.until(is_healthy)

    stage.check("approved, the user is signed in", stage.is_owner(daemon), signed_in)
    stage.check("the codes are gone", daemon.status.get("authorization") is None)
    stage.check("on the disk", signed_in["storage"]["durable"])
    stage.check("and the server knows of one session", server.living("alice") == 1)
    stage.check("junctionctl says so", signed_in["userId"] in daemon.ctl("status").stdout)
    stage.check("the code is in no line of the log", codes["userCode"] not in daemon.log.read_text())


@case("device, glewlwyd")
def _(stage):
    by_device(stage, stage.server(Glewlwyd))


@case("device, toolkit")
def _(stage):
    by_device(stage, stage.server(Toolkit))


@case("device, a client with a secret")
def _(stage):
    by_device(stage, stage.server(Toolkit), "secret", secret=Server.SECRET, clientAuthentication="basic")
    by_device(stage, stage.server(Glewlwyd), "secret", secret=Server.SECRET, clientAuthentication="post")


@case("device, a client with a key")
def _(stage):
    server = stage.server(Glewlwyd)
    by_device(
        stage, server, "key", clientAuthentication="privateKeyJwt", clientKeyFile=str(server.client_key),
        assertionAudience="endpoint",
    )


@case("device, by junctionctl")
def _(stage):
    server = stage.server(Toolkit)
    daemon = stage.daemon(server)

    began = daemon.ctl("sign-in", "--device", "--no-wait")
    codes = daemon.status["authorization"]
    stage.check("it prints code and address", codes["userCode"] in began.stdout and server.root in began.stdout, began)
    with daemon.talking_ctl("sign-in", "--device") as waiting:
        line = next(line for line in waiting.stdout if codes["userCode"] in line)
        stage.check("the next one the same", line)
        server.approve(codes["userCode"], "alice")
        rest = waiting.stdout.read()
        stage.check("it waits, and says who is signed in", waiting.wait() == 0 and daemon.status["userId"] in rest, rest)
    stage.check("the code is in no line of the log", codes["userCode"] not in daemon.log.read_text())


@case("device, denied")
def _(stage):
    server = stage.server(Toolkit)
    daemon = stage.daemon(server)
    codes = daemon.call("session.signIn", scheme="device")["authorization"]
    server.deny(codes["userCode"], "alice")

    ended = daemon.until(lambda snapshot: snapshot["state"] == "notLoggedIn")

    stage.check("nobody is signed in, and it says why", "denied" in (ended["renewal"]["lastError"] or ""), ended)
    stage.check("the codes are gone", ended.get("authorization") is None)
    stage.check("the server has given nothing", server.issued("alice") == 0)
    stage.sign_in(daemon)
    stage.check("the next sign-in succeeds", stage.is_owner(daemon))
    stage.check("and the denial is forgotten", daemon.status["renewal"]["lastError"] is None)


@case("device, expired")
def _(stage):
    server = stage.server(Glewlwyd, device_expires=3)
    daemon = stage.daemon(server)
    daemon.call("session.signIn", scheme="device")

    ended = daemon.until(lambda snapshot: snapshot["state"] == "notLoggedIn")

    stage.check("nobody is signed in, and it says why", "expired" in (ended["renewal"]["lastError"] or ""), ended)
    stage.check("the codes are gone", ended.get("authorization") is None)


@case("device, slow_down")
def _(stage):
    server = stage.server(Glewlwyd)
    daemon = stage.daemon(server)
    code = daemon.call("session.signIn", scheme="device")["authorization"]["userCode"]

    mark = server.find_polls_too_fast()
    await_that(lambda: server.polled_at() != mark)
    told = server.polled_at()
    await_that(lambda: server.polled_at() != told)
    next_poll = server.polled_at()

    stage.check("the next poll comes five seconds later than before", next_poll - told >= 6, (told, next_poll))
    server.approve(code, "alice")
    daemon.until(is_healthy)
    stage.check("and the approval is received", stage.is_owner(daemon))


@case("device, killed in the middle")
def _(stage):
    for kind in (Glewlwyd, Toolkit):
        server = stage.server(kind)
        daemon = stage.daemon(server)
        code = daemon.call("session.signIn", scheme="device")["authorization"]["userCode"]

        daemon.kill()
        server.approve(code, "alice")
        daemon.start()

        daemon.until(is_healthy)
        stage.check(f"{server.name}: the approval during the outage is received", stage.is_owner(daemon))


@case("device, given up")
def _(stage):
    server = stage.server(Toolkit)
    daemon = stage.daemon(server)
    code = daemon.call("session.signIn", scheme="device")["authorization"]["userCode"]

    signed_out = daemon.call("session.signOut")
    server.approve(code, "alice")
    later = daemon.call("session.signIn", scheme="device")["authorization"]["userCode"]

    stage.check("a sign-out takes the code away", signed_out["state"] == "notLoggedIn", signed_out)
    stage.check("the next sign-in has another", later != code)
    server.approve(later, "bob")
    daemon.until(is_healthy)
    stage.check("whose approval counts", server.living("bob") == 1 and server.issued("alice") == 0)


@case("browser")
def _(stage):
    # Not with glewlwyd, which requires a nonce.
    server = stage.server(Toolkit)
    daemon = stage.daemon(server, client="browser")
    verifier = "a-verifier-of-forty-three-characters-or-more"
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    redirect = "http://127.0.0.1/callback"
    url = daemon.call("session.authorizationPage", redirectUri=redirect, state="a-state", codeChallenge=challenge)["url"]

    back = server.consent(url, "alice")
    stage.check("the page sends the browser back", back.get("state") == "a-state", back)
    signed_in = daemon.call(
        "session.signIn", scheme="authorizationCode", code=back["code"], redirectUri=redirect, codeVerifier=verifier
    )

    stage.check("the user is signed in", is_healthy(signed_in) and stage.is_owner(daemon), signed_in)
    stage.check("and can be renewed", daemon.renew()["accessToken"]["generation"] == 2)


@case("another tool's refresh token")
def _(stage):
    for server in (stage.server(Toolkit), stage.server(Glewlwyd)):
        token = server.sign_in("alice")["refresh_token"]
        daemon = stage.daemon(server)

        daemon.call("session.signIn", scheme="refreshToken", refreshToken=token)

        stage.check(f"{server.name}: the user is signed in", stage.is_owner(daemon))
        stage.check(f"{server.name}: the login is this daemon's now", server.living("alice") == 1)
        other = server.sign_in("bob")["refresh_token"]
        refusal = daemon.refusal("session.signIn", scheme="refreshToken", refreshToken=other)
        stage.check(f"{server.name}: another user's is refused", refusal and refusal.kind == "alreadySignedIn", refusal)
        stage.check(f"{server.name}: and not spent", server.refresh(other).status == 200)
