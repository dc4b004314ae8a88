"""Authentication for requests: every request gets a valid token, and is repeated once with a newer one after a 401.

```python
import requests
from junctiond import Client
from junctiond.requests_auth import JunctionAuth

session = requests.Session()
session.auth = JunctionAuth(Client())
```

This module needs `requests`.
"""

from __future__ import annotations

from typing import Any

import requests
import requests.auth

from ._errors import JunctionError
from ._secret import Secret
from .client import Client

__all__ = ["JunctionAuth"]


class JunctionAuth(requests.auth.AuthBase):
    """For `requests`, in any number of threads."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        token = self._client.token()
        request.headers["Authorization"] = token.authorization
        position = _position(request.body)

        def again(response: requests.Response, **arguments: Any) -> requests.Response:
            # After a redirect to another host the request has no token, and must not get one.
            if response.status_code != 401 or response.request.headers.get("Authorization") != token.authorization:
                return response
            return self._sent_again(response, token.token, position, arguments)

        request.hooks["response"].append(again)
        return request

    def _sent_again(
        self, response: requests.Response, rejected: Secret, position: object, arguments: dict[str, Any]
    ) -> requests.Response:
        request = response.request.copy()
        if not _rewound(request.body, position):
            return response
        try:
            newer = self._client.token()
            if newer.token == rejected:
                self._client.renew()
                newer = self._client.token()
        except JunctionError:
            # The caller receives the 401.
            return response
        request.headers["Authorization"] = newer.authorization
        # Reads the body to its end, so that the connection can be reused.
        _ = response.content
        response.close()
        second: requests.Response = response.connection.send(request, **arguments)
        second.history.append(response)
        second.request = request
        return second


def _position(body: object) -> object:
    """Returns the position of a body that is a file, or `None`."""
    try:
        return body.tell()  # type: ignore[attr-defined]
    except (AttributeError, OSError):
        return None


def _rewound(body: object, position: object) -> bool:
    """Whether the body can be sent again; rewinds a file."""
    if body is None or isinstance(body, (str, bytes)):
        return True
    if position is None:
        return False
    try:
        body.seek(position)  # type: ignore[attr-defined]
        return True
    except (AttributeError, OSError):
        return False
