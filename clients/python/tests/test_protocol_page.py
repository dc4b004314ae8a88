"""Every example of docs/protocol.md runs against the built daemon, and its tables are compared with the daemon."""

import json
import pathlib
import re
import socket

import pytest

from junctiond import Client, credentials
from junctiond._calls import Call
from junctiond import _calls
from junctiond._errors import _BY_CODE

PAGE = (pathlib.Path(__file__).parents[3] / "docs" / "protocol.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"<!-- played: (\w+) -->\n```\n(.*?)```", PAGE, re.DOTALL)


def test_every_example_is_played():
    assert PAGE.count("→ {") == sum(example.count("→ {") for _, example in EXAMPLES)
    assert len(EXAMPLES) >= 7


def same(expected, found):
    """Compares with a printed value; `…` matches any value, and as a member any other members."""
    if expected == "…":
        return True
    if isinstance(expected, dict) and isinstance(found, dict):
        others = "…" in expected
        named = {key: value for key, value in expected.items() if key != "…"}
        return (others or named.keys() == found.keys()) and all(
            key in found and same(value, found[key]) for key, value in named.items()
        )
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(same, expected, found))
    return type(expected) is type(found) and expected == found


class Conversation:
    """A connection that sends and expects lines as printed."""

    def __init__(self, path, names):
        self.end = socket.socket(socket.AF_UNIX)
        self.end.settimeout(60)
        self.end.connect(path)
        self.lines = self.end.makefile("r", encoding="utf-8", newline="\n")
        self.names = names

    def close(self):
        self.lines.close()
        self.end.close()

    def say(self, text):
        text = self.filled(text).replace('"ASKED"', json.dumps(self.names.get("ASKED")))
        self.end.sendall(text.encode() + b"\n")

    def hear(self, expected):
        """Expects one of these messages next."""
        line = self.lines.readline()
        assert line, f"the daemon hung up instead of {expected}"
        message = json.loads(line)
        for candidate in expected:
            wanted = json.loads(self.filled(candidate))
            if isinstance(wanted, dict) and wanted.get("id") == "ASKED":
                self.names["ASKED"] = wanted["id"] = message.get("id")
            if same(wanted, message):
                return candidate
        raise AssertionError(f"expected {expected}\nfound {line}")

    def filled(self, text):
        for name, value in self.names.items():
            text = text if name == "ASKED" else text.replace(name, value)
        return text

    def play(self, example):
        rest = [line for line in example.splitlines() if line]
        while rest:
            side, _, text = rest.pop(0).partition(" ")
            if side == "→" and text == "(end)":
                self.end.shutdown(socket.SHUT_WR)
            elif side == "→":
                self.say(text)
            elif text == "(end)":
                assert self.lines.readline() == ""
            elif text == "(in any order)":
                several = []
                while rest and rest[0].startswith("← {"):
                    several.append(rest.pop(0)[2:])
                while several:
                    several.remove(self.hear(several))
            else:
                self.hear([text])


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example(number, request, sandbox):
    setting, example = EXAMPLES[number]
    user = sandbox.new_user("anna")
    names = {"USER-ID": user, "SIGN-IN-TOKEN": sandbox.sign_in_token(user)}
    daemon = request.getfixturevalue("asking" if setting == "handler" else "daemon")
    with Client(daemon.socket) as client:
        if setting == "anna":
            client.sign_in(credentials.SignInToken(sandbox.sign_in_token(user)))
        elif setting == "handler":
            client.sign_in(credentials.UserLogin("anna"))
    conversation = Conversation(daemon.socket, names)
    try:
        conversation.play(example)
    finally:
        conversation.close()


@pytest.fixture
def described(daemon):
    """The OpenRPC document of the daemon."""
    with Client(daemon.socket) as client:
        return client._perform(Call("rpc.discover", lambda document: document), None)


def test_the_methods_are_those_of_the_daemon(described):
    methods = {method["name"] for method in described["methods"]}
    calls = {call["name"] for call in described["x-daemonCalls"]}
    named = set(re.findall(r"`((?:session|token|api|handler|daemon|access|rpc)\.\w+)`", PAGE))
    assert named <= methods | calls
    # The page says for each method whether it may be repeated.
    told = PAGE.partition("## After a lost connection")[2].partition("## Errors")[0]
    assert methods - {"session.unsubscribe", "handler.unregister"} <= set(re.findall(r"`(\w+\.\w+)`", told))


def test_the_library_repeats_the_methods_of_the_page():
    told = PAGE.partition("written, no answer: `session.status`")[2].partition("\n")[0]
    repeatable = set(re.findall(r"`(\w+\.\w+)`", told)) | {"session.status"}
    ours = [
        _calls.status(), _calls.subscribe(), _calls.sign_in(credentials.Device()), _calls.sign_out(),
        _calls.reconcile(None), _calls.renew(), _calls.authorization_page("", "", ""), _calls.token(0),
        _calls.api("GET", "/", None, None, None), _calls.info(), _calls.whoami(), _calls.reload(), _calls.metrics(), _calls.diagnose(),
    ]
    assert {call.method for call in ours if call.is_repeatable} == repeatable - {"rpc.discover"}
    assert _calls.identify("anna").is_repeatable and not _calls.identify(None).is_repeatable


def test_the_errors_are_those_of_the_daemon(described):
    errors = {error["code"]: error.get("data", {}).get("kind") for error in described["components"]["errors"].values()}
    rows = {int(code): kind for code, kind in re.findall(r"^\| (\d{4}) \| `(\w+)` \|", PAGE, re.MULTILINE)}
    assert rows == {code: kind for code, kind in errors.items() if kind}
    standard = "".join(re.findall(r"^\| (−.*?) \|", PAGE, re.MULTILINE))
    assert {code for code in errors if code < 0} == {-int(code) for code in re.findall(r"−(\d+)", standard)}
    assert _BY_CODE.keys() == errors.keys()
    assert all(_BY_CODE[code] == kind for code, kind in rows.items())


def test_the_limits_are_those_of_the_daemon(daemon):
    """The limits that can be tested quickly."""
    longest = int(re.search(r"1 MiB \(([\d,]+) bytes", PAGE)[1].replace(",", ""))
    conversation = Conversation(daemon.socket, {})
    try:
        start, end = '{"jsonrpc":"2.0","id":1,"method":"session.status","x":"', '"}'
        conversation.say(start + "x" * (longest - len(start) - len(end)) + end)
        conversation.hear(['{"jsonrpc":"2.0","id":1,"result":"…"}'])
        deep = '{"jsonrpc":"2.0","id":2,"method":"session.status","x":' + "[" * 127 + "]" * 127 + "}"
        conversation.say(deep)
        conversation.hear(['{"jsonrpc":"2.0","id":2,"result":"…"}'])
        conversation.say(deep.replace("[]", "[[]]"))
        conversation.hear(['{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"…"}}'])
        conversation.say("x" * (longest + 1))
        conversation.hear(['{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"…"}}'])
        assert conversation.lines.readline() == ""
    finally:
        conversation.close()
