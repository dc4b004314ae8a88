"""httpx and requests, with a token that the provider revokes."""

import asyncio
import io

import pytest

import junctiond
from junctiond import AsyncClient


def forget(sandbox, user):
    sandbox.post(f"/sandbox/users/{user}/revoke-access-tokens")


def refreshes(sandbox):
    return sandbox.get("/sandbox/counters")["refreshes"]


def test_httpx(client, sandbox, anna):
    httpx = pytest.importorskip("httpx")
    from junctiond.httpx_auth import JunctionAuth

    with httpx.Client(base_url=sandbox.url, auth=JunctionAuth(client), trust_env=False) as http:
        assert http.get(f"/v2/user/{anna}").status_code == 200
        forget(sandbox, anna)
        assert http.get(f"/v2/user/{anna}").status_code == 200
        assert refreshes(sandbox) == 1
        forget(sandbox, anna)
        # A streamed body can be sent only once.
        assert http.post(f"/v2/user/refresh/{anna}", content=iter([b"x"])).status_code == 401
        assert http.post(f"/v2/user/refresh/{anna}", content=b"x").status_code == 200
        # A 401 that a newer token does not fix is returned after one retry.
        sandbox.post("/sandbox/faults", match="/v2/", status=401)
        before = len(sandbox.get("/sandbox/requests?path=/v2/")["requests"])
        assert http.get(f"/v2/user/{anna}").status_code == 401
        assert len(sandbox.get("/sandbox/requests?path=/v2/")["requests"]) == before + 2
        client.sign_out()
        with pytest.raises(junctiond.NotSignedIn):
            http.get(f"/v2/user/{anna}")


def test_httpx_for_tasks(client, daemon, sandbox, anna):
    httpx = pytest.importorskip("httpx")
    from junctiond.httpx_auth import AsyncJunctionAuth

    async def story():
        async with AsyncClient(daemon.socket) as junction, httpx.AsyncClient(
            base_url=sandbox.url, auth=AsyncJunctionAuth(junction), trust_env=False
        ) as http:
            assert (await http.get(f"/v2/user/{anna}")).status_code == 200
            forget(sandbox, anna)
            assert (await http.get(f"/v2/user/{anna}")).status_code == 200
            assert refreshes(sandbox) == 1

    asyncio.run(story())


def test_requests(client, sandbox, anna):
    requests = pytest.importorskip("requests")
    from junctiond.requests_auth import JunctionAuth

    with requests.Session() as http:
        http.trust_env = False
        http.auth = JunctionAuth(client)
        assert http.get(f"{sandbox.url}/v2/user/{anna}").status_code == 200
        forget(sandbox, anna)
        answer = http.get(f"{sandbox.url}/v2/user/{anna}")
        assert answer.status_code == 200 and [each.status_code for each in answer.history] == [401]
        assert refreshes(sandbox) == 1
        forget(sandbox, anna)
        assert http.post(f"{sandbox.url}/v2/user/refresh/{anna}", data=io.BytesIO(b"x")).status_code == 200
        forget(sandbox, anna)
        assert http.post(f"{sandbox.url}/v2/user/refresh/{anna}", data=iter([b"x"])).status_code == 401
        sandbox.post("/sandbox/faults", match="/v2/", status=401)
        before = len(sandbox.get("/sandbox/requests?path=/v2/")["requests"])
        assert http.get(f"{sandbox.url}/v2/user/{anna}").status_code == 401
        assert len(sandbox.get("/sandbox/requests?path=/v2/")["requests"]) == before + 2


def test_requests_sends_no_token_to_another_host(client, sandbox, anna):
    requests = pytest.importorskip("requests")
    from junctiond.requests_auth import JunctionAuth

    with requests.Session() as http:
        http.trust_env = False
        http.auth = JunctionAuth(client)
        elsewhere = sandbox.url.replace("127.0.0.1", "localhost")
        sandbox.post("/sandbox/faults", match="/v2/", status=302, headers={"Location": f"{elsewhere}/v3/x"}, times=1)
        sandbox.post("/sandbox/faults", match="/v3/x", status=401)
        http.get(f"{sandbox.url}/v2/user/{anna}")
        (seen,) = sandbox.get("/sandbox/requests?path=/v3/x")["requests"]
        assert "authorization" not in [name.lower() for name in seen["headers"]]
