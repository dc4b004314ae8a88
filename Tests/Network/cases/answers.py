"""Connections and answers that end early, or never."""

from world import case, close, endless
from world.stage import API, AUTH


@case("answers: a kept connection that the server closed")
def _(stage):
    daemon = stage.start()
    stage.works()
    daemon.ask_api()
    daemon.ask_api()
    stage.check("a connection is used again", [request[0] for request in stage.api.requests] == [1, 1], stage.api.requests)

    # The server has begun to close the connection while the next request is on its way.
    stage.api.script = [close]
    answer = daemon.ask_api()
    stage.check("the request is repeated on another connection", answer["status"] == 200, answer)
    stage.check("once", [request[0] for request in stage.api.requests] == [1, 1, 1, 2], stage.api.requests)


@case("answers: a new connection that is closed")
def _(stage):
    daemon = stage.start()
    stage.auth.script = [close]
    stage.fails("a sign-in says so", f"{AUTH} closed the connection without a complete answer")
    stage.check("it is not repeated", len(stage.auth.requests) == 1, stage.auth.requests)
    stage.works()
    stage.api.script = [close, close]
    stage.fails("an API call, too", f"{API} closed the connection", refusal=daemon.refused_api())


@case("answers: a body that never ends")
def _(stage):
    daemon = stage.start(network={"requestTimeout": 300})
    stage.auth.script = [endless]
    stage.fails("a sign-in ends when it is too long", f"The answer of {AUTH} is longer than")
    stage.works()
    stage.api.script = [endless]
    stage.fails("an API call, too", f"The answer of {API} is longer than 8388608 bytes", refusal=daemon.refused_api())
    stage.check("the session stays", daemon.status["state"] == "established" and daemon.ask_api()["status"] == 200)


@case("answers: half of one")
def _(stage):
    def cut(visit):
        visit.send_response(200)
        visit.send_header("Content-Length", "1000")
        visit.end_headers()
        visit.wfile.write(b"{")
        close(visit)

    stage.start()
    stage.auth.script = [cut]
    stage.fails("it is none", f"{AUTH} closed the connection without a complete answer")
    stage.works()
