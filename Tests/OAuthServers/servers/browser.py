"""A person's browser: cookies, forms, and redirects, which the caller inspects."""

import http.cookiejar
import json
import urllib.error
import urllib.parse
import urllib.request


class Page:
    def __init__(self, response):
        self.status = response.status
        self.url = response.url
        self.headers = response.headers
        self.body = response.read()

    @property
    def location(self):
        return self.headers.get("Location")

    @property
    def json(self):
        return json.loads(self.body) if self.body else None


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Browser:
    """Follows no redirect automatically and uses no proxy."""

    def __init__(self):
        self.cookies = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.cookies), _Stay()
        )

    def visit(self, url, form=None, document=None, method=None, headers=None):
        """Sends a GET, a form or a JSON document; returns the answer with any status."""
        headers = dict(headers or {})
        body = None
        if form is not None:
            body = urllib.parse.urlencode(form).encode()
        elif document is not None:
            body = json.dumps(document).encode()
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(url, data=body, headers=headers, method=method)
        try:
            return Page(self._opener.open(request, timeout=20))
        except urllib.error.HTTPError as error:
            return Page(error)

    def cookie(self, name):
        return next((cookie.value for cookie in self.cookies if cookie.name == name), None)


def succeed(page, what):
    """Returns the page, if the answer is one."""
    if page.status >= 400:
        raise RuntimeError(f"{what}: {page.status} {page.body[:300]!r}")
    return page
