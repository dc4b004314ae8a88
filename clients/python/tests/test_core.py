"""Tests without a daemon."""

import asyncio
import copy
import dataclasses
import gc
import logging
import pickle
import socket
import threading
from datetime import datetime, timezone
from pathlib import Path

import pytest

import junctiond
from junctiond import AsyncClient, Client, Secret, Snapshot, credentials, renewal
from junctiond._again import Backoff, Reconnection, Repetition
from junctiond._calls import sign_out, status
from junctiond._errors import error_from_wire
from junctiond._lines import LineSplitter
from junctiond._members import time
from junctiond._place import socket_path


def test_a_secret_is_not_shown():
    secret = Secret("tok-1")
    assert "tok-1" not in f"{secret} {secret!r} {secret!s} {[secret]} {credentials.SignInToken('tok-1')!r}"
    assert "tok-1" not in f"{renewal.RenewWithAuthToken('tok-1')} {credentials.ApiKey('tok-1', user_id='anna')}"
    assert "tok-1" not in logging.makeLogRecord({"msg": "%s", "args": (secret,)}).getMessage()
    assert secret == Secret(secret) and secret != Secret("tok-2") and secret != "tok-1"
    assert Secret("\ud800") != secret
    assert len({secret, Secret("tok-1")}) == 1 and copy.deepcopy(secret) is copy.copy(secret) is secret
    assert secret.reveal() == "tok-1" and dataclasses.asdict(credentials.LinkCode(secret)) == {"code": secret}
    with pytest.raises(TypeError):
        pickle.dumps(secret)


def test_an_error_can_be_pickled():
    error = error_from_wire({"code": 1011, "message": "Too much", "data": {"kind": "busy", "retryAfter": 2}})
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is junctiond.Busy
    assert (str(again), again.code, again.retry_after) == ("Too much (busy)", 1011, 2)


def test_the_remedy_of_the_daemon_ends_the_message():
    data = {"kind": "permissionDenied", "capability": "manage", "remedy": "add the group 'junction'"}
    error = error_from_wire({"code": 1007, "message": "it lacks 'manage'", "data": data})
    assert error.remedy == "add the group 'junction'"
    assert str(error) == "it lacks 'manage': add the group 'junction' (permissionDenied)"
    assert pickle.loads(pickle.dumps(error)).remedy == error.remedy
    assert error_from_wire({"code": 1003, "message": "nobody", "data": {"kind": "notSignedIn"}}).remedy is None


def test_errors_derive_from_python_s_own_classes():
    assert issubclass(junctiond.InvalidParams, ValueError)
    assert issubclass(junctiond.TimedOut, TimeoutError)
    assert issubclass(junctiond.DaemonUnreachable, ConnectionError)
    assert issubclass(junctiond.ConnectionLost, ConnectionError)
    assert issubclass(junctiond.PermissionDenied, PermissionError)


@pytest.mark.parametrize("text, expected", [
    ("2026-11-22T10:00:00Z", datetime(2026, 11, 22, 10, tzinfo=timezone.utc)),
    ("2026-11-22t10:00:00.25z", datetime(2026, 11, 22, 10, 0, 0, 250000, tzinfo=timezone.utc)),
    ("2026-11-22T10:00:00.123456789+02:30", datetime(2026, 11, 22, 7, 30, 0, 123456, tzinfo=timezone.utc)),
    ("2016-12-31T23:59:60Z", datetime(2017, 1, 1, tzinfo=timezone.utc)),
    ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone.utc)),
    ("2026-11-22T10:00:00", None),
    ("2026-02-30T10:00:00Z", None),
    ("2026-11-22T25:00:00Z", None),
    ("2026-11-22T10:00:61Z", None),
    ("0001-01-01T00:00:00+23:59", None),
    ("", None),
    (7, None),
])
def test_times(text, expected):
    assert time(text) == expected


def test_lines_in_any_pieces():
    for size in range(1, 12):
        splitter, found = LineSplitter(longest=8), []
        data = b"one\r\n\n  \ntwo\n\r\n12345678\nrest"
        for start in range(0, len(data), size):
            splitter.feed(data[start : start + size])
            found += splitter.lines()
        assert found == [b"one", b"two", b"12345678"]


def test_a_line_that_is_too_long_is_rejected_before_its_end():
    splitter = LineSplitter(longest=8)
    splitter.feed(b"123456789")
    with pytest.raises(junctiond.UnreadableAnswer):
        list(splitter.lines())


def cell(text):
    if text == "-":
        return None
    return "" if text == "EMPTY" else text.replace("X64", "x" * 64).replace("X65", "x" * 65)


def sockets():
    table = Path(__file__).parents[2] / "conformance" / "sockets.txt"
    lines = [line for line in table.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert len(lines) >= 20
    return [[cell(text) for text in line.split()] for line in lines]


@pytest.mark.parametrize("row", sockets(), ids=str)
def test_the_socket_is_the_one_in_the_table_of_all_clients(row, monkeypatch, tmp_path):
    socket, instance, *variables, present, path = row
    (tmp_path / "junctiond").mkdir()
    if present:
        (tmp_path / "junctiond" / present).touch()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    for name, value in zip(["JUNCTIOND_SOCKET", "JUNCTIOND_INSTANCE"], variables):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)

    if path == "invalid":
        with pytest.raises(junctiond.InvalidSocketPath):
            socket_path(socket, instance)
    else:
        assert socket_path(socket, instance) == path.replace("RUNTIME", str(tmp_path))


