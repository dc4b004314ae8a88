"""Renewals without failures."""

from servers import Glewlwyd, Toolkit
from suite import case, is_healthy


@case("twenty renewals")
def _(stage):
    for server in (stage.server(Toolkit), stage.server(Toolkit, grace=60), stage.server(Glewlwyd)):
        daemon = stage.signed_in(server)

        generations = [daemon.renew()["accessToken"]["generation"] for _ in range(20)]

        policy = f"{server.name}{', with a grace' if server.grace else ''}"
        stage.check(f"{policy}: each brings the next generation", generations == list(range(2, 22)), generations)
        stage.check(f"{policy}: each has cost one refresh token", server.issued("alice") == 21, server.issued("alice"))
        stage.check(f"{policy}: one of them is alive", server.living("alice") == 1, server.living("alice"))
        stage.check(f"{policy}: the access token is good", stage.is_owner(daemon))
        daemon.restart()
        stage.check(f"{policy}: after a restart the login is there", is_healthy(daemon.renew()))


@case("what a renewal says")
def _(stage):
    server = stage.server(Toolkit)
    stage.signed_in(server).renew()

    requests = server.requests("refresh_token")

    stage.check("neither scope nor resource", requests == [["client_id", "grant_type", "refresh_token"]], requests)


@case("no rotation")
def _(stage):
    server = stage.server(Toolkit, rotate=False)
    daemon = stage.signed_in(server)

    for _ in range(3):
        daemon.renew()
    daemon.restart()

    stage.check("the same refresh token goes on", is_healthy(daemon.renew()) and server.issued("alice") == 1)


@case("by itself")
def _(stage):
    server = stage.server(Glewlwyd, access=3)
    daemon = stage.signed_in(server)

    renewed = daemon.until(lambda snapshot: snapshot["accessToken"]["generation"] >= 4)

    stage.check("a token is replaced before it ends", is_healthy(renewed) and renewed["renewal"]["failures"] == 0, renewed)


@case("a storm")
def _(stage):
    for server in (stage.server(Toolkit), stage.server(Glewlwyd)):
        daemon = stage.signed_in(server)
        callers = [daemon.connect() for _ in range(200)]

        # The server holds its answer until every caller has asked.
        server.freeze()
        asked = [caller.send("session.renew") for caller in callers]
        for caller in callers:
            caller.call("daemon.info")
        server.thaw()
        answers = [caller.answer(request) for caller, request in zip(callers, asked)]

        generations = {answer["accessToken"]["generation"] for answer in answers}
        stage.check(f"{server.name}: 200 callers get the next generation", generations == {2}, generations)
        stage.check(f"{server.name}: by one refresh", server.issued("alice") == 2, server.issued("alice"))
        stage.check(f"{server.name}: the login lives", is_healthy(daemon.renew()) and server.living("alice") == 1)
        for caller in callers:
            caller.__exit__()
