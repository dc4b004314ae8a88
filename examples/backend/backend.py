#!/usr/bin/env python3
"""An app's backend: it signs its own users in to Junction, with Sign-In Tokens.

    backend.py JUNCTION-URL TEAM-KEY-FILE ACCOUNTS-FILE     prints its address, and serves until it is ended

    POST /junction/sign-in-token, with the app's own `Authorization: Bearer …`, answers {"user_id", "sign_in_token"}

Only the backend has the team key. The caller's own session decides the user, never a name in the request. Python's standard
library alone; put TLS in front of it.
"""

import hashlib
import hmac
import http.server
import json
import sys
import urllib.error
import urllib.parse
import urllib.request


class Unavailable(Exception):
    """Junction gave no usable answer."""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would take the team key to another place."""

    def redirect_request(self, *_: object) -> None:
        return None


class Junction:
    """The three calls of Junction's API that a backend needs."""

    def __init__(self, url: str, team_key: str) -> None:
        self._url = url
        self._headers = {"x-vital-api-key": team_key, "content-type": "application/json"}
        self._opener = urllib.request.build_opener(NoRedirect)

    def sign_in_token(self, client_user_id: str) -> "dict[str, str]":
        user = self._user(client_user_id)
        status, answer = self._call("POST", f"/v2/user/{user}/sign_in_token")
        if status != 200:
            raise Unavailable(f"a Sign-In Token: status {status}")
        return {"user_id": answer["user_id"], "sign_in_token": answer["sign_in_token"]}

    def _user(self, client_user_id: str) -> str:
        """Looks the user up, and creates it if it is missing."""
        status, answer = self._call("GET", "/v2/user/resolve/" + urllib.parse.quote(client_user_id, safe=""))
        if status == 404:
            status, answer = self._call("POST", "/v2/user", {"client_user_id": client_user_id})
            if status == 400 and isinstance(answer.get("detail"), dict):
                # Another request has created the user meanwhile; the error names it.
                return answer["detail"]["user_id"]
        if status != 200:
            raise Unavailable(f"the user: status {status}")
        return answer["user_id"]

    def _call(self, method: str, path: str, body: object = None) -> "tuple[int, dict]":
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, self._headers, method=method)
        try:
            with self._opener.open(request, timeout=10) as answer:
                return answer.status, self._json(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, self._json(error.read(65_536))
        except (OSError, ValueError) as error:
            raise Unavailable(type(error).__name__) from None

    @staticmethod
    def _json(data: bytes) -> dict:
        try:
            value = json.loads(data)
        except ValueError:
            value = None
        return value if isinstance(value, dict) else {}


class Backend(http.server.BaseHTTPRequestHandler):
    timeout = 30
    junction: Junction
    accounts_file: str

    def do_POST(self) -> None:
        user = self.user()
        if self.path != "/junction/sign-in-token":
            self.answer(404, {"error": "there is no such path"})
        elif user is None:
            self.answer(401, {"error": "sign in to the app first"})
        else:
            try:
                self.answer(200, self.junction.sign_in_token(user))
            except (Unavailable, KeyError) as error:
                self.log_message("Junction gave no usable answer: %s", error)
                self.answer(502, {"error": "Junction gives no usable answer; try again later"})

    def user(self) -> "str | None":
        """The user of the caller's session. The accounts are read for each request, so a removed one has no access."""
        key = self.headers.get("Authorization", "").removeprefix("Bearer ").encode()
        found = None
        with open(self.accounts_file) as file:
            for account in json.load(file):
                if hmac.compare_digest(hashlib.sha256(key).hexdigest(), account["keySHA256"]):
                    found = account["user"]
        return found

    def answer(self, status: int, body: "dict[str, str]") -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *words: object) -> None:
        print("backend:", format % words, file=sys.stderr, flush=True)


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit("usage: backend.py JUNCTION-URL TEAM-KEY-FILE ACCOUNTS-FILE")
    url, key_file, Backend.accounts_file = sys.argv[1:]
    with open(key_file) as file:
        Backend.junction = Junction(url, file.read().strip())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


main()
