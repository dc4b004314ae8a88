"""A proxy that tunnels (CONNECT, RFC 9110 §9.3.6), or speaks SOCKS 5 (RFC 1928)."""

import base64
import socket
import socketserver
import ssl
import struct
import threading

PORT = 3128


class Proxy:
    """Listens at port 3128 of an address, and resolves the names in `zone`.

    With `credentials` (`user:password`) it requires them. With a certificate it uses TLS.
    """

    def __init__(self, address, zone, credentials=None, certificate=None, speaks="http"):
        self.zone = zone
        self.credentials = credentials
        self.certificate = certificate
        # The answer that it gives instead of a tunnel.
        self.refusal = None
        # The requested destinations.
        self.asked = []
        # The received credentials.
        self.heard = []
        handler = {"http": _Tunnel, "socks": _Socks}[speaks]
        self.server = _Server((address, PORT), handler)
        self.server.proxy = self
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def connect(self, host, port):
        return socket.create_connection((self.zone[host][0], port))


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def handle_error(self, request, client_address):
        """Ignores errors: many cases close connections early."""


class _Tunnel(socketserver.StreamRequestHandler):
    def setup(self):
        certificate = self.server.proxy.certificate
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate.file, certificate.key)
            self.request = context.wrap_socket(self.request, server_side=True)
        super().setup()

    def handle(self):
        while self._serve():
            pass

    def _serve(self):
        """- Returns: whether another request may follow on this connection."""
        proxy = self.server.proxy
        line = self.rfile.readline().decode()
        headers = {}
        while (field := self.rfile.readline().decode().strip()):
            name, value = field.split(":", 1)
            headers[name.lower()] = value.strip()
        if not line:
            return False
        place = line.split()[1]
        kind, _, given = headers.get("proxy-authorization", "").partition(" ")
        proxy.asked.append(place)
        proxy.heard.append(base64.b64decode(given).decode() if kind == "Basic" else None)
        if proxy.refusal:
            self._say(proxy.refusal)
            return False
        if proxy.credentials and proxy.heard[-1] != proxy.credentials:
            self._say("407 Proxy Authentication Required", 'Proxy-Authenticate: Basic realm="test"', "Content-Length: 0")
            return True
        host, port = place.rsplit(":", 1)
        try:
            far = proxy.connect(host.strip("[]"), int(port))
        except (KeyError, OSError):
            self._say("502 Bad Gateway")
            return False
        self._say("200 Connection established")
        pipe(self.connection, far)
        return False

    def _say(self, *lines):
        self.wfile.write("\r\n".join([f"HTTP/1.1 {lines[0]}", *lines[1:], "", ""]).encode())


class _Socks(socketserver.StreamRequestHandler):
    def handle(self):
        proxy = self.server.proxy
        _, count = self.rfile.read(2)
        self.rfile.read(count)
        if proxy.credentials:
            self.wfile.write(b"\x05\x02")
            self.rfile.read(1)
            user = self.rfile.read(self.rfile.read(1)[0]).decode()
            password = self.rfile.read(self.rfile.read(1)[0]).decode()
            proxy.heard.append(f"{user}:{password}")
            if proxy.heard[-1] != proxy.credentials:
                self.wfile.write(b"\x01\x01")
                return
            self.wfile.write(b"\x01\x00")
        else:
            self.wfile.write(b"\x05\x00")
        _, _, _, kind = self.rfile.read(4)
        if kind == 3:
            host = self.rfile.read(self.rfile.read(1)[0]).decode()
        else:
            host = socket.inet_ntop(*((socket.AF_INET, self.rfile.read(4)) if kind == 1 else (socket.AF_INET6, self.rfile.read(16))))
        port = struct.unpack("!H", self.rfile.read(2))[0]
        proxy.asked.append(f"{host}:{port}")
        far = socket.create_connection((proxy.zone.get(host, [host])[0], port))
        self.wfile.write(b"\x05\x00\x00\x01" + bytes(6))
        pipe(self.connection, far)


def pipe(one, other):
    """Copies bytes in both directions until one side closes."""
    thread = threading.Thread(target=_carry, args=(other, one), daemon=True)
    thread.start()
    _carry(one, other)
    thread.join()
    other.close()


def _carry(source, sink):
    try:
        while chunk := source.recv(65536):
            sink.sendall(chunk)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
