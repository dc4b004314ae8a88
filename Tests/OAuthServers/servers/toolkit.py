"""django-oauth-toolkit, from PyPI. It has rotation with a grace or with reuse protection, and a page on which a person
can deny."""

import json
import os
import pathlib
import subprocess
import urllib.parse

from .browser import Browser, succeed
from .server import Server


class Toolkit(Server):
    """Lifetimes in seconds. A refresh token ends `refresh` seconds after its access token.

    `grace`: how long the previous refresh token gets the same answer again. `reuse_protection`: a token that is
    reused later revokes its whole family.
    """

    name = "toolkit"

    def __init__(
        self, installed, folder, rotate=True, grace=0, reuse_protection=True, access=3600, refresh=1209600,
        device_interval=1,
    ):
        super().__init__(installed, folder)
        self.grace = grace
        self.python = self.installed / "toolkit/bin/python"
        subprocess.run(["openssl", "genrsa", "-out", self.folder / "key", "2048"], check=True, capture_output=True)
        (self.folder / "policy.json").write_text(json.dumps({
            "port": self.port, "rotate": rotate, "grace": grace, "reuseProtection": reuse_protection, "access": access,
            "refresh": refresh, "deviceInterval": device_interval, "users": self.USERS, "password": self.PASSWORD,
            "secret": self.SECRET,
        }))
        self._prepare()
        self.start()

    @property
    def issuer(self):
        return self.root + "/o"

    @property
    def device_endpoint(self):
        return self.issuer + "/device-authorization/"

    @property
    def token_endpoint(self):
        return self.issuer + "/token/"

    @property
    def userinfo(self):
        return self.issuer + "/userinfo/"

    # ---- users ----

    def add(self, user):
        self._site("add", user)

    def disable(self, user):
        self._site("disable", user)

    def enable(self, user):
        self._site("enable", user)

    def delete(self, user):
        self._site("delete", user)

    @property
    def more_configuration(self):
        """Its discovery document names neither the device authorization endpoint nor the revocation endpoint."""
        return (
            f'deviceAuthorizationEndpoint = "{self.device_endpoint}"\n'
            f'revocationEndpoint = "{self.issuer}/revoke_token/"'
        )

    # ---- actions of a person in the browser ----

    def approve(self, code, user, client="public"):
        decide(self.root, code, user, "accept")

    def deny(self, code, user):
        decide(self.root, code, user, "deny")

    def consent(self, url, user):
        """Signs in and consents on the page of a browser sign-in; returns the parameters of the redirect."""
        browser = signed_in(self.root, user)
        succeed(browser.visit(url), "the page to consent on")
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
        page = submit(browser, url, "consenting", **asked, allow="Authorize")
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page.location).query))

    # ---- state ----

    def living(self, user):
        """Returns the number of the user's refresh tokens that are still valid."""
        return self._tokens("count(*)", user, "and token.revoked is null")

    def issued(self, user):
        """Returns the number of refresh tokens that were ever issued to the user."""
        return self._tokens("count(*)", user)

    def newest(self, user):
        """Returns the last issued refresh token, as a thief would know it."""
        return self._tokens("token.token", user, "order by token.id desc limit 1")

    def requests(self, grant_type):
        """Returns the parameter names of each request with this grant."""
        lines = (self.folder / "requests").read_text().splitlines()
        return [line["parameters"] for line in map(json.loads, lines) if line["grantType"] == grant_type]

    def _tokens(self, what, user, more=""):
        return self.count(
            f"select {what} from oauth2_provider_refreshtoken token join auth_user user on user.id = token.user_id"
            f" where user.username = ? {more}", user
        )

    # ---- set-up ----

    # A database template with clients and users. Making it takes seconds, and it is the same for every policy.
    _prepared = None

    def _prepare(self):
        database = self.folder / "db"
        if Toolkit._prepared is None:
            self._site("prepare")
            Toolkit._prepared = database.read_bytes()
        else:
            database.write_bytes(Toolkit._prepared)

    def command(self):
        return [str(self.python), str(pathlib.Path(__file__).with_name("toolkit_site.py")), str(self.folder), "serve"]

    def environment(self):
        return os.environ | {"PYTHONUNBUFFERED": "1"}

    def _site(self, *arguments):
        done = subprocess.run(self.command()[:-1] + list(arguments), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{arguments}: {done.stderr[-1000:]}")


def decide(root, code, user, action):
    """Signs in, enters the code and presses a button. `action`: accept or deny."""
    browser = signed_in(root, user)
    succeed(browser.visit(f"{root}/o/device/"), "the page for codes")
    confirmation = submit(browser, f"{root}/o/device/", "entering the code", user_code=code).location
    if not confirmation:
        raise RuntimeError("the code was refused")
    succeed(browser.visit(root + confirmation), "the page to decide on")
    submit(browser, root + confirmation, "deciding", action=action)


def signed_in(root, user):
    browser = Browser()
    succeed(browser.visit(f"{root}/login/"), "the page to sign in on")
    submit(browser, f"{root}/login/", "signing in", username=user, password=Server.PASSWORD)
    return browser


def submit(browser, url, what, **fields):
    return succeed(browser.visit(url, form={"csrfmiddlewaretoken": browser.cookie("csrftoken")} | fields), what)
