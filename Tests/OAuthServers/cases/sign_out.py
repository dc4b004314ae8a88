"""Sign-outs, checked at the server."""

from servers import Glewlwyd, Toolkit
from servers.server import Server
from suite import await_that, case

WITH_SECRET = {"client": "secret", "secret": Server.SECRET, "clientAuthentication": "basic"}


def is_gone(server):
    return await_that(lambda: server.living("alice") == 0)


@case("signed out")
def _(stage):
    for server, client in (
        (stage.server(Toolkit), {}), (stage.server(Toolkit), WITH_SECRET), (stage.server(Glewlwyd), WITH_SECRET),
    ):
        daemon = stage.signed_in(server, **client)
        token = daemon.token()

        signed_out = daemon.call("session.signOut")

        how = f"{server.name}, {client.get('client', 'public')}"
        stage.check(f"{how}: nobody is signed in", signed_out["state"] == "notLoggedIn", signed_out)
        stage.check(f"{how}: the server has revoked the refresh token", is_gone(server))
        if server.name == "toolkit":
            page = server.ask_userinfo(token)
            stage.check(f"{how}: and the access token with it", page.status == 401, page.body)
        stage.check(f"{how}: junctionctl says so", daemon.ctl("status").returncode == 3)


@case("signed out, where a public client may not say so")
def _(stage):
    server = stage.server(Glewlwyd)
    daemon = stage.signed_in(server)

    signed_out = daemon.call("session.signOut")

    stage.check("nobody is signed in here", signed_out["state"] == "notLoggedIn", signed_out)
    stage.sign_in(daemon, "bob")
    stage.check("the next user is", stage.is_owner(daemon))
    stage.check("the server keeps what it refused to revoke", server.living("alice") == 1, server.living("alice"))


@case("signed out while the server is down")
def _(stage):
    server = stage.server(Toolkit)
    daemon = stage.signed_in(server)
    server.stop()

    signed_out = daemon.call("session.signOut")

    stage.check("it is over here at once", signed_out["state"] == "notLoggedIn", signed_out)
    stage.check("the server knows nothing of it", server.living("alice") == 1)
    server.start()
    stage.check("it is told when it is back", is_gone(server))
