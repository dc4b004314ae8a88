"""Captive portals: another server answers until a person has agreed to its terms in a browser."""

from world import answer, case
from world.stage import API, AUTH

PAGE = b"<html><body>Welcome to the hotel! Please accept our terms.</body></html>"


@case("portals: one that answers all names")
def _(stage):
    stage.web("203.0.113.90", "login.hotel.test")
    real = dict(stage.zone)
    stage.zone |= {AUTH: ["203.0.113.90"], API: ["203.0.113.90"]}
    stage.start()
    stage.fails("its certificate gives it away", f"The certificate of {AUTH} is for another host", "who answers in its place")
    stage.zone |= real
    stage.works("when the person has agreed it works")


@case("portals: a redirect")
def _(stage):
    redirect = answer(302, PAGE, Location="https://login.hotel.test/")
    daemon = stage.start()
    stage.auth.script = [redirect]
    stage.fails("a sign-in says that it was one", f"{AUTH} answered with a redirect (302)", "not followed")
    stage.works()

    stage.auth.script = [redirect]
    stage.fails("a renewal, too", f"{AUTH} answered with a redirect (302)", refusal=daemon.refusal("session.renew"))
    stage.api.script = [redirect]
    stage.fails("an API call, too", f"{API} answered with a redirect (302)", refusal=daemon.refused_api())
    stage.check("the redirect is not followed", "login.hotel.test" not in stage.names.asked, stage.names.asked)
    stage.check("the session stays", daemon.status["state"] == "established" and daemon.token())


@case("portals: a page with 200")
def _(stage):
    daemon = stage.start()
    stage.auth.script = [answer(200, PAGE)]
    stage.fails("a sign-in says that it is no answer", f"{AUTH} answered 200 without")
    stage.works()
    before = daemon.token()

    stage.auth.script = [answer(200, PAGE)]
    refusal = daemon.refusal("session.renew")
    # The true server might have sent this answer, so a refresh retry follows at once. It may have succeeded already.
    stage.check("a renewal does not take it for one",
                refusal is None or (refusal.kind == "providerUnavailable" and AUTH in refusal.message), refusal)
    renewed = daemon.until(lambda snapshot: snapshot["accessToken"]["generation"] >= 2)
    stage.check("the session goes on", renewed["state"] == "established" and daemon.token() != before, renewed)
