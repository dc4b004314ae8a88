"""The machine as the daemon sees it: its addresses, its name servers, whom it trusts."""

import pathlib
import subprocess

# What is sent there vanishes: no answer, no refusal.
HOLE = "198.51.100.1"
HOLE6 = "2001:db8:dead::1"


def command(*words):
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


class Machine:
    """Sets the namespaces up in which this process is; they go with it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.resolver = self.folder / "resolv.conf"
        self.authorities = self.folder / "certs"
        self._connect()
        self._furnish()

    def _connect(self):
        lines = ["link set lo up"]
        # No address of these is a loopback address, so nothing is treated as if it were on this machine.
        for last in (10, 11, 53, 54, 80, 90):
            lines += [f"address add 203.0.113.{last}/32 dev lo", f"address add 2001:db8::{last}/128 dev lo nodad"]
        # A line whose other end nobody listens at, and on which nobody is asked for an address first.
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
        """From now on names are looked up there."""
        self.resolver.write_text("".join(f"nameserver {server}\n" for server in servers))

    def trust(self, *authorities):
        """Whom the machine trusts from now on, and nobody else; as an upgrade of its certificates would leave the folder."""
        for entry in self.authorities.iterdir():
            entry.unlink()
        for authority in authorities:
            (self.authorities / f"{authority.name}.pem").write_text(authority.pem)
        if authorities:
            command("openssl", "rehash", str(self.authorities))

    def lose_ipv4(self):
        """Nothing but its own loopback is left of the old family."""
        command("ip", "-4", "route", "flush", "198.51.100.0/24")
        command("ip", "-4", "address", "flush", "dev", "lo", "scope", "global")
