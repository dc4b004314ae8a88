"""The built junctiond with a configuration for one server, and its socket."""

import json
import os
import pathlib
import signal
import socket
import subprocess

from servers.server import end_with_parent

from .connection import Connection, Refused

# The timeout of waits. The awaited state comes at once or after a few retries of the daemon.
PATIENCE = 300


class Daemon:
    """One installation: configuration, state, and the process, which may be restarted."""

    def __init__(self, binaries, folder, server, client="public", **oauth):
        self.binaries = pathlib.Path(binaries)
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.server = server
        self.state = self.folder / "state"
        self.socket = str(self.folder / "rpc")
        self.log = self.folder / "log"
        self.process = None
        # Further environment variables for the next start.
        self.variables = {}
        self.configure(client, **oauth)

    def configure(self, client="public", secret=None, **oauth):
        """Sets the configuration of the next start. `secret`: the client's secret, if it has one."""
        if secret is not None:
            file = self.folder / "secret"
            file.touch(mode=0o600)
            file.write_text(secret)
            oauth["clientSecretFile"] = str(file)
        keys = {"issuer": self.server.issuer, "clientId": client, "scopes": ["openid", "read"]} | oauth
        lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
        (self.folder / "junctiond.toml").write_text("\n".join(
            ['provider = "oauth"', "[limits]", "providerCallsPerMinute = 600", "[oauth]", *lines,
             self.server.more_configuration, ""]
        ))

    # ---- process ----

    def start(self, crash_at=None):
        """Starts the daemon and waits until it is ready. `crash_at`: the step of a rotation at which it kills itself,
        as `step:count`."""
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        address = self.folder / "notify"
        address.unlink(missing_ok=True)
        notify.bind(str(address))
        environment = self.environment | {"NOTIFY_SOCKET": str(address)}
        if crash_at:
            environment["JUNCTIOND_CRASH_POINT"] = crash_at
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.binaries / "junctiond", "--config", self.folder / "junctiond.toml", "--socket", self.socket,
                 "--state-dir", self.state],
                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=end_with_parent,
            )
        with notify:
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

    @property
    def environment(self):
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder)} | self.variables

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)

    def restart(self):
        self.kill()
        return self.start()

    def dies(self):
        """Returns whether the daemon has killed itself at the requested step."""
        return self.process.wait(PATIENCE) == -signal.SIGKILL

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def close(self):
        if self.is_running:
            self.kill()

    # ---- callers ----

    def connect(self):
        return Connection(self.socket, PATIENCE)

    def call(self, method, /, **params):
        with self.connect() as connection:
            return connection.call(method, **params)

    def refusal(self, method, /, **params):
        """Returns the error of the call, or `None`."""
        try:
            self.call(method, **params)
        except Refused as refused:
            return refused

    @property
    def status(self):
        return self.call("session.status")

    def until(self, fits):
        """Returns the first snapshot that fits: the present one or a later one."""
        with self.connect() as connection:
            return connection.until(fits)

    def renew(self):
        return self.call("session.renew")

    def token(self):
        return self.call("token.get")["accessToken"]

    def problems(self):
        return [check for check in self.call("daemon.diagnose")["checks"] if check["verdict"] == "problem"]

    def ctl(self, *arguments):
        return subprocess.run(
            [self.binaries / "junctionctl", *arguments], env=self._ctl_environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=PATIENCE,
        )

    def talking_ctl(self, *arguments):
        """Starts junctionctl with output that is read line by line."""
        return subprocess.Popen(
            [self.binaries / "junctionctl", *arguments], env=self._ctl_environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=end_with_parent,
        )

    @property
    def _ctl_environment(self):
        return {"PATH": os.environ["PATH"], "JUNCTIOND_SOCKET": self.socket}
