"""Changes of a user at the server, and their effect on the session."""

from servers import Glewlwyd, Toolkit
from suite import await_that, case, is_healthy, is_refused_without_a_word, needs_sign_in


@case("disabled and enabled")
def _(stage):
    for server in (stage.server(Toolkit), stage.server(Glewlwyd)):
        daemon = stage.signed_in(server)

        server.disable("alice")
        stage.check(f"{server.name}: disabled, the server renews on, and so do we", is_healthy(daemon.renew()))
        server.enable("alice")
        stage.check(f"{server.name}: enabled, too", is_healthy(daemon.renew()) and stage.is_owner(daemon))


@case("deleted, toolkit")
def _(stage):
    server = stage.server(Toolkit)
    daemon = stage.signed_in(server)
    user = daemon.status["userId"]

    server.delete("alice")
    refusal = daemon.refusal("session.renew")

    stage.check("the renewal is refused", refusal and refusal.kind == "reauthenticationRequired", refusal)
    status = daemon.status
    stays = status["state"] != "terminated" and status["userId"] == user
    stage.check("no word of the server ends the session", stays, status)
    code = daemon.call("session.signIn", scheme="device")["authorization"]["userCode"]
    stage.check("the code appears beside the flag", needs_sign_in(daemon.status))
    server.approve(code, "bob")
    ended = daemon.until(lambda snapshot: snapshot.get("authorization") is None)
    stage.check("another user's approval is refused", needs_sign_in(ended) and ended["userId"] == user, ended)
    stage.check("and revoked at the server", await_that(lambda: server.living("bob") == 0))
    daemon.call("session.signOut")
    stage.sign_in(daemon, "bob")
    stage.check("after a sign-out bob may", stage.is_owner(daemon))


@case("deleted, glewlwyd")
def _(stage):
    server = stage.server(Glewlwyd, access=2)
    daemon = stage.signed_in(server)
    user = daemon.status["userId"]

    server.delete("alice")
    refused = daemon.until(is_refused_without_a_word)

    stage.check("its 400 without a word is not believed at once", refused["userId"] == user, refused)
