"""SIGKILL between any two steps of a rotation. With a grace of the server nothing is lost; without one only a lost
answer ends the session."""

from servers import Glewlwyd, Toolkit
from suite import Refused, case, is_healthy, is_refused_without_a_word, needs_sign_in

# A renewal writes twice: the intent, and then the new generation. The answer can be lost in between.
LOST = "answered:1"
STEPS = [
    "temporaryWritten:1", "temporarySynced:1", "renamed:1", "directorySynced:1", "intentNoted:1", LOST,
    "temporaryWritten:2", "temporarySynced:2", "renamed:2", "directorySynced:2", "swapped:2",
]


def crash(daemon, step):
    """Crashes the daemon at the step; returns whether it died."""
    daemon.stop()
    daemon.start(crash_at=step)
    try:
        daemon.renew()
    except (Refused, ConnectionError):
        pass
    return daemon.dies()


def survives(stage, server, step, daemon):
    stage.check(f"{server.name}, {step}: the daemon dies", crash(daemon, step))
    daemon.start()
    settled = daemon.until(lambda snapshot: snapshot["renewal"]["phase"] == "scheduled")
    stage.check(
        f"{server.name}, {step}: it comes back signed in",
        is_healthy(settled) and stage.is_owner(daemon) and settled["storage"]["durable"], settled,
    )
    stage.check(
        f"{server.name}, {step}: its refresh token is the one that lives",
        is_healthy(daemon.renew()) and server.living("alice") == 1, server.living("alice"),
    )


@case("killed, with a grace")
def _(stage):
    server = stage.server(Toolkit, grace=60)
    daemon = stage.signed_in(server)
    for step in STEPS:
        survives(stage, server, step, daemon)
    families = server.count("select count(distinct token_family) from oauth2_provider_refreshtoken")
    stage.check("one sign-in was enough for all of it", families == 1, families)


@case("killed, without a grace")
def _(stage):
    server = stage.server(Glewlwyd)
    daemon = stage.signed_in(server)
    for step in STEPS:
        if step != LOST:
            survives(stage, server, step, daemon)
    stage.check("one sign-in was enough for all of it", daemon.status["accessToken"]["generation"] > len(STEPS))


@case("killed, without a grace, the answer lost")
def _(stage):
    for server in (stage.server(Glewlwyd, access=2), stage.server(Toolkit, access=2)):
        daemon = stage.signed_in(server)
        user = daemon.status["userId"]
        stage.check(f"{server.name}: the daemon dies with the answer", crash(daemon, LOST))

        daemon.start()
        if server.name == "glewlwyd":
            refused = daemon.until(is_refused_without_a_word)
            stage.check(f"{server.name}: its 400 without an error code does not end the session at once", refused["userId"] == user, refused)
            stage.check(f"{server.name}: the daemon runs on", daemon.is_running)
            daemon.call("session.signOut")
            stage.sign_in(daemon)
            stage.check(f"{server.name}: signing in again mends it", stage.is_owner(daemon))
            continue

        flagged = daemon.until(needs_sign_in)

        stage.check(f"{server.name}: a new sign-in is required", flagged["userId"] == user, flagged)
        daemon.until(lambda snapshot: snapshot["state"] == "tokenExpired")
        refusal = daemon.refusal("token.get")
        stage.check(f"{server.name}: callers are told", refusal and refusal.kind == "reauthenticationRequired", refusal)
        stage.check(f"{server.name}: the daemon runs on", daemon.is_running)
        again = daemon.restart().until(needs_sign_in)
        stage.check(f"{server.name}: and starts again, the same", again["userId"] == user, again)
        stage.sign_in(daemon)
        stage.check(f"{server.name}: signing in again mends it", stage.is_owner(daemon))
        stage.check(f"{server.name}: for the same user", daemon.status["userId"] == user)


@case("killed twenty times")
def _(stage):
    server = stage.server(Toolkit, grace=60)
    daemon = stage.signed_in(server)
    for moment in range(20):
        with daemon.connect() as caller:
            caller.send("session.renew")
            # Each time a little further into the rotation. Each answer means that the daemon has completed a turn of
            # its event loop.
            for _ in range(moment):
                caller.call("daemon.info")
            daemon.restart()
    daemon.until(lambda snapshot: snapshot["renewal"]["phase"] == "scheduled")
    stage.check("after any crash the session is there", is_healthy(daemon.renew()) and stage.is_owner(daemon))
    stage.check("and one refresh token lives", server.living("alice") == 1, server.living("alice"))
