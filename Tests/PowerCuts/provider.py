"""An OAuth provider whose state can be set back to any event of a story.

A sign-in begins a family of refresh tokens. Each renewal rotates the refresh token. The provider accepts the last spent token for
the grace period, and answers with the present tokens. If an older token comes, the provider revokes the family and counts a theft.
"""

import copy
import dataclasses
import http.server
import json
import threading
import time
import urllib.parse

GRACE = 30
TOKEN_LIFE = 7 * 86_400
POLL_INTERVAL = 1


@dataclasses.dataclass
class Family:
    user: str
    # The number of the present refresh token, and when it replaced the one before.
    number: int = 0
    rotated_at: float = 0
    is_granted: bool = False
    is_revoked: bool = False


@dataclasses.dataclass
class State:
    families: dict = dataclasses.field(default_factory=dict)
    # The unspent codes, and the families that they give.
    codes: dict = dataclasses.field(default_factory=dict)
    approved: set = dataclasses.field(default_factory=set)
    thefts: int = 0


class Refusal(Exception):
    """An OAuth error."""


class Provider:
    # Of the daemon.
    more_configuration = ""

    def __init__(self):
        self.state = State()
        self.grace = GRACE
        # The family whose codes the next device sign-in gets.
        self.newest = None
        # Is called after each change of the state, before the answer leaves.
        self.changed = lambda: None
        # Functions for the next request to the token endpoint: one before the change, one after it. Each returns whether the
        # answer is lost.
        self.interruption = (None, None)
        self._ahead = 0.0
        self._lock = threading.RLock()
        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.provider = self
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def issuer(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def settings(self):
        """The settings of a daemon, in the table `oauth`."""
        endpoints = {"token": "token", "deviceAuthorization": "device", "revocation": "revoke", "userinfo": "userinfo"}
        return {"scopes": []} | {f"{name}Endpoint": f"{self.issuer}/{path}" for name, path in endpoints.items()}

    # ---- time and state ----

    @property
    def now(self):
        return time.monotonic() + self._ahead

    def advance(self, seconds):
        with self._lock:
            self._ahead += seconds

    def snapshot(self):
        with self._lock:
            return copy.deepcopy(self.state), self.now

    def restore(self, snapshot, later, grace):
        """Sets the state back. The provider's clock then shows `later` seconds after the snapshot."""
        state, then = snapshot
        with self._lock:
            self.state = copy.deepcopy(state)
            self.grace = grace
            self._ahead = then + later - time.monotonic()

    # ---- people ----

    def new_family(self, user, kind="code"):
        """Returns a family that an exchange of its code grants. `kind`: `code` or `device`."""
        with self._lock:
            name = f"f{len(self.state.families)}"
            self.state.families[name] = Family(user)
            self.state.codes[f"{kind}-{name}"] = name
            self.newest = name
            self.changed()
            return name

    def approve(self, family):
        """The person approves the device sign-in of the family."""
        with self._lock:
            self.state.approved.add(f"device-{family}")
            self.changed()

    def is_waiting(self, family):
        """Returns whether the codes of the device sign-in are not spent."""
        with self._lock:
            return f"device-{family}" in self.state.codes

    def owner(self, access_token):
        """Returns the name of the family of an access token, and whether the token is from its last renewal and valid."""
        _, name, number = access_token.split("-")
        with self._lock:
            family = self.state.families[name]
            return name, not family.is_revoked and int(number) == family.number

    # ---- endpoints ----

    def ask(self, path, form, access_token):
        if path == "/token":
            return self._token(form)
        with self._lock:
            if path == "/device":
                return self._device()
            if path == "/revoke":
                return self._revoke(form["token"])
            if path == "/userinfo":
                family = self.state.families.get((access_token or "-").split("-")[1])
                if family is None or family.is_revoked:
                    raise Refusal("invalid_token")
                return {"sub": family.user}
        raise Refusal("invalid_request")

    def _token(self, form):
        before, after = self.interruption
        if before or after:
            self.interruption = (None, None)
        if before and before():
            return None
        with self._lock:
            answer = self._granted(form)
        if after and after():
            return None
        return answer

    def _granted(self, form):
        kind = form["grant_type"].rpartition(":")[2]
        if kind == "refresh_token":
            return self._rotated(form["refresh_token"])
        code = form.get("device_code") or form.get("code")
        if kind == "device_code" and code in self.state.codes and code not in self.state.approved:
            raise Refusal("authorization_pending")
        name = self.state.codes.pop(code, None)
        if name is None:
            raise Refusal("invalid_grant")
        family = self.state.families[name]
        family.is_granted, family.rotated_at = True, self.now
        self.changed()
        return self._tokens(name)

    def _rotated(self, token):
        _, name, number = token.split("-")
        family = self.state.families[name]
        if family.is_revoked:
            raise Refusal("invalid_grant")
        if int(number) != family.number:
            if int(number) == family.number - 1 and self.now < family.rotated_at + self.grace:
                return self._tokens(name)
            family.is_revoked = True
            self.state.thefts += 1
            self.changed()
            raise Refusal("invalid_grant")
        family.number += 1
        family.rotated_at = self.now
        self.changed()
        return self._tokens(name)

    def _tokens(self, name):
        number = self.state.families[name].number
        return {
            "access_token": f"access-{name}-{number}", "refresh_token": f"refresh-{name}-{number}", "token_type": "Bearer",
            "expires_in": TOKEN_LIFE,
        }

    def _device(self):
        return {
            "device_code": f"device-{self.newest}", "user_code": f"USER-{self.newest}",
            "verification_uri": f"{self.issuer}/approve",
            "expires_in": 30 * 86_400, "interval": POLL_INTERVAL,
        }

    def _revoke(self, token):
        family = self.state.families.get(token.split("-")[1])
        if family:
            family.is_revoked = True
            self.changed()
        return {}


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    provider = None

    def handle_error(self, request, client_address):
        """A daemon that was killed closes its connections. Nothing is printed."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave in one packet.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        form = dict(urllib.parse.parse_qsl(self.rfile.read(length).decode()))
        self._answer(form)

    def do_GET(self):
        self._answer({})

    def _answer(self, form):
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        try:
            status, answer = 200, self.server.provider.ask(self.path, form, token)
        except Refusal as refusal:
            status, answer = 400, {"error": str(refusal)}
        if answer is None:
            self.close_connection = True
            return
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
