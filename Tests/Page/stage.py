"""A sandbox and a daemon for the test, in a temporary folder."""

import json
import os
import subprocess
import tempfile
import urllib.request


class Stage:
    def __init__(self, binaries: str):
        self.binaries = binaries
        self.folder = tempfile.TemporaryDirectory(prefix="page-")
        self.socket = os.path.join(self.folder.name, "junctiond.sock")
        self.environment = {**os.environ, "JUNCTIOND_SOCKET": self.socket}
        self.sandbox = None
        self.daemon = None
        self.origin = self.start_sandbox("127.0.0.1:0")

    def program(self, name: str) -> str:
        return os.path.join(self.binaries, name)

    def start_sandbox(self, address: str) -> str:
        self.sandbox = subprocess.Popen(
            [self.program("junction-sandbox"), "--listen", address, "--state", os.path.join(self.folder.name, "cloud.json")],
            stdout=subprocess.PIPE, text=True,
        )
        return self.sandbox.stdout.readline().split()[-1]

    def stop_sandbox(self):
        self.sandbox.terminate()
        self.sandbox.wait()

    def start_daemon(self, configuration: str):
        path = os.path.join(self.folder.name, "junctiond.toml")
        with open(path, "w") as file:
            file.write(configuration)
        self.log = open(os.path.join(self.folder.name, "log"), "w")
        self.daemon = subprocess.Popen(
            [self.program("junctiond"), "--config", path, "--socket", self.socket,
             "--state-dir", os.path.join(self.folder.name, "state")],
            stdout=self.log, stderr=self.log,
        )
        self.ctl("wait", "--for", "signed-out", "--timeout", "30")

    def ctl(self, *arguments: str, given: str | None = None, may_fail: bool = False) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [self.program("junctionctl"), *arguments], input=given, capture_output=True, text=True, timeout=90,
            env=self.environment,
        )
        if done.returncode != 0 and not may_fail:
            raise RuntimeError(f"junctionctl {' '.join(arguments)}: {done.returncode} {done.stderr}")
        return done

    def session(self) -> dict:
        return json.loads(self.ctl("--json", "status", may_fail=True).stdout)

    def get(self, path: str) -> dict:
        with urllib.request.urlopen(self.origin + path, timeout=60) as answer:
            return json.load(answer)

    def post(self, path: str, body: dict | None = None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.origin + path, data=data, method="POST")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def close(self):
        for process in (self.daemon, self.sandbox):
            if process is not None:
                process.kill()
                process.wait()
        self.folder.cleanup()
