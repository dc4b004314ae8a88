"""The built daemon and the sandbox, each as a process with its own folder."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import urllib.request

PATIENCE = 120


class Sandbox:
    """A stand-in for the vendor's cloud, on loopback."""

    def __init__(self, binaries):
        self.process = subprocess.Popen(
            [binaries / "junction-sandbox", "--listen", "127.0.0.1:0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        self.url = self.process.stdout.readline().split()[-1]

    def post(self, path, **body):
        request = urllib.request.Request(self.url + path, data=json.dumps(body).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE) as answer:
            return json.load(answer)

    def new_user(self, name):
        return self.post("/sandbox/users", clientUserId=name)["userId"]

    def sign_in_token(self, user, **how):
        answer = self.post(f"/sandbox/users/{user}/sign-in-token", **how)
        return answer["signInToken"]

    def reset(self):
        self.post("/sandbox/reset")

    def close(self):
        self.process.kill()
        self.process.communicate()


class Daemon:
    """One installation: configuration, state, and the process, which may be restarted."""

    def __init__(self, binaries, folder, configuration):
        self.binaries = binaries
        self.folder = pathlib.Path(folder)
        self.socket = str(self.folder / "rpc")
        self.process = None
        (self.folder / "junctiond.toml").write_text(configuration)

    def start(self):
        """Starts the daemon and waits until it is ready."""
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        address = self.folder / "notify"
        address.unlink(missing_ok=True)
        notify.bind(str(address))
        notify.settimeout(PATIENCE)
        with notify, open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [self.binaries / "junctiond", "--config", self.folder / "junctiond.toml", "--socket", self.socket,
                 "--state-dir", self.folder / "state"],
                env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "NOTIFY_SOCKET": str(address)},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )
            while b"READY=1" not in notify.recv(4096).split(b"\n"):
                pass
        return self

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def pause(self):
        """Stops the process, and waits until all its threads have stopped."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)


def junction_configuration(sandbox):
    # The tests need more calls than the default limit allows.
    return (
        f'provider = "junction"\n[junction]\nauthUrl = "{sandbox.url}"\napiUrl = "{sandbox.url}"\n'
        "[limits]\nproviderCallsPerMinute = 600\n"
    )
