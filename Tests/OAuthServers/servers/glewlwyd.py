"""Glewlwyd, from Debian. Its refresh tokens can be used once, without a grace. Its error is often an empty 400."""

import gzip
import os
import pathlib
import sqlite3
import subprocess

from .browser import Browser, succeed
from .server import Server

GRANTS = ["device_authorization", "refresh_token", "code"]
SCOPES = ["openid", "g_profile", "read", "write"]


class Glewlwyd(Server):
    """Lifetimes in seconds. `one_use`: always, never or client-driven."""

    name = "glewlwyd"
    # Its discovery document has everything that is needed.
    more_configuration = ""
    grace = 0

    def __init__(
        self, installed, folder, one_use="always", access=3600, refresh=1209600, device_expires=600, device_interval=1
    ):
        super().__init__(installed, folder)
        self.tree = self.installed / "glewlwyd"
        self._prepare()
        self.start()
        self._admin = Browser()
        self._manage("POST", "/auth/", {"username": "admin", "password": "password"})
        self._manage("POST", "/mod/plugin/", {
            "module": "oidc", "name": "oidc", "display_name": "oidc", "enabled": True, "parameters": {
                "iss": self.issuer, "jwt-type": "ecdsa", "jwt-key-size": "256", "jwks-show": True,
                "key": self._pem("key"), "cert": self._pem("key.public"),
                "access-token-duration": access, "refresh-token-duration": refresh, "code-duration": 600,
                "refresh-token-rolling": False, "refresh-token-one-use": one_use, "allow-non-oidc": True,
                "auth-type-code-enabled": True, "auth-type-token-enabled": False, "auth-type-password-enabled": False,
                "auth-type-client-enabled": False, "auth-type-refresh-enabled": True, "auth-type-device-enabled": True,
                "device-authorization-expiration": device_expires, "device-authorization-interval": device_interval,
                "introspection-revocation-allowed": True, "introspection-revocation-allow-target-client": True,
                "pkce-allowed": True, "client-pubkey-parameter": "pubkey", "request-parameter-allow": True,
                "name-claim": "mandatory", "email-claim": "mandatory",
            },
        })
        for scope in ("read", "write"):
            self._manage("POST", "/scope/", {
                "name": scope, "display_name": scope, "description": scope, "password_required": False, "scheme": {},
            })
        self._client("public", confidential=False, token_endpoint_auth_method=["none"])
        self._client("secret", client_secret=self.SECRET,
                     token_endpoint_auth_method=["client_secret_basic", "client_secret_post"])
        self._client("key", token_endpoint_auth_method=["private_key_jwt"], pubkey=self._pem("client.public"))
        for user in self.USERS:
            self.add(user)

    @property
    def issuer(self):
        return self.root + "/api/oidc"

    @property
    def device_endpoint(self):
        return self.issuer + "/device_authorization"

    @property
    def token_endpoint(self):
        return self.issuer + "/token"

    @property
    def userinfo(self):
        return self.issuer + "/userinfo"

    @property
    def client_key(self):
        """Returns the private key of the client `key`, whose assertions must name the called endpoint."""
        return self.folder / "client"

    # ---- users ----

    def add(self, user):
        self._manage("POST", "/user/", {"username": user, "password": self.PASSWORD} | self._about(user))

    def disable(self, user):
        self._manage("PUT", f"/user/{user}", self._about(user) | {"enabled": False})

    def enable(self, user):
        self._manage("PUT", f"/user/{user}", self._about(user))

    def delete(self, user):
        self._manage("DELETE", f"/user/{user}")

    # ---- actions of a person in the browser ----

    def approve(self, code, user, client="public"):
        approve(self.root, code, user, client)

    # ---- state ----

    def living(self, user):
        """Returns the number of the user's refresh tokens that are still valid."""
        return self.count("select count(*) from gpo_refresh_token where gpor_username = ? and gpor_enabled = 1", user)

    def issued(self, user):
        """Returns the number of refresh tokens that were ever issued to the user."""
        return self.count("select count(*) from gpo_refresh_token where gpor_username = ?", user)

    def find_polls_too_fast(self):
        """Makes the next poll count as too early, by moving the time of the last poll into the future."""
        self.query("update gpo_device_authorization set gpoda_last_check = strftime('%s', 'now') + 3600")
        return self.polled_at()

    def polled_at(self):
        """Returns the time of the last poll, in seconds."""
        return int(self.count("select gpoda_last_check from gpo_device_authorization"))

    # ---- set-up ----

    def command(self):
        return [str(self.tree / "usr/bin/glewlwyd"), f"--config-file={self.folder}/conf"]

    def environment(self):
        libraries = [str(path) for path in self.tree.glob("usr/lib/*-linux-*")] + [str(self.tree / "usr/lib")]
        return os.environ | {"LD_LIBRARY_PATH": ":".join(libraries)}

    def _prepare(self):
        with gzip.open(self.tree / "usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz", "rt") as script:
            database = sqlite3.connect(self.folder / "db")
            database.executescript("pragma synchronous = off; begin;" + script.read() + "commit;")
            database.close()
        template = pathlib.Path(__file__).with_suffix(".conf").read_text()
        for name, value in {
            "port": self.port, "folder": self.folder, "modules": self.tree / "usr/lib/glewlwyd",
        }.items():
            template = template.replace(f"@{name}@", str(value))
        (self.folder / "conf").write_text(template)
        for name in ("key", "client"):
            make_key(self.folder / name)

    def _client(self, name, confidential=True, **more):
        self._manage("POST", "/client/", {
            "client_id": name, "name": name, "confidential": confidential, "enabled": True, "scope": [],
            "redirect_uri": ["http://127.0.0.1/callback"], "authorization_type": GRANTS,
        } | more)

    def _about(self, user):
        return {"name": user, "email": f"{user}@example.com", "enabled": True, "scope": SCOPES}

    def _manage(self, method, path, document=None):
        page = self._admin.visit(f"{self.root}/api{path}", document=document, method=method)
        return succeed(page, f"{method} {path}")

    def _pem(self, name):
        return (self.folder / name).read_text()


def approve(root, code, user, client="public"):
    """Does what the pages do when a person signs in, consents and enters the code. The pages have no button to deny."""
    browser = Browser()
    login = {"username": user, "password": Server.PASSWORD}
    succeed(browser.visit(f"{root}/api/auth/", document=login), "signing in")
    consent = {"scope": "openid read"}
    succeed(browser.visit(f"{root}/api/auth/grant/{client}", document=consent, method="PUT"), "consenting")
    page = succeed(browser.visit(f"{root}/api/oidc/device?code={code}&g_continue"), "entering the code")
    if "prompt=deviceComplete" not in (page.location or ""):
        raise RuntimeError(f"the code was refused: {page.location}")


def make_key(file):
    """Makes a P-256 key, and next to it `.public`, its public half."""
    subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", file],
                   check=True, capture_output=True)
    subprocess.run(["openssl", "pkey", "-in", file, "-pubout", "-out", f"{file}.public"], check=True, capture_output=True)
