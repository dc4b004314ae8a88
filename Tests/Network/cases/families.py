"""IPv4, IPv6, and networks in which one of them does not work."""

from world import HOLE, HOLE6, NameServer, case
from world.stage import API, AUTH


@case("families: nothing but IPv6")
def _(stage):
    stage.zone |= {AUTH: ["2001:db8::10"], API: ["2001:db8::11"]}
    stage.opened(NameServer("2001:db8::53", stage.zone))
    stage.web("2001:db8::10", AUTH)
    stage.web("2001:db8::11", API)
    stage.machine.ask("2001:db8::53")
    stage.machine.lose_ipv4()
    daemon = stage.start()

    stage.works()
    answer = daemon.ask_api()
    stage.check("an API call works", answer["status"] == 200, answer)


@case("families: IPv6 is a black hole")
def _(stage):
    stage.zone[AUTH] = [HOLE6, "203.0.113.10"]
    # The limit is generous. The other family must be tried before the limit is reached.
    stage.start(network={"connectTimeout": 300})
    stage.works("IPv4 is tried")


@case("families: IPv4 is a black hole")
def _(stage):
    stage.zone[AUTH] = [HOLE, "2001:db8::10"]
    stage.web("2001:db8::10", AUTH)
    stage.start(network={"connectTimeout": 300})
    stage.works("IPv6 is tried")


@case("families: one of them refuses")
def _(stage):
    stage.zone[AUTH] = ["2001:db8::90", "203.0.113.10"]
    stage.start()
    stage.works("IPv4 is tried after IPv6")

    stage.zone[AUTH] = ["203.0.113.90", "203.0.113.10"]
    stage.works("the second address of a family is tried after the first")


@case("families: IPv6 addresses and no IPv6")
def _(stage):
    # A route that refuses at once, as on a machine whose router has no IPv6.
    stage.zone[AUTH] = ["2001:db9::1", "203.0.113.10"]
    stage.start()
    stage.works("IPv4 is used")
