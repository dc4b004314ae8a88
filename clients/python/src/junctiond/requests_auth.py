"""Authentication for requests: every request gets a living token, and a 401 is answered once with a newer one.

```python
import requests
from junctiond import Client
from junctiond.requests_auth import JunctionAuth

session = requests.Session()
session.auth = JunctionAuth(Client())
```

It needs `requests`, which the rest of the library does not.
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
            # After a redirect to another host the token is not in the request any more, and has no business there.
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
            # The 401 says what there is to say.
            return response
        request.headers["Authorization"] = newer.authorization
        # Read to the end, so that its connection can be used again.
        _ = response.content
        response.close()
        second: requests.Response = response.connection.send(request, **arguments)
        second.history.append(response)
        second.request = request
        return second


def _position(body: object) -> object:
    """Where a file stands that is sent; nothing for text and bytes."""
    try:
        return body.tell()  # type: ignore[attr-defined]
    except (AttributeError, OSError):
        return None


def _rewound(body: object, position: object) -> bool:
    """Whether the body can be sent again."""
    if body is None or isinstance(body, (str, bytes)):
        return True
    if position is None:
        return False
    try:
        body.seek(position)  # type: ignore[attr-defined]
        return True
    except (AttributeError, OSError):
        return False
