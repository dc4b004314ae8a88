"""The time limit of each step. In each case one limit is small and the others are large, so that only the small one can
end the request."""

from world import HOLE, HOLE6, case, drip, hold
from world.stage import API, AUTH


@case("limits: connecting to a black hole")
def _(stage):
    stage.zone[AUTH] = [HOLE]
    stage.start(network={"resolveTimeout": 300, "connectTimeout": 2, "requestTimeout": 300})

    stage.fails("IPv4: it is said which limit was reached", f"No connection to {AUTH} within 2 s", "check the network")
    stage.zone[AUTH] = [HOLE6, HOLE]
    stage.fails("both families: it is the same", f"No connection to {AUTH} within 2 s")
    stage.zone[AUTH] = ["203.0.113.10"]
    stage.works("when the way is open again it works")


@case("limits: nobody is there")
def _(stage):
    stage.zone[AUTH] = ["203.0.113.90"]
    stage.start()

    stage.fails("a refusal is one", f"Connection refused by {AUTH}", "is it running?")
    stage.zone[AUTH] = ["2001:db9::1"]
    stage.fails("no route is one", f"{AUTH} cannot be reached (", "unreachable")


@case("limits: an answer that does not come")
def _(stage):
    daemon = stage.start(network={"resolveTimeout": 300, "connectTimeout": 300, "requestTimeout": 2})
    stage.auth.script = [hold]

    stage.fails("it is said which limit was reached", f"No answer from {AUTH} within 2 s")
    stage.auth.release()
    stage.works()
    stage.api.script = [hold]
    stage.fails("an API call that brings nothing ends, too", f"No answer from {API} within 2 s", refusal=daemon.refused_api())


@case("limits: a name that is slow leaves the others their time")
def _(stage):
    # The look-up takes longer than the connect limit: a resolver repeats its query after two seconds.
    daemon = stage.start(network={"resolveTimeout": 300, "connectTimeout": 2, "requestTimeout": 300})
    stage.names.hold(AUTH)

    with daemon.connect() as connection:
        request = connection.send("session.signIn", **stage.credential)
        stage.names.await_question(AUTH, times=3)
        stage.names.release(AUTH)
        snapshot = connection.answer(request)
    stage.check("the sign-in works", snapshot["userId"] == stage.cloud.user, snapshot)


@case("limits: 8 MiB over a slow line")
def _(stage):
    daemon = stage.start(network={"requestTimeout": 3})
    stage.works()
    size = 8 << 20

    # The transfer takes longer than the limit without progress, and bytes move all the time.
    stage.api.script = [drip(size, parts=40, gap=0.1)]
    answer = daemon.ask_api()
    body = answer.get("body", "")
    stage.check("all of it arrives", len(body) == size, (answer["status"], len(body)))

    stage.api.script = [drip(size, parts=40, gap=0, stops_after=20)]
    stage.fails("a line that brings nothing more is given up", f"No answer from {API} within 3 s", refusal=daemon.refused_api())
    stage.check("the session stays", daemon.status["state"] == "established")
