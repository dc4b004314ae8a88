"""An HTTPS server on the test's Internet. It forwards to the sandbox unless a case changes that."""

import http.client
import os
import socket
import ssl
import threading

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from suite.daemon import PATIENCE


class Web:
    """Listens at port 443 of an address. Each action that was passed to `script` applies to one of the next requests."""

    def __init__(self, address, certificate, upstream):
        self.upstream = upstream
        # The certificate of each new handshake.
        self.certificate = certificate
        # The CA of accepted client certificates. Without one the server requests none.
        self.clients = None
        self.script = []
        # The requests: (connection, method, path, the client's certificate).
        self.requests = []
        self.handshakes = 0
        self.rejected = []
        self.lock = threading.Lock()
        self.released = threading.Event()
        self.server = _Server((address, 443), self)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def release(self):
        """Continues everything that is held."""
        self.released.set()

    @property
    def context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate.file, self.certificate.key)
        if self.clients:
            context.load_verify_locations(self.clients.file)
            context.verify_mode = ssl.CERT_REQUIRED
        return context


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address, web):
        self.web = web
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, _Visit)

    def server_bind(self):
        # Without a look-up of the machine's own name.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, request, client_address):
        """Ignores errors: many cases close connections early."""


class _Visit(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    def setup(self):
        web = self.server.web
        self.request = web.context.wrap_socket(self.request, server_side=True, do_handshake_on_connect=False)
        try:
            self.request.do_handshake()
        except (ssl.SSLError, OSError) as error:
            web.rejected.append(str(error))
            # Reads the bytes that the client has already sent. Otherwise closing would cause a reset, which may
            # overtake the alert.
            with socket.socket(fileno=os.dup(self.request.fileno())) as rest:
                while rest.recv(65536):
                    pass
            raise
        with web.lock:
            web.handshakes += 1
            self.connection_number = web.handshakes
        super().setup()

    def handle_one_request(self):
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        web = self.server.web
        self.content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        certificate = self.connection.getpeercert() if web.clients else None
        with web.lock:
            act = web.script.pop(0) if web.script else forward
        web.requests.append((self.connection_number, self.command, self.path, certificate))
        act(self)

    def log_message(self, *_):
        pass


# Actions for a request.


def forward(visit):
    """Forwards the request to the sandbox."""
    upstream = http.client.HTTPConnection(*visit.server.web.upstream, timeout=PATIENCE)
    # The sandbox accepts its own host name only.
    headers = {name: value for name, value in visit.headers.items() if name.lower() != "host"}
    upstream.request(visit.command, visit.path, visit.content, headers)
    reply = upstream.getresponse()
    answer(reply.status, reply.read(), reply.getheader("Content-Type", ""))(visit)


def answer(status, body=b"", kind="text/html", **headers):
    def act(visit):
        visit.send_response(status)
        visit.send_header("Content-Type", kind)
        visit.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            visit.send_header(name, value)
        visit.end_headers()
        visit.wfile.write(body)
    return act


def close(visit):
    """Closes the connection without an answer."""
    visit.close_connection = True
    visit.connection.shutdown(socket.SHUT_RDWR)


def hold(visit):
    """Sends nothing until `release`."""
    visit.server.web.released.wait(PATIENCE)
    forward(visit)


def endless(visit):
    """Sends a body without an end."""
    visit.close_connection = True
    visit.send_response(200)
    visit.send_header("Content-Type", "application/json")
    visit.end_headers()
    while True:
        visit.wfile.write(b" " * 65536)


def drip(size, parts, gap, stops_after=None):
    """Sends a body on a slow line in `parts` parts, and stops after some of them if requested.

    The gap only makes the line slow: no test waits for it.
    """
    def act(visit):
        released = visit.server.web.released
        visit.send_response(200)
        visit.send_header("Content-Type", "application/octet-stream")
        visit.send_header("Content-Length", str(size))
        visit.end_headers()
        for part in range(parts):
            if part == stops_after:
                released.wait(PATIENCE)
                return
            visit.wfile.write(b"x" * (size * (part + 1) // parts - size * part // parts))
            released.wait(gap)
    return act
