"""The built junctiond without systemd, and its socket."""

import os
import pathlib
import socket
import subprocess

from suite.connection import Connection

# The timeout of a wait. It never decides between right and wrong: what is awaited comes at once or after a few retries.
PATIENCE = 300


class Daemon:
    def __init__(self, programs, folder, provider, state, environment, settings=""):
        self.programs = pathlib.Path(programs)
        self.folder = pathlib.Path(folder)
        self.state = state
        self.socket = str(self.folder / "rpc")
        self.log = self.folder / "log"
        self.process = None
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder)} | environment
        endpoints = {"token": "token", "deviceAuthorization": "device", "revocation": "revoke", "userinfo": "userinfo"}
        (self.folder / "junctiond.toml").write_text("\n".join([
            'provider = "oauth"', "[limits]", "providerCallsPerMinute = 600", "[oauth]", f'issuer = "{provider.issuer}"',
            'clientId = "kiosk"', *(f'{name}Endpoint = "{provider.issuer}/{path}"' for name, path in endpoints.items()), settings,
            "",
        ]))

    def start(self):
        """Starts the daemon, and returns when it is ready."""
        address = self.folder / "notify"
        address.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, open(self.log, "wb") as log:
            notify.bind(str(address))
            self.process = subprocess.Popen(
                [self.programs / "junctiond", "--config", self.folder / "junctiond.toml", "--socket", self.socket,
                 "--state-dir", self.state],
                env=self.environment | {"NOTIFY_SOCKET": str(address)}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )
            self._wait_until_ready(notify)
        return self

    def _wait_until_ready(self, notify):
        """Waits for the daemon's message, and notices an end of the process."""
        notify.settimeout(1)
        for _ in range(PATIENCE):
            try:
                if b"READY=1" in notify.recv(4096).split(b"\n"):
                    return
            except TimeoutError:
                if self.process.poll() is not None:
                    raise EOFError(f"the daemon ended with status {self.process.returncode}: {self.last_words}") from None
        raise TimeoutError(f"the daemon is not ready after {PATIENCE} s")

    @property
    def last_words(self):
        return self.log.read_text(errors="replace")[-2000:]

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)

    def connect(self):
        return Connection(self.socket, PATIENCE)

    def call(self, method, /, **params):
        with self.connect() as connection:
            return connection.call(method, **params)

    def until(self, fits):
        """Returns the first snapshot that fits: the present one or a later one."""
        with self.connect() as connection:
            return connection.until(fits)
