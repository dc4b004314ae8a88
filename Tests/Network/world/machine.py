"""The machine of the daemon: its addresses, name servers and CA certificates."""

import pathlib
import subprocess

# Packets to this address are dropped without an answer.
HOLE = "198.51.100.1"
HOLE6 = "2001:db8:dead::1"


def command(*words):
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


class Machine:
    """Configures the namespaces of this process. They end with it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.resolver = self.folder / "resolv.conf"
        self.authorities = self.folder / "certs"
        self._connect()
        self._furnish()

    def _connect(self):
        lines = ["link set lo up"]
        # None of these addresses is a loopback address, so none is treated as this machine.
        for last in (10, 11, 53, 54, 80, 90):
            lines += [f"address add 203.0.113.{last}/32 dev lo", f"address add 2001:db8::{last}/128 dev lo nodad"]
        # An interface without a peer and without address resolution.
        lines += ["link add hole0 type veth peer name hole1", "link set hole0 arp off up", "link set hole1 arp off up",
                  "route add 198.51.100.0/24 dev hole0", "route add 2001:db8:dead::/48 dev hole0"]
        batch = self.folder / "network"
        batch.write_text("\n".join([*lines, ""]))
        command("ip", "-batch", str(batch))

    def _furnish(self):
        self.authorities.mkdir()
        self.resolver.write_text("")
        services = self.folder / "nsswitch.conf"
        services.write_text("passwd: files\ngroup: files\nhosts: files dns\n")
        for ours, theirs in ((self.resolver, "/etc/resolv.conf"), (services, "/etc/nsswitch.conf"),
                             (self.authorities, "/etc/ssl/certs")):
            command("mount", "--bind", str(ours), theirs)

    def ask(self, *servers):
        """Sets the name servers."""
        self.resolver.write_text("".join(f"nameserver {server}\n" for server in servers))

    def trust(self, *authorities):
        """Sets the CA certificates that the machine trusts, in a folder as after an upgrade of the certificates."""
        for entry in self.authorities.iterdir():
            entry.unlink()
        for authority in authorities:
            (self.authorities / f"{authority.name}.pem").write_text(authority.pem)
        if authorities:
            command("openssl", "rehash", str(self.authorities))

    def lose_ipv4(self):
        """Removes IPv4 except loopback."""
        command("ip", "-4", "route", "flush", "198.51.100.0/24")
        command("ip", "-4", "address", "flush", "dev", "lo", "scope", "global")
