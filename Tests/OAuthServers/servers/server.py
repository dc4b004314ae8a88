"""What both servers have in common: a process, a port, a folder, a database that tests may read."""

import ctypes
import os
import pathlib
import select
import signal
import socket
import sqlite3
import subprocess
import time

from .browser import Browser

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


class NotStarted(Exception):
    """The server did not come up; its own words are in the message."""


class Server:
    """A server on a port of the kernel's choice. Everything it writes is in its folder, and it ends with its parent."""

    # As the person at the browser types them.
    PASSWORD = "password"
    # The secret of the client `secret`; the client `public` has none.
    SECRET = "very-secret"
    USERS = ("alice", "bob")

    def __init__(self, installed, folder):
        self.installed = pathlib.Path(installed)
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.process = None
        # Bound for as long as this object lives and never listening: nobody else is given the port while the server is
        # down, and whoever calls then is refused. Both sides allow the address to be shared.
        self.reservation = socket.socket()
        self.reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.reservation.bind(("127.0.0.1", 0))
        self.port = self.reservation.getsockname()[1]

    @property
    def root(self):
        return f"http://127.0.0.1:{self.port}"

    # ---- the process ----

    def start(self):
        """Starts it, or starts it again with what it has kept."""
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                self.command(), env=self.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=end_with_parent,
            )
        self._wait_until_it_listens()
        return self

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def freeze(self):
        """From now on it takes connections, and says nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        self.stop()
        self.reservation.close()

    def _wait_until_it_listens(self):
        # It announces itself nowhere: it is called until somebody answers, or the process has ended.
        ended = os.pidfd_open(self.process.pid)
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", self.port), timeout=20).close()
                    return
                except ConnectionRefusedError:
                    if select.select([ended], [], [], 0.05)[0]:
                        raise NotStarted((self.folder / "log").read_text(errors="replace")[-2000:])
        finally:
            os.close(ended)

    # ---- what other programs do there, as the client `public` ----

    def sign_in(self, user):
        """What another tool has after a sign-in of its own by device."""
        begun = self._post(self.device_endpoint, scope="openid read").json
        self.approve(begun["user_code"], user)
        while True:
            page = self._post(self.token_endpoint, device_code=begun["device_code"], grant_type=DEVICE_GRANT)
            if page.status == 200:
                return page.json
            if page.json["error"] not in ("authorization_pending", "slow_down"):
                raise RuntimeError(f"the device code was refused: {page.body!r}")
            time.sleep(begun["interval"])

    def refresh(self, token):
        """What whoever has a refresh token gets for it."""
        return self._post(self.token_endpoint, refresh_token=token, grant_type="refresh_token")

    def ask_userinfo(self, token):
        return Browser().visit(self.userinfo, headers={"Authorization": f"Bearer {token}"})

    def _post(self, url, **form):
        return Browser().visit(url, form={"client_id": "public"} | form)

    # ---- what it has written down ----

    def query(self, statement, *values):
        """Reads or changes its database under its feet: what is refused, expired or alive is the server's own word."""
        database = sqlite3.connect(self.folder / "db", timeout=20)
        try:
            with database:
                return database.execute(statement, values).fetchall()
        finally:
            database.close()

    def count(self, statement, *values):
        return self.query(statement, *values)[0][0]


def end_with_parent():
    """The kernel kills the process as soon as its parent is gone, however it went."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