def test_a_path_that_does_not_fit_into_an_address_is_refused():
    for bad in ("", "/" + "ü" * 54, "/a\0b", "/\ud800"):
        with pytest.raises(junctiond.InvalidSocketPath):
            socket_path(bad)


def test_the_backoff_grows_and_is_bounded():
    backoff = Backoff()
    delays = [backoff.next_delay() for _ in range(40)]
    assert delays[0] == 0 and 0.025 <= delays[1] <= 0.05 and all(2.5 <= delay <= 5 for delay in delays[10:])


def test_rules_of_repetition():
    lost, unreachable = junctiond.ConnectionLost("gone"), junctiond.DaemonUnreachable("not there")
    assert Repetition(sign_out()).pause(lost) is None
    assert Repetition(status()).pause(unreachable) is None
    repetition = Repetition(status())
    assert [repetition.pause(lost) is not None for _ in range(7)] == [True] * 6 + [False]
    repetition = Repetition(status())
    assert repetition.pause(lost) == 0 and repetition.pause(unreachable) is not None
    repetition.daemon_asked()
    assert repetition.pause(lost) is None
    lost.was_not_taken = True
    assert Repetition(sign_out()).pause(lost) == 0


def test_retry_after_is_waited_out_within_patience():
    busy = error_from_wire({"code": 1011, "message": "Too much", "data": {"kind": "busy", "retryAfter": 5}})
    assert Repetition(sign_out()).pause(busy) is None
    assert Repetition(sign_out(), patience=4).pause(busy) is None
    assert Repetition(sign_out(), patience=60).pause(busy) == 5
    assert Reconnection().pause(busy) == 5
    with pytest.raises(junctiond.NotSignedIn):
        Reconnection().pause(junctiond.NotSignedIn("nobody"))


# A scripted daemon.


@pytest.fixture
def busy_once(folder):
    """Answers the first request with `busy` and a short `retryAfter`, and the others with a token."""
    token = '{"accessToken":"t","tokenType":"Bearer","expiresAt":"2030-01-01T00:00:00Z","userId":"anna"}'
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/d.sock")
    listener.listen()

    def serve():
        end, _ = listener.accept()
        with end, end.makefile("rwb") as lines:
            for id, _ in enumerate(lines, 1):
                outcome = f'"result":{token}'
                if id == 1:
                    outcome = '"error":{"code":1011,"message":"Busy","data":{"kind":"busy","retryAfter":0.01}}'
                lines.write(f'{{"jsonrpc":"2.0","id":{id},{outcome}}}\n'.encode())
                lines.flush()

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"{folder}/d.sock"
    thread.join()
    listener.close()


def test_patience(busy_once):
    with Client(busy_once) as client:
        assert client.token(patience=60).user_id == "anna"


def test_patience_of_a_task(busy_once):
    async def story():
        async with AsyncClient(busy_once) as client:
            with pytest.raises(junctiond.Busy):
                await client.token()
            return (await client.token(patience=60)).user_id

    assert asyncio.run(story()) == "anna"


def test_collecting_a_closed_connection_does_not_affect_the_next_one(folder):
    """A closed connection has no descriptor any more when it is collected: another file may use the number."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/d.sock")
    listener.listen()

    async def story():
        from junctiond._channel import Channel
        from junctiond._tasks import TaskConnection

        loop = asyncio.get_running_loop()
        first = TaskConnection(Channel.connect(f"{folder}/d.sock"), loop)
        first.close()
        second = TaskConnection(Channel.connect(f"{folder}/d.sock"), loop)
        del first
        gc.collect()
        heard = loop.remove_reader(second._descriptor)
        second.close()
        return heard

    assert asyncio.run(story())
    listener.close()


def test_an_unreferenced_client_closes_its_connection(folder):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/d.sock")
    listener.listen()

    async def story():
        client = AsyncClient(f"{folder}/d.sock", timeout=0.01)
        with pytest.raises(junctiond.TimedOut):
            await client.status()
        end, _ = listener.accept()
        del client
        gc.collect()
        with end:
            end.settimeout(60)
            while end.recv(4096):
                pass

    asyncio.run(story())
    listener.close()


@pytest.mark.parametrize("storage, is_readable", [
    ({"status": "ok"}, True),
    ({"status": "damaged", "readable": True, "reason": "Look."}, True),
    ({"status": "damaged", "readable": False, "reason": "Look."}, False),
    ({"status": "locked"}, False),  # An older daemon does not send `readable`.
])
def test_a_session_that_the_daemon_cannot_open_is_not_fresh(storage, is_readable):
    snapshot = Snapshot.read({
        "revision": 1, "changedAt": "2026-11-22T10:00:00Z", "state": "established", "flags": ["signedIn"], "provider": "junction",
        "storage": {"sealedWith": "file", "durable": True, **storage},
    })
    assert snapshot.storage.reason == storage.get("reason")
    assert (snapshot.storage.is_readable, snapshot.is_fresh) == (is_readable, is_readable)
