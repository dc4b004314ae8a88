#!/usr/bin/env python3
"""An app's backend: it knows its users, and confirms them to Sinch with registration tokens.

    backend.py SECRET-FILE ACCOUNTS-FILE        prints its address, and serves until it is stopped

Only the backend has the application's secret. A device sends its own key, and receives a token for the user of the device,
never for a user that it names. The backend needs only Python's standard library; put TLS in front of it.
"""

import base64
import hashlib
import hmac
import http.server
import json
import re
import sys
import time
import uuid

APPLICATION = "a32e5a8d-f7d8-411c-9645-9038e8dd051d"


def part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def registration_token(secret: bytes, user: str) -> str:
    """What docs/registration-token.md says, in ten lines."""
    now = int(time.time())
    day = time.strftime("%Y%m%d", time.gmtime(now))
    issuer = f"//rtc.sinch.com/applications/{APPLICATION}"
    header = {"alg": "HS256", "kid": f"hkdfv1-{day}"}
    claims = {"iss": issuer, "sub": f"{issuer}/users/{user}", "iat": now, "exp": now + 600, "nonce": str(uuid.uuid4())}
    signed = ".".join(part(json.dumps(member, separators=(",", ":")).encode()) for member in (header, claims))
    key = hmac.digest(secret, day.encode(), hashlib.sha256)
    return f"{signed}.{part(hmac.digest(key, signed.encode(), hashlib.sha256))}"


class Backend(http.server.BaseHTTPRequestHandler):
    secret: bytes
    accounts_file: str

    def do_GET(self) -> None:
        user = self.user()
        if self.path != "/registration-token":
            self.answer(404, {"error": "there is no such thing here"})
        elif user is None:
            self.answer(401, {"error": "no device of ours"})
        else:
            self.answer(200, {"token": registration_token(self.secret, user)})

    def user(self) -> "str | None":
        """Whose device asks. The accounts are read afresh each time: whoever is taken out is out."""
        given = re.fullmatch("Bearer +([!-~]+)", self.headers.get("Authorization", "").strip(" \t"), re.IGNORECASE)
        if given is None:
            return None
        key = given[1].encode()
        with open(self.accounts_file) as file:
            accounts = json.load(file)
        for account in accounts:
            if hmac.compare_digest(hashlib.sha256(key).hexdigest(), account["keySHA256"]):
                return account["user"]
        return None

    def answer(self, status: int, body: "dict[str, str]") -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def log_request(self, code: "int | str" = "-", size: "int | str" = "-") -> None:
        """Logs the method and the status. The address may have a secret."""
        self.log_message("%s %s", self.command, int(code))

    def log_error(self, format: str, *words: object) -> None:
        """Logs nothing: the message may have the whole first line of the request."""

    def log_message(self, format: str, *words: object) -> None:
        # Escaped, because the method may have control characters.
        print("backend:", ascii(format % words)[1:-1], file=sys.stderr, flush=True)


def main() -> None:
    secret_file, Backend.accounts_file = sys.argv[1:]
    with open(secret_file) as file:
        Backend.secret = base64.b64decode(file.read())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


main()
