"""A stolen refresh token: another program uses it, too."""

from servers import Glewlwyd, Toolkit
from suite import await_that, case, is_healthy, is_refused_without_a_word, needs_sign_in


@case("stolen and used, with reuse protection")
def _(stage):
    server = stage.server(Toolkit)
    daemon = stage.signed_in(server)
    stolen = server.refresh(server.newest("alice"))
    stage.check("the thief gets a token", stolen.status == 200 and server.living("alice") == 1, stolen.body)

    refusal = daemon.refusal("session.renew")

    stage.check("the daemon is refused", refusal and refusal.kind == "reauthenticationRequired", refusal)
    stage.check("the session is kept, and flagged", needs_sign_in(daemon.status), daemon.status)
    stage.check("the server has ended the thief's, too", server.living("alice") == 0)
    stage.check("for good", server.refresh(stolen.json["refresh_token"]).status == 400)
    stage.sign_in(daemon)
    stage.check("signing in again mends it", stage.is_owner(daemon) and server.living("alice") == 1)


@case("stolen and used, without")
def _(stage):
    server = stage.server(Toolkit, reuse_protection=False)
    daemon = stage.signed_in(server)
    server.refresh(server.newest("alice"))

    refusal = daemon.refusal("session.renew")

    stage.check("the daemon is refused", refusal and refusal.kind == "reauthenticationRequired", refusal)
    stage.check("and the server lets the thief go on", server.living("alice") == 1, server.living("alice"))


@case("stolen and used, glewlwyd")
def _(stage):
    server = stage.server(Glewlwyd, access=2)
    token = server.sign_in("alice")["refresh_token"]
    daemon = stage.daemon(server)
    daemon.call("session.signIn", scheme="refreshToken", refreshToken=token)

    replayed = server.refresh(token)
    stage.check("the one before the present one is refused", replayed.status == 400, replayed.body)
    stage.check("and the server ends them all", server.living("alice") == 0, server.living("alice"))

    refused = daemon.until(is_refused_without_a_word)
    stage.check("its 400 without an error code does not end the session at once", refused["userId"] is not None, refused)
    daemon.call("session.signOut")
    stage.sign_in(daemon)
    stage.check("signing in again mends it", stage.is_owner(daemon))


@case("given back")
def _(stage):
    # Like a server that refuses a disabled user for a while and then accepts the same token again.
    server = stage.server(Toolkit, reuse_protection=False)
    daemon = stage.signed_in(server)

    server.query("update oauth2_provider_refreshtoken set revoked = '2020-01-01 00:00:00'")
    refusal = daemon.refusal("session.renew")
    stage.check("refused, the session is flagged", refusal and needs_sign_in(daemon.status), daemon.status)
    server.query("update oauth2_provider_refreshtoken set revoked = null")

    # After a failure the daemon makes one attempt in ten seconds.
    stage.check("session.renew is all it takes", await_that(lambda: not daemon.refusal("session.renew")), daemon.status)
    stage.check("and the flag is gone", is_healthy(daemon.status) and stage.is_owner(daemon), daemon.status)
