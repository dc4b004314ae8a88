"""The server is temporarily down."""

from servers import Glewlwyd, Toolkit
from suite import case, is_healthy


@case("down")
def _(stage):
    for server in (stage.server(Toolkit), stage.server(Glewlwyd)):
        daemon = stage.signed_in(server)
        server.stop()

        refusal = daemon.refusal("session.renew")
        stage.check(f"{server.name}: the renewal fails for now", refusal and refusal.kind == "providerUnavailable", refusal)
        token = daemon.token()
        daemon.restart()
        status = daemon.status
        stage.check(f"{server.name}: a start needs no server", is_healthy(status) and daemon.token() == token, status)
        server.start()
        renewed = daemon.until(lambda snapshot: snapshot["accessToken"]["generation"] >= 2)
        stage.check(f"{server.name}: back, it is renewed by itself", is_healthy(renewed) and stage.is_owner(daemon), renewed)
        stage.check(f"{server.name}: nothing is lost", server.living("alice") == 1, server.living("alice"))


@case("down while somebody approves")
def _(stage):
    for server in (stage.server(Toolkit), stage.server(Glewlwyd)):
        daemon = stage.daemon(server)
        code = daemon.call("session.signIn", scheme="device")["authorization"]["userCode"]

        server.stop()
        daemon.until(lambda snapshot: snapshot["renewal"]["lastError"])
        server.start()
        server.approve(code, "alice")

        daemon.until(is_healthy)
        stage.check(f"{server.name}: the polls continue and succeed", stage.is_owner(daemon))
