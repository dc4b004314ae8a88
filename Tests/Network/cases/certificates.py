"""Servers with invalid certificates."""

import socketserver
import threading

from world import case
from world.stage import AUTH


@case("certificates: bad ones")
def _(stage):
    good = stage.auth.certificate
    daemon = stage.start()
    stranger = stage.make_authority("nobody")

    stage.auth.certificate = stage.authority.certify(AUTH, days=(-20, -10))
    stage.fails("expired", f"The certificate of {AUTH} has expired", "set the clock")
    stage.auth.certificate = stage.authority.certify(AUTH, days=(10, 20))
    stage.fails("not valid yet", f"The certificate of {AUTH} is not valid yet", "set the clock")
    stage.auth.certificate = stage.authority.certify("portal.example.test")
    stage.fails("for another name", f"The certificate of {AUTH} is for another host", "who answers in its place")
    stage.auth.certificate = stage.authority.certify("*.test")
    stage.fails("for too many names", f"The certificate of {AUTH} is for another host")
    stage.auth.certificate = stranger.certify(AUTH)
    stage.fails("from an authority that nobody trusts", f"The certificate of {AUTH} is not trusted", "tls.caFile")
    stage.check("none of them saw a request", stage.auth.requests == [], stage.auth.requests)
    stage.check("the daemon reports the untrusted certificate", "certificate" in str(daemon.problems()), daemon.problems())

    stage.auth.certificate = good
    stage.works("with a good one it works at once")


@case("certificates: one that is changed")
def _(stage):
    daemon = stage.start()
    stage.works()
    stage.auth.certificate = stage.authority.certify(AUTH)
    stage.works("another one from the same authority is taken")

    stage.auth.certificate = stage.make_authority("nobody").certify(AUTH)
    stage.fails("one from another is not", f"The certificate of {AUTH} is not trusted", refusal=daemon.refusal("session.renew"))
    stage.check("the session stays", daemon.status["state"] == "established" and daemon.token())


@case("certificates: no TLS at all")
def _(stage):
    class Plain(socketserver.StreamRequestHandler):
        def handle(self):
            self.wfile.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    server = socketserver.ThreadingTCPServer(("203.0.113.90", 443), Plain)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    stage.zone[AUTH] = ["203.0.113.90"]
    stage.start()
    stage.fails("it is said so", f"{AUTH} does not speak TLS as expected", "check the port")
