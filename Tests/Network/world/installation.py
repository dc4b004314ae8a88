"""junctiond with its network helper, and the sandbox as the provider behind the test's servers."""

import json
import subprocess
import urllib.request

from servers.server import end_with_parent
from suite.daemon import PATIENCE, Daemon


class Installation(Daemon):
    """A daemon whose provider has names on the test's Internet."""

    def configure(self, _=None, **tables):
        """Sets the configuration of the next start: further tables, or other values in the default tables."""
        whole = {
            "junction": {"authUrl": "https://auth.example.test", "apiUrl": "https://api.example.test"},
            "limits": {"providerCallsPerMinute": 600},
        }
        for name, keys in tables.items():
            whole[name] = whole.get(name, {}) | keys
        lines = ['provider = "junction"']
        for name, keys in whole.items():
            lines += [f"[{name}]"] + [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
        (self.folder / "junctiond.toml").write_text("\n".join([*lines, ""]))

    def check_configuration(self):
        """Returns the output and the exit status of `--check-config`."""
        return subprocess.run(
            [self.binaries / "junctiond", "--config", self.folder / "junctiond.toml", "--check-config"],
            env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
        )

    def ask_api(self):
        """Sends an API request of an app for a resource of the signed-in user."""
        return self.call("api.request", method="GET", path=f"/v2/user/{self.status['userId']}")

    def refused_api(self):
        return self.refusal("api.request", method="GET", path=f"/v2/user/{self.status['userId']}")


class Cloud:
    """The sandbox, on loopback."""

    def __init__(self, binaries, folder):
        with open(f"{folder}/sandbox.log", "ab") as log:
            self.process = subprocess.Popen(
                [f"{binaries}/junction-sandbox", "--listen", "127.0.0.1:0"], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=log, text=True, preexec_fn=end_with_parent,
            )
        self.url = self.process.stdout.readline().split()[-1]
        host, port = self.url.removeprefix("http://").split(":")
        self.place = (host, int(port))
        self.user = self.post("/sandbox/users", clientUserId="anna")["userId"]

    def post(self, path, **values):
        request = urllib.request.Request(self.url + path, json.dumps(values).encode(), method="POST")
        # Ignores a proxy that this machine may have configured.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=PATIENCE) as reply:
            return json.load(reply)

    def close(self):
        self.process.kill()
        self.process.wait()
