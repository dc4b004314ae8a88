#!/usr/bin/env python3
"""The least that oidc-agent takes for an OpenID provider: discovery, and tokens for any refresh token.

    oidc-provider.py CERTIFICATE KEY HANG-FILE

Listens on a free port of 127.0.0.1 and prints 'listening on ORIGIN'. While HANG-FILE exists, token requests hang.
"""
import itertools
import json
import os
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

certificate, key, hang_file = sys.argv[1:]
numbers = itertools.count(1)


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, document):
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer({
            "issuer": origin + "/",
            "authorization_endpoint": origin + "/authorize",
            "token_endpoint": origin + "/token",
            "scopes_supported": ["openid", "offline_access"],
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
        })

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        while os.path.exists(hang_file):
            time.sleep(0.1)
        number = next(numbers)
        self.answer({
            "access_token": f"at-{number}-" + "x" * 200,
            "refresh_token": f"rt-{number}",
            "token_type": "Bearer",
            "expires_in": 3600,
            "scope": "openid offline_access",
        })

    def log_message(self, *arguments):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
server.daemon_threads = True
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
origin = f"https://localhost:{server.server_port}"
print("listening on", origin, flush=True)
server.serve_forever()
