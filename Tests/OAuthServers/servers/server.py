"""The common part of both servers: a process, a port, a folder, and a database that tests may read."""

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
    """The server did not start. The message contains its output."""


class Server:
    """A server on a port that the kernel chose. All its files are in its folder, and it ends with its parent."""

    # The passwords that the person types in the browser.
    PASSWORD = "password"
    # The secret of the client `secret`. The client `public` has none.
    SECRET = "very-secret"
    USERS = ("alice", "bob")

    def __init__(self, installed, folder):
        self.installed = pathlib.Path(installed)
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.process = None
        # Bound for the life of this object, but never listening. No other process gets the port while the server is
        # down, and connections are refused then. Both sockets allow the address to be shared.
        self.reservation = socket.socket()
        self.reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.reservation.bind(("127.0.0.1", 0))
        self.port = self.reservation.getsockname()[1]

    @property
    def root(self):
        return f"http://127.0.0.1:{self.port}"

    # ---- process ----

    def start(self):
        """Starts the server, or restarts it with its stored state."""
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
        """From now on the server accepts connections but sends nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        self.stop()
        self.reservation.close()

    def _wait_until_it_listens(self):
        # The server does not announce that it is ready: connect until it answers or its process has ended.
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

    # ---- requests of other programs, as the client `public` ----

    def sign_in(self, user):
        """Returns the tokens of another program after its own device sign-in."""
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
        """Redeems a refresh token."""
        return self._post(self.token_endpoint, refresh_token=token, grant_type="refresh_token")

    def ask_userinfo(self, token):
        return Browser().visit(self.userinfo, headers={"Authorization": f"Bearer {token}"})

    def _post(self, url, **form):
        return Browser().visit(url, form={"client_id": "public"} | form)

    # ---- database ----

    def query(self, statement, *values):
        """Reads or changes the server's database. The server itself then decides which tokens are refused, expired or
        valid."""
        database = sqlite3.connect(self.folder / "db", timeout=20)
        try:
            with database:
                return database.execute(statement, values).fetchall()
        finally:
            database.close()

    def count(self, statement, *values):
        return self.query(statement, *values)[0][0]


def end_with_parent():
    """The kernel kills the process when its parent has ended for any reason."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
