"""The provider: junction-sandbox behind TLS, on a host of its own."""

import http.client
import json
import pathlib
import shutil
import socketserver
import ssl
import subprocess
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from servers.server import end_with_parent

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Network/world"))
from authority import Authority as OrdinaryAuthority  # noqa: E402
from authority import openssl  # noqa: E402

NAME, ADDRESS = "provider.test", ("10.77.0.1", 8443)
URL = f"https://{NAME}:8443"


class Authority(OrdinaryAuthority):
    """An authority that was valid ten years ago, for machines with a wrong clock."""

    def __init__(self, folder):
        super().__init__(folder, "authority")
        (self.folder / "root.conf").write_text((self.folder / "ca.conf").read_text() + "\n[root]\nbasicConstraints = critical, CA:true\n")
        request = self.folder / "root.csr"
        openssl("req", "-new", "-key", self.key, "-subj", "/CN=authority", "-out", request)
        openssl("ca", "-batch", "-notext", "-selfsign", "-config", self.folder / "root.conf", "-extensions", "root", "-keyfile", self.key,
                "-startdate", self._moment(-3650), "-enddate", self._moment(3650), "-in", request, "-out", self.file)

    @classmethod
    def copied(cls, source, folder):
        """The authority that `__init__` has made in `source`, for certificates in `folder`."""
        authority = cls.__new__(cls)
        authority.name, authority.folder, authority._made = "authority", folder, 0
        folder.mkdir()
        authority.file, authority.key = (shutil.copy(source / name, folder) for name in ("ca.pem", "ca.key"))
        (folder / "index.txt").touch()
        (folder / "ca.conf").write_text((source / "ca.conf").read_text().replace(str(source), str(folder)))
        return authority


class Front(ThreadingHTTPServer):
    """Ends TLS, and passes each request on to the sandbox, which answers only to its own name on loopback."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port):
        self.port = port
        # Of each new connection.
        self.certificate = None
        super().__init__(ADDRESS, Forward)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def server_bind(self):
        # Without a look-up of the machine's own name.
        socketserver.TCPServer.server_bind(self)

    def get_request(self):
        connection, address = super().get_request()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate.file, self.certificate.key)
        # The thread of the connection shakes hands, at its first read.
        return context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, request, client_address):
        """Ignores errors: power cuts end connections, and a machine with a wrong clock refuses the certificate."""


class Forward(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kept = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection", "content-length")}
        sandbox = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        try:
            sandbox.request(self.command, self.path, body or None, kept)
            answer = sandbox.getresponse()
            content = answer.read()
        finally:
            sandbox.close()
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = forward

    def log_message(self, *_):
        """Logs nothing: the sandbox counts the requests."""


class Provider:
    def __init__(self, program, folder, authority):
        folder.mkdir()
        # Valid for years, so that a machine with a wrong clock can talk to the provider; and for three months, like most.
        self.long = authority.certify(NAME, days=(-3000, 3000))
        self.ordinary = authority.certify(NAME, days=(-30, 60))
        with open(folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [program, "--listen", "127.0.0.1:0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
                preexec_fn=end_with_parent,
            )
        self.url = self.process.stdout.readline().split()[-1]
        self.front = Front(int(self.url.rsplit(":", 1)[1]))
        self.present(self.long)

    def present(self, certificate):
        """Presents this certificate to new connections. The daemon's present connection to the front stays."""
        self.front.certificate = certificate

    def end(self):
        self.front.shutdown()
        self.front.server_close()
        self.process.kill()
        self.process.wait()

    def request(self, path, body=None, method=None, seconds=60):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return json.loads(answer.read() or b"null")

    def reset(self, **settings):
        """Removes all users and counters, and changes settings."""
        self.request("/sandbox/reset", {}, "POST")
        self.request("/sandbox/settings", settings)

    def new_user(self, name):
        return self.request("/sandbox/users", {"name": name})["userId"]

    def sign_in_token(self, user):
        return self.request(f"/sandbox/users/{user}/sign-in-token", {}, "POST")["signInToken"]

    def counter(self, name):
        return self.request("/sandbox/counters")[name]

    def await_counter(self, name, number, seconds):
        """Waits until the counter reaches the number. Returns whether it did within `seconds`."""
        try:
            self.request(f"/sandbox/await?counter={name}&atLeast={number}", seconds=seconds)
            return True
        except TimeoutError:
            return False

    def kind_of(self, token):
        """What the token is now: `accessToken` if the API takes it."""
        return self.request("/sandbox/introspect", {"token": token})["standing"]
