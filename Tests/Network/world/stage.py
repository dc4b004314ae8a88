"""The fixture of a case: a machine, its Internet, and one installation."""

import pathlib

from .authority import Authority
from .installation import Cloud, Installation
from .machine import Machine
from .names import NameServer
from .web import Web

AUTH, API = "auth.example.test", "api.example.test"


class Stage:
    """At first everything works. The case changes that."""

    def __init__(self, binaries, folder, check):
        self.binaries = binaries
        self.folder = pathlib.Path(folder)
        self.check = check
        self._open = []
        self.machine = Machine(self.folder / "machine")
        self.authority = self.make_authority("everybody")
        self.machine.trust(self.authority)
        self.cloud = self.opened(Cloud(binaries, folder))
        self.zone = {AUTH: ["203.0.113.10"], API: ["203.0.113.11"]}
        self.names = self.opened(NameServer("203.0.113.53", self.zone))
        self.machine.ask("203.0.113.53")
        self.auth = self.web("203.0.113.10", AUTH)
        self.api = self.web("203.0.113.11", API)
        self.daemon = None

    def opened(self, one):
        """Registers an object that is closed with the stage."""
        self._open.append(one)
        return one

    def make_authority(self, name):
        return Authority(self.folder / f"authority-{name}", name)

    def web(self, address, *names):
        return self.opened(Web(address, self.authority.certify(*names), self.cloud.place))

    def start(self, variables={}, **tables):
        """Starts the daemon with these settings."""
        if not self.daemon:
            self.daemon = self.opened(Installation(self.binaries, self.folder / "daemon", None))
        self.daemon.close()
        self.daemon.variables = dict(variables)
        self.daemon.configure(**tables)
        self.daemon.start()
        return self.daemon

    @property
    def credential(self):
        """Returns an unused Sign-In Token."""
        answer = self.cloud.post(f"/sandbox/users/{self.cloud.user}/sign-in-token")
        return {"scheme": "signInToken", "token": answer["signInToken"]}

    def refused_sign_in(self):
        """Signs in and returns the error, or `None`."""
        return self.daemon.refusal("session.signIn", **self.credential)

    def fails(self, what, *words, without=(), refusal=None):
        """Checks that a sign-in, or the given refusal, fails temporarily with these words."""
        refusal = refusal or self.refused_sign_in()
        seen = refusal and (refusal.kind, refusal.message)
        fits = refusal and refusal.kind == "providerUnavailable" and all(word in refusal.message for word in words)
        self.check(what, fits and not any(word in refusal.message for word in without), seen)

    def works(self, what="a sign-in works"):
        """Checks that a sign-in works from any state."""
        self.daemon.call("session.signOut")
        refusal = self.refused_sign_in()
        self.check(what, refusal is None and self.daemon.status["userId"] == self.cloud.user,
                   refusal and (refusal.kind, refusal.message))

    def close(self):
        for one in reversed(self._open):
            one.close()

    def log(self):
        if self.daemon and self.daemon.log.exists():
            yield from self.daemon.log.read_text(errors="replace").splitlines()[-25:]
