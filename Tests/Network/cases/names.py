"""Name servers that are dead, slow, broken, or give wrong answers."""

from world import NameServer, case
from world.stage import API, AUTH


@case("names: the first server is dead")
def _(stage):
    dead = stage.opened(NameServer("203.0.113.54", {}))
    dead.is_dead = True
    stage.machine.ask("203.0.113.54", "203.0.113.53")
    stage.start()

    stage.works("a sign-in works by the second server")
    stage.check("the first one was asked", AUTH in dead.asked, dead.asked)


@case("names: all servers are dead")
def _(stage):
    stage.names.is_dead = True
    stage.start(network={"resolveTimeout": 2, "connectTimeout": 300, "requestTimeout": 300})

    stage.fails("it is said which limit was reached, and where to look", f"The name {AUTH} was not resolved within 2 s",
                "/etc/resolv.conf", "network.resolveTimeout")
    stage.names.is_dead = False
    stage.works("with a server that lives it works, without a restart")


@case("names: a server is slow")
def _(stage):
    stage.names.hold(AUTH)
    daemon = stage.start(network={"resolveTimeout": 300})

    with daemon.connect() as connection:
        request = connection.send("session.signIn", **stage.credential)
        # Queries for both families, and a repetition: the resolver has asked twice before it gets the answer.
        stage.check("the resolver asks again", stage.names.await_question(AUTH, times=3), stage.names.asked)
        stage.names.release(AUTH)
        snapshot = connection.answer(request)
    stage.check("an answer that comes late is taken", snapshot["userId"] == stage.cloud.user, snapshot)


@case("names: a name that does not exist")
def _(stage):
    address = stage.zone.pop(AUTH)
    stage.start()

    stage.fails("it is said so", f"The name {AUTH} cannot be resolved", "check the network and its DNS")
    stage.zone[AUTH] = address
    stage.works("as soon as it exists it works")


@case("names: a server without an upstream")
def _(stage):
    stage.names.is_broken = True
    stage.start()

    stage.fails("it is said so", f"The name {AUTH} cannot be resolved", "check the network and its DNS")
    stage.names.is_broken = False
    stage.works("as soon as it has one it works")


@case("names: a name moves to another address")
def _(stage):
    stage.start()
    stage.works()
    stage.auth.close()
    stage.web("203.0.113.90", AUTH)
    stage.zone[AUTH] = ["203.0.113.90"]

    stage.works("the next request finds it there")


@case("names: a look-up delays nobody else")
def _(stage):
    daemon = stage.start()
    stage.works()
    # A network helper without kept connections.
    daemon.restart()
    stage.names.hold(AUTH)

    with daemon.connect() as connection:
        renewal = connection.send("session.renew")
        stage.check("a renewal waits for its name", stage.names.await_question(AUTH))
        answer = daemon.ask_api()
        stage.check("another request goes out and comes back meanwhile", answer["status"] == 200, answer)
        stage.check("the socket is served", daemon.status["userId"] == stage.cloud.user)
        stage.check("another name was looked up meanwhile", API in stage.names.asked[-3:], stage.names.asked)
        stage.names.release(AUTH)
        snapshot = connection.answer(renewal)
    stage.check("the renewal ends well", snapshot["accessToken"]["generation"] >= 2, snapshot)
