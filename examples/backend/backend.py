#!/usr/bin/env python3
"""An app's backend: it signs its own users in to Junction, with Sign-In Tokens.

    backend.py JUNCTION-URL TEAM-KEY-FILE ACCOUNTS-FILE     prints its address, and serves until it is ended

    POST /junction/sign-in-token, with the app's own `Authorization: Bearer …`, answers {"user_id", "sign_in_token"}

Only the backend has the team key. The caller's own session decides the user, never a name in the request. Python's standard
library alone; put TLS in front of it.
"""

import hashlib
import hmac
import http.client
import http.server
import json
import re
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request


class Unavailable(Exception):
    """Junction gave no usable answer."""


class UnusableUser(Exception):
    """An account has a user that cannot be a `client_user_id`."""


class UnusableAccounts(Exception):
    """The file of accounts is not a list of objects."""


def text(value: object) -> str:
    """Returns a text of an answer, or fails if there is none."""
    if not isinstance(value, str):
        raise Unavailable("an answer that cannot be used")
    return value


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
        # A path would lead to another place with one of these.
        if not isinstance(client_user_id, str) or client_user_id in ("", ".", ".."):
            raise UnusableUser
        user = self._user(client_user_id)
        status, answer = self._call("POST", f"/v2/user/{user}/sign_in_token")
        if status != 200:
            raise Unavailable(f"a Sign-In Token: status {status}")
        return {"user_id": text(answer.get("user_id")), "sign_in_token": text(answer.get("sign_in_token"))}

    def _user(self, client_user_id: str) -> str:
        """Looks the user up, and creates it if it is missing."""
        status, answer = self._call("GET", "/v2/user/resolve/" + urllib.parse.quote(client_user_id, safe=""))
        if status == 404:
            status, answer = self._call("POST", "/v2/user", {"client_user_id": client_user_id})
            if status == 400 and isinstance(answer.get("detail"), dict):
                # Another request has created the user meanwhile; the error names it.
                return text(answer["detail"].get("user_id"))
        if status != 200:
            raise Unavailable(f"the user: status {status}")
        return text(answer.get("user_id"))

    def _call(self, method: str, path: str, body: object = None) -> "tuple[int, dict]":
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, self._headers, method=method)
        try:
            try:
                with self._opener.open(request, timeout=10) as answer:
                    return answer.status, self._json(answer.read())
            except urllib.error.HTTPError as error:
                with error:
                    return error.code, self._json(error.read(65_536))
        except (OSError, ValueError, http.client.HTTPException, RecursionError) as error:
            raise Unavailable(type(error).__name__) from None

    @staticmethod
    def _json(data: bytes) -> dict:
        try:
            value = json.loads(data)
        except ValueError:
            value = None
        return value if isinstance(value, dict) else {}


class Server(http.server.ThreadingHTTPServer):
    """Serves at most 64 connections at the same time, each with a thread. The kernel keeps the others waiting."""

    request_queue_size = 64
    _free = threading.BoundedSemaphore(64)

    def process_request(self, request: object, client_address: object) -> None:
        self._free.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: object, client_address: object) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: object, client_address: object) -> None:
        print("backend: a connection failed:", type(sys.exc_info()[1]).__name__, file=sys.stderr, flush=True)


class Backend(http.server.BaseHTTPRequestHandler):
    # For each read from a client, in seconds.
    timeout = 10
    junction: Junction
    accounts_file: str

    def do_POST(self) -> None:
        headers: "dict[str, str]" = {}
        try:
            status, body, headers = self.answer_of_the_app()
        except Unavailable as error:
            self.log_message("Junction gave no usable answer: %s", error)
            status, body = 502, {"error": "Junction gives no usable answer; try again later"}
        except Exception as error:
            self.log_message("failed: %s", type(error).__name__)
            status, body = 500, {"error": "the backend failed"}
        self.answer(status, body, headers)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_POST

    def answer_of_the_app(self) -> "tuple[int, dict[str, str], dict[str, str]]":
        if self.path != "/junction/sign-in-token":
            return 404, {"error": "there is no such path"}, {}
        if self.command != "POST":
            return 405, {"error": "use POST"}, {"Allow": "POST"}
        user = self.user()
        if user is None:
            return 401, {"error": "sign in to the app first"}, {"WWW-Authenticate": "Bearer"}
        return 200, self.junction.sign_in_token(user), {}

    def user(self) -> "str | None":
        """The user of the caller's session. The accounts are read for each request, so a removed one has no access."""
        given = re.fullmatch("Bearer +([!-~]+)", self.headers.get("Authorization", "").strip(" \t"), re.IGNORECASE)
        if given is None:
            return None
        digest = hashlib.sha256(given[1].encode()).hexdigest().encode()
        with open(self.accounts_file, encoding="utf-8") as file:
            accounts = json.load(file)
        if not isinstance(accounts, list) or not all(isinstance(account, dict) for account in accounts):
            raise UnusableAccounts
        for account in accounts:
            if hmac.compare_digest(digest, str(account.get("keySHA256")).lower().encode()):
                return account.get("user")
        return None

    def answer(self, status: int, body: "dict[str, str]", headers: "dict[str, str]") -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
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
    if len(sys.argv) != 4:
        sys.exit("usage: backend.py JUNCTION-URL TEAM-KEY-FILE ACCOUNTS-FILE")
    url, key_file, Backend.accounts_file = sys.argv[1:]
    with open(key_file) as file:
        Backend.junction = Junction(url, file.read().strip())
    server = Server(("127.0.0.1", 0), Backend)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


main()
