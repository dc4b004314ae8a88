"""Authentication for httpx: every request gets a valid token, and is repeated once with a newer one after a 401.

```python
import httpx
from junctiond import Client
from junctiond.httpx_auth import JunctionAuth

http = httpx.Client(auth=JunctionAuth(Client()))
```

This module needs `httpx`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

import httpx

from ._errors import JunctionError
from .aio import AsyncClient
from .client import Client

__all__ = ["AsyncJunctionAuth", "JunctionAuth"]


class JunctionAuth(httpx.Auth):
    """For `httpx.Client`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """@private"""
        token = self._client.token()
        request.headers["Authorization"] = token.authorization
        response = yield request
        if response.status_code != 401 or not _can_be_sent_again(request):
            return
        try:
            newer = self._client.token()
            if newer.token == token.token:
                self._client.renew()
                newer = self._client.token()
        except JunctionError:
            # The caller receives the 401.
            return
        request.headers["Authorization"] = newer.authorization
        yield request


class AsyncJunctionAuth(httpx.Auth):
    """For `httpx.AsyncClient`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """@private"""
        token = await self._client.token()
        request.headers["Authorization"] = token.authorization
        response = yield request
        if response.status_code != 401 or not _can_be_sent_again(request):
            return
        try:
            newer = await self._client.token()
            if newer.token == token.token:
                await self._client.renew()
                newer = await self._client.token()
        except JunctionError:
            # The caller receives the 401.
            return
        request.headers["Authorization"] = newer.authorization
        yield request


def _can_be_sent_again(request: httpx.Request) -> bool:
    """Whether the body can be sent again: a streamed body cannot."""
    return isinstance(request.stream, httpx.ByteStream)
