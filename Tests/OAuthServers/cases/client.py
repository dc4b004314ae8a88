"""Cases with a wrong client secret."""

from servers import Toolkit
from servers.server import Server
from suite import case, is_healthy

RIGHT = {"client": "secret", "secret": Server.SECRET, "clientAuthentication": "basic"}
WRONG = RIGHT | {"secret": "wrong"}


def complaint(daemon):
    return next((problem for problem in daemon.problems() if problem["name"] == "provider client"), None)


@case("a wrong secret, signing in")
def _(stage):
    daemon = stage.daemon(stage.server(Toolkit), **WRONG)

    refusal = daemon.refusal("session.signIn", scheme="device")

    stage.check("it is a mistake of the configuration", refusal and refusal.kind == "misconfigured", refusal)
    stage.check("the server's error code is reported", refusal and "invalid_client" in refusal.message, refusal)
    stage.check("nobody is signed in", daemon.status["state"] == "notLoggedIn", daemon.status)
    problem = complaint(daemon)
    stage.check("doctor reports the secret", problem and "secret" in problem["remedy"].lower(), problem)
    stage.check("and the secret is in no line of the log", "wrong" not in daemon.log.read_text())


@case("a wrong secret, renewing")
def _(stage):
    server = stage.server(Toolkit)
    daemon = stage.signed_in(server, **RIGHT)

    daemon.stop()
    daemon.configure(**WRONG)
    daemon.start()
    refusal = daemon.refusal("session.renew")

    stage.check("the renewal fails for now", refusal and refusal.kind == "misconfigured", refusal)
    stage.check("the session is kept and needs no sign-in", is_healthy(daemon.status), daemon.status)
    stage.check("its token is handed out", stage.is_owner(daemon))
    stage.check("doctor reports the secret", complaint(daemon))
    daemon.stop()
    daemon.configure(**RIGHT)
    daemon.start()
    renewed = daemon.until(lambda snapshot: snapshot["accessToken"]["generation"] == 2)
    stage.check("with the right one it goes on by itself", is_healthy(renewed) and server.living("alice") == 1, renewed)
    stage.check("and doctor reports no problem", complaint(daemon) is None)
