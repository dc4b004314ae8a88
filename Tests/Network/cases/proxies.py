"""Which requests use a proxy, and which errors a proxy causes."""

from world import HOLE, Proxy, case
from world.stage import API, AUTH

ADDRESS = "203.0.113.80"
NAME = "proxy.example.test"


def set_up(stage, **policy):
    """Returns a proxy with a name of its own. No other name is configured on the machine."""
    proxy = stage.opened(Proxy(ADDRESS, dict(stage.zone), **policy))
    stage.zone.clear()
    stage.zone[NAME] = [ADDRESS]
    return proxy


@case("proxies: without credentials")
def _(stage):
    proxy = set_up(stage)
    daemon = stage.start(network={"proxy": f"http://{NAME}:3128"})

    stage.works()
    stage.check("it goes through the proxy", proxy.asked == [f"{AUTH}:443"], proxy.asked)
    answer = daemon.ask_api()
    stage.check("so do API calls", answer["status"] == 200 and proxy.asked[-1] == f"{API}:443", proxy.asked)
    stage.check("no name but the proxy's is looked up here", set(stage.names.asked) == {NAME}, stage.names.asked)
    stage.check("no credentials are sent", set(proxy.heard) == {None}, proxy.heard)


@case("proxies: with credentials")
def _(stage):
    proxy = set_up(stage, credentials="kiosk:p@ss word")
    stage.start(network={"proxy": f"http://kiosk:p%40ss%20word@{NAME}:3128"})
    stage.works("the right ones let us through")

    stage.start(network={"proxy": f"http://kiosk:wrong@{NAME}:3128"})
    stage.fails("wrong ones are named", f"The proxy refuses the connection to {AUTH} (it answers 407)", "USER:PASSWORD@",
                without=["wrong"], refusal=stage.daemon.refusal("session.renew"))
    stage.start(network={"proxy": f"http://{NAME}:3128"})
    stage.fails("none, too", "it answers 407", "USER:PASSWORD@", refusal=stage.daemon.refusal("session.renew"))
    stage.check("without credentials the proxy refuses", proxy.heard[-1] is None, proxy.heard)


@case("proxies: over TLS")
def _(stage):
    certificate = stage.authority.certify(NAME)
    proxy = set_up(stage, credentials="kiosk:secret", certificate=certificate)
    stage.start(network={"proxy": f"https://kiosk:secret@{NAME}:3128"})
    stage.works()
    stage.check("it goes through the proxy", proxy.asked == [f"{AUTH}:443"], proxy.asked)

    stage.daemon.call("session.signOut")
    proxy.certificate = stage.make_authority("nobody").certify(NAME)
    stage.fails("one whom nobody trusts is named as the proxy", "The certificate of the proxy is not trusted", "tls.caFile")
    stage.check("the proxy receives no credentials", len(proxy.heard) == 1, proxy.heard)


@case("proxies: SOCKS")
def _(stage):
    proxy = set_up(stage, speaks="socks", credentials="kiosk:secret")
    stage.start(network={"proxy": f"socks5h://kiosk:secret@{NAME}:3128"})
    stage.works()
    stage.check("it goes through the proxy", proxy.asked == [f"{AUTH}:443"], proxy.asked)
    stage.check("the proxy looks the name up", AUTH not in stage.names.asked, stage.names.asked)

    stage.start(network={"proxy": f"socks5h://kiosk:wrong@{NAME}:3128"})
    stage.fails("wrong credentials are named", f"The proxy refuses the connection to {AUTH}", without=["wrong"],
                refusal=stage.daemon.refusal("session.renew"))


@case("proxies: what goes wrong on the way to one")
def _(stage):
    proxy = set_up(stage)
    stage.start(network={"proxy": f"http://{NAME}:3128", "resolveTimeout": 300, "connectTimeout": 3})

    proxy.refusal = "403 Forbidden"
    stage.fails("it refuses", f"The proxy refuses the connection to {AUTH} (it answers 403)", "network.proxy")
    proxy.refusal = "302 Found"
    stage.fails("it is a portal", f"The proxy refuses the connection to {AUTH} (it answers 302)")
    proxy.refusal = None
    place = proxy.zone.pop(AUTH)
    stage.fails("it does not know the name", f"The proxy refuses the connection to {AUTH} (it answers 502)")
    proxy.zone[AUTH] = place
    stage.zone[NAME] = [HOLE]
    stage.fails("it is in a black hole", "The proxy cannot be reached", "network.proxy")
    stage.zone[NAME] = ["203.0.113.90"]
    stage.fails("nobody is there", "The proxy cannot be reached (Connection refused)", "network.proxy")
    del stage.zone[NAME]
    stage.fails("its name does not exist", "The name of the proxy cannot be resolved", "network.proxy")
    stage.zone[NAME] = [ADDRESS]
    stage.works("when all is well again it works")

    stage.start(network={"proxy": f"http://{NAME}:3128", "resolveTimeout": 2})
    stage.names.is_dead = True
    stage.fails("its name server is dead", "The name of the proxy", "within 2 s", "network.resolveTimeout",
                refusal=stage.daemon.refusal("session.renew"))


