"""The built junctiond without systemd, and its socket."""

import json
import os
import pathlib
import socket
import subprocess

# The timeout of a wait. It never decides between right and wrong: what is awaited comes at once or after a few retries.
PATIENCE = 300


class Refused(Exception):
    """An error of the daemon."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.kind = error.get("data", {}).get("kind")


class Daemon:
    def __init__(self, programs, folder, provider, state, environment):
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
            'clientId = "kiosk"', *(f'{name}Endpoint = "{provider.issuer}/{path}"' for name, path in endpoints.items()), "",
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
        return Connection(self.socket)

    def call(self, method, /, **params):
        with self.connect() as connection:
            return connection.call(method, **params)

    def until(self, fits):
        """Returns the first snapshot that fits: the present one or a later one."""
        with self.connect() as connection:
            return connection.until(fits)


class Connection:
    """A JSON-RPC connection, with one message a line."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")
        self.last = 0
        # The credential that answers the daemon's question.
        self.credential = None
        self.news = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.socket.close()

    def send(self, method, /, **params):
        self.last += 1
        self._write({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})

    def answer(self):
        """Returns the answer to the last request."""
        while True:
            message = self._read()
            if message.get("id") == self.last and "method" not in message:
                if "error" in message:
                    raise Refused(message["error"])
                return message["result"]

    def call(self, method, /, **params):
        self.send(method, **params)
        return self.answer()

    def until(self, fits):
        snapshot = self.call("session.subscribe")
        while not fits(snapshot):
            while not self.news:
                self._read()
            snapshot = self.news.pop(0)
        return snapshot

    def _write(self, message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def _read(self):
        line = self.lines.readline()
        if not line:
            raise ConnectionError("the daemon closed the connection")
        message = json.loads(line)
        if message.get("method") == "session.changed":
            self.news.append(message["params"]["snapshot"])
        elif message.get("method") == "session.authenticate":
            self._write({"jsonrpc": "2.0", "id": message["id"], "result": self.credential})
        return message
