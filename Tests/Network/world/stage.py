"""Where a case plays: a machine, its Internet, and one installation."""

import pathlib

from .authority import Authority
from .installation import Cloud, Installation
from .machine import Machine
from .names import NameServer
from .web import Web

AUTH, API = "auth.example.test", "api.example.test"

cases = []


def case(name):
    """A function that gets a stage, and says with `check` what must hold."""
    def register(function):
        cases.append((name, function))
        return function
    return register


class Stage:
    """As it is at first, everything works: the case says what does not."""

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
        """Something that is put away with the stage."""
        self._open.append(one)
        return one

    def make_authority(self, name):
        return Authority(self.folder / f"authority-{name}", name)

    def web(self, address, *names):
        return self.opened(Web(address, self.authority.certify(*names), self.cloud.place))

    def start(self, variables={}, **tables):
        """The daemon, with these settings."""
        if not self.daemon:
            self.daemon = self.opened(Installation(self.binaries, self.folder / "daemon", None))
        self.daemon.close()
        self.daemon.variables = dict(variables)
        self.daemon.configure(**tables)
        self.daemon.start()
        return self.daemon

    @property
    def credential(self):
        """A Sign-In Token that nobody has used."""
        answer = self.cloud.post(f"/sandbox/users/{self.cloud.user}/sign-in-token")
        return {"scheme": "signInToken", "token": answer["signInToken"]}

    def sign_in(self):
        return self.daemon.call("session.signIn", **self.credential)

    def refused_sign_in(self):
        """Why it was refused; nothing, if it was not."""
        return self.daemon.refusal("session.signIn", **self.credential)

    def fails(self, what, *words, without=(), refusal=None):
        """A sign-in (or what was refused instead) fails for now, in these words."""
        refusal = refusal or self.refused_sign_in()
        seen = refusal and (refusal.kind, refusal.message)
        fits = refusal and refusal.kind == "providerUnavailable" and all(word in refusal.message for word in words)
        self.check(what, fits and not any(word in refusal.message for word in without), seen)

    def works(self, what="a sign-in works"):
        """A sign-in, from whatever state."""
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
