"""Servers that require a client certificate (mutual TLS)."""

from world import case
from world.stage import AUTH


def settings(certificate):
    return {"clientCertificateFile": str(certificate.file), "clientKeyFile": str(certificate.key)}


@case("clients: mutual TLS")
def _(stage):
    fleet, stranger = stage.make_authority("fleet"), stage.make_authority("stranger")
    stage.auth.clients = fleet
    stage.start()
    stage.fails("without a certificate it is said what is missing", AUTH, "client certificate",
                "network.clientCertificateFile")

    stage.start(network=settings(stranger.certify("device-7")))
    stage.fails("with another authority's it is said what is wrong", AUTH, "client certificate",
                "network.clientCertificateFile")

    stage.start(network=settings(fleet.certify("device-7")))
    stage.works("with the right one it works")
    stage.check("the server receives the client certificate", stage.auth.requests[-1][3]["subjectAltName"] == (("DNS", "device-7"),),
                stage.auth.requests[-1])


@case("clients: a certificate is renewed")
def _(stage):
    fleet = stage.make_authority("fleet")
    stage.auth.clients = fleet
    ours, later, last = (fleet.certify(name) for name in ("device-7", "device-8", "device-9"))
    stage.start(network=settings(ours))
    stage.works()

    ours.file.write_text(later.file.read_text())
    ours.key.write_text(later.key.read_text())
    stage.works("the new one is used without a restart")
    stage.check("the server receives the new certificate", stage.auth.requests[-1][3]["subjectAltName"] == (("DNS", "device-8"),),
                stage.auth.requests[-1])

    # Between the two writes of a renewal: the certificate is already new, the key is not yet.
    ours.file.write_text(last.file.read_text())
    stage.daemon.call("session.signOut")
    stage.fails("half of a pair is not taken for a server's fault", "The client certificate for",
                "network.clientCertificateFile and network.clientKeyFile")
    ours.key.write_text(last.key.read_text())
    stage.works("with its key it is used")
