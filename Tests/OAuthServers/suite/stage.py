"""The fixture of a case: servers and daemons that end with it."""

import pathlib
import time

from .daemon import Daemon, PATIENCE

cases = []


def case(name):
    """Registers a function that gets a stage and checks its expectations with `check`."""
    def register(function):
        cases.append((name, function))
        return function
    return register


def await_that(holds):
    """Polls a condition that cannot be subscribed to, such as a row in a server's database."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


class Stage:
    def __init__(self, installed, binaries, folder, memory, checks):
        self.installed = installed
        self.binaries = binaries
        self.folder = pathlib.Path(folder)
        self.memory = pathlib.Path(memory)
        self.check = checks.check
        self._open = []

    def server(self, kind, **policy):
        server = kind(self.installed, self.memory / f"server{len(self._open)}", **policy)
        self._open.append(server)
        return server

    def daemon(self, server, **configuration):
        daemon = Daemon(self.binaries, self.folder / f"daemon{len(self._open)}", server, **configuration)
        self._open.append(daemon)
        return daemon.start()

    def signed_in(self, server, user="alice", client="public", **configuration):
        """Returns a daemon to which the user has signed in by device."""
        daemon = self.daemon(server, client=client, **configuration)
        self.sign_in(daemon, user, client)
        return daemon

    def sign_in(self, daemon, user="alice", client="public"):
        codes = daemon.call("session.signIn", scheme="device")["authorization"]
        daemon.server.approve(codes["userCode"], user, client)
        return daemon.until(lambda snapshot: is_healthy(snapshot) and snapshot.get("authorization") is None)

    def is_owner(self, daemon):
        """Returns whether the server accepts the access token for the user whom the daemon reports."""
        page = daemon.server.ask_userinfo(daemon.token())
        return page.status == 200 and page.json["sub"] == daemon.status["userId"]

    def close(self):
        for one in reversed(self._open):
            one.close()

    def logs(self):
        """Returns the end of each daemon's log."""
        for one in self._open:
            if isinstance(one, Daemon):
                yield from one.log.read_text(errors="replace").splitlines()[-25:]


def is_healthy(snapshot):
    return snapshot["state"] == "established" and "pendingReauthentication" not in snapshot["flags"]


def is_refused_without_a_word(snapshot):
    """The daemon keeps the session and retries for ten minutes before it accepts such a refusal."""
    return snapshot["state"] == "tokenExpired" and snapshot["renewal"]["failures"] >= 3 and not needs_sign_in(snapshot)


def needs_sign_in(snapshot):
    return "pendingReauthentication" in snapshot["flags"]
