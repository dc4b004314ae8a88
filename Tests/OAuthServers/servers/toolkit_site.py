"""A complete site with django-oauth-toolkit in one file: FOLDER prepare|serve|add|disable|enable|delete [USER].

toolkit.py runs it, in the environment of the toolkit. All its files are in FOLDER.
"""

import io
import json
import pathlib
import sys
import urllib.parse

folder = pathlib.Path(sys.argv[1])
policy = json.loads((folder / "policy.json").read_text())
root = f"http://127.0.0.1:{policy['port']}"

import django
from django.conf import settings

LOGIN = "<form method=post>{% csrf_token %}{{ form.as_p }}<button>Sign in</button></form>"

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    SECRET_KEY="loopback only",
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    INSTALLED_APPS=[
        "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "oauth2_provider",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    DATABASES={"default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": folder / "db",
        "OPTIONS": {"timeout": 20, "transaction_mode": "IMMEDIATE", "init_command": "PRAGMA synchronous = OFF"},
    }},
    # A fast hash, because these passwords are public.
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "OPTIONS": {
        "context_processors": [
            "django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
        ],
        "loaders": [
            ("django.template.loaders.locmem.Loader", {"registration/login.html": LOGIN}),
            "django.template.loaders.app_directories.Loader",
        ],
    }}],
    LOGIN_URL="/login/",
    LOGIN_REDIRECT_URL="/login/",
    LOGGING={
        "version": 1,
        "handlers": {"err": {"class": "logging.StreamHandler"}},
        "loggers": {"django": {"handlers": ["err"], "level": "ERROR"}},
    },
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True,
        "OIDC_RSA_PRIVATE_KEY": (folder / "key").read_text(),
        "SCOPES": {"openid": "who you are", "read": "read", "write": "write"},
        "DEFAULT_SCOPES": ["openid", "read"],
        "ACCESS_TOKEN_EXPIRE_SECONDS": policy["access"],
        "REFRESH_TOKEN_EXPIRE_SECONDS": policy["refresh"],
        "ROTATE_REFRESH_TOKEN": policy["rotate"],
        "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": policy["grace"],
        "REFRESH_TOKEN_REUSE_PROTECTION": policy["reuseProtection"],
        "OAUTH_DEVICE_VERIFICATION_URI": f"{root}/o/device/",
        "OAUTH_DEVICE_VERIFICATION_URI_COMPLETE": lambda code: f"{root}/o/device/?user_code={code}",
        "DEVICE_FLOW_INTERVAL": policy["deviceInterval"],
        "PKCE_REQUIRED": False,
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()

from django.contrib.auth import get_user_model, views
from django.urls import include, path
from oauth2_provider import urls
from oauth2_provider.models import get_application_model

urlpatterns = [
    path("", include((urls.metadata_urlpatterns, "oauth2_provider"), namespace="metadata")),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("login/", views.LoginView.as_view()),
]


def prepare():
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    device = "urn:ietf:params:oauth:grant-type:device_code"
    for name, kind, grant in (
        ("public", "public", device), ("secret", "confidential", device), ("browser", "public", "authorization-code"),
    ):
        get_application_model().objects.create(
            client_id=name, name=name, client_type=kind, authorization_grant_type=grant, algorithm="RS256",
            client_secret=policy["secret"], redirect_uris="http://127.0.0.1/callback",
        )
    for user in policy["users"]:
        add(user)


def add(user):
    get_user_model().objects.create_user(user, email=f"{user}@example.com", password=policy["password"])


def disable(user):
    get_user_model().objects.filter(username=user).update(is_active=False)


def enable(user):
    get_user_model().objects.filter(username=user).update(is_active=True)


def delete(user):
    get_user_model().objects.get(username=user).delete()


def remembering(application):
    """Records the parameter names of each request, and no values except that of the grant."""
    def remember(environment, respond):
        if environment["REQUEST_METHOD"] == "POST":
            body = environment["wsgi.input"].read(int(environment.get("CONTENT_LENGTH") or 0))
            environment["wsgi.input"] = io.BytesIO(body)
            form = urllib.parse.parse_qs(body.decode(errors="replace"), keep_blank_values=True)
            with open(folder / "requests", "a") as file:
                print(json.dumps({
                    "path": environment["PATH_INFO"], "grantType": form.get("grant_type", [None])[0],
                    "parameters": sorted(form),
                }), file=file)
        return application(environment, respond)
    return remember


def serve():
    from socketserver import ThreadingMixIn
    from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

    from django.core.wsgi import get_wsgi_application

    class Threaded(ThreadingMixIn, WSGIServer):
        daemon_threads = True

    class Quiet(WSGIRequestHandler):
        def log_request(self, *_):
            pass

    make_server("127.0.0.1", policy["port"], remembering(get_wsgi_application()), Threaded, Quiet).serve_forever()


if __name__ == "__main__":
    {f.__name__: f for f in (prepare, serve, add, disable, enable, delete)}[sys.argv[2]](*sys.argv[3:])