@case("proxies: noProxy")
def _(stage):
    proxy = stage.opened(Proxy(ADDRESS, stage.zone | {}))
    stage.zone[NAME] = [ADDRESS]
    daemon = stage.start(network={"proxy": f"http://{NAME}:3128", "noProxy": ["api.example.test", "10.0.0.0/8"]})

    stage.works()
    answer = daemon.ask_api()
    stage.check("a named host is reached directly", answer["status"] == 200 and proxy.asked == [f"{AUTH}:443"], proxy.asked)
    stage.zone[API] = ["203.0.113.90"]
    stage.api.close()
    daemon.restart()
    stage.fails("what fails there is not called the proxy's fault", f"Connection refused by {API}", refusal=daemon.refused_api())

    for places in (["example.test"], [".example.test"], ["*"]):
        proxy.asked.clear()
        stage.start(network={"proxy": f"http://{NAME}:3128", "noProxy": places})
        stage.works(f"{places[0]}: a sign-in works")
        stage.check(f"{places[0]}: it is reached directly", proxy.asked == [], proxy.asked)
    proxy.asked.clear()
    stage.start(network={"proxy": f"http://{NAME}:3128", "noProxy": ["ample.test", "auth.example.test.other"]})
    stage.works()
    stage.check("a similar name uses the proxy", proxy.asked == [f"{AUTH}:443"], proxy.asked)


@case("proxies: an address on noProxy")
def _(stage):
    proxy = stage.opened(Proxy(ADDRESS, {}))
    stage.auth.certificate = stage.authority.certify(AUTH, "*.example.test")
    stage.start(network={"proxy": f"http://{ADDRESS}:3128", "noProxy": ["203.0.113.0/28"]},
                junction={"authUrl": "https://203.0.113.10", "apiUrl": "https://203.0.113.90"})
    stage.fails("an address in the network goes by itself", "The certificate of 203.0.113.10 is for another host")
    stage.check("the proxy receives no request", proxy.asked == [], proxy.asked)


@case("proxies: loopback")
def _(stage):
    proxy = set_up(stage)
    daemon = stage.start(network={"proxy": f"http://{NAME}:3128"},
                         junction={"authUrl": stage.cloud.url, "apiUrl": stage.cloud.url})
    stage.works("a sign-in on this machine works")
    stage.check("an API call, too", daemon.ask_api()["status"] == 200)
    stage.check("the proxy receives no request", proxy.asked == [], proxy.asked)


@case("proxies: from the environment")
def _(stage):
    proxy = set_up(stage, credentials="kiosk:secret")
    url = f"http://kiosk:secret@{NAME}:3128"
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        proxy.asked.clear()
        stage.start({name: url})
        stage.works(f"{name}: a sign-in works")
        stage.check(f"{name}: it goes through the proxy", proxy.asked == [f"{AUTH}:443"], proxy.asked)

    stage.start({"HTTPS_PROXY": "http://kiosk:other@nowhere.example.test:1"}, network={"proxy": url})
    stage.works("the configuration goes before it")
    stage.start({"HTTP_PROXY": url, "http_proxy": url})
    stage.fails("those for http alone do not count", f"The name {AUTH} cannot be resolved",
                refusal=stage.daemon.refusal("session.renew"))


@case("proxies: NO_PROXY")
def _(stage):
    proxy = stage.opened(Proxy(ADDRESS, stage.zone | {}))
    variables = {"HTTPS_PROXY": f"http://{ADDRESS}:3128"}
    for name in ("NO_PROXY", "no_proxy"):
        proxy.asked.clear()
        daemon = stage.start(variables | {name: f"localhost, {API}"})
        stage.works(f"{name}: a sign-in works")
        answer = daemon.ask_api()
        stage.check(f"{name}: a named host is reached directly", answer["status"] == 200 and proxy.asked == [f"{AUTH}:443"],
                    proxy.asked)
    proxy.asked.clear()
    stage.start(variables | {"NO_PROXY": "*"}, network={"noProxy": []})
    stage.works("network.noProxy: a sign-in works")
    stage.check("network.noProxy goes before it, an empty list, too", proxy.asked == [f"{AUTH}:443"], proxy.asked)
