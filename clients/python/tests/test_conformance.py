"""Both clients pass every transcript of clients/conformance, and the scripted daemon rejects a wrong client."""

import json
import re
import socket

import pytest

from conformance_runner import FLAVOURS, SUITE, TRANSCRIPTS, Daemon, play

README = (SUITE / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(transcript, flavour):
    assert not play(transcript, flavour)


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_transcript_has_a_description_and_uses_only_described_steps(transcript):
    story = json.loads(transcript.read_text(encoding="utf-8"))
    assert story["name"] == transcript.stem and story["about"].endswith(".")
    steps = [*story["do"], *(step for connection in story["connections"] for step in connection)]
    described = set(re.findall(r'"(\w+)"', README)) | {"true"}
    assert {key for step in steps for key in step} <= described


def test_there_are_transcripts():
    assert len(TRANSCRIPTS) >= 70


# Wrong clients.

STATUS = b'{"jsonrpc":"2.0","id":1,"method":"session.status"}\n'


@pytest.mark.parametrize("sent, word", [
    (b'{"jsonrpc":"2.0","id":1,"method":"session.signOut"}\n', "the client asked"),
    (b'{"jsonrpc":"2.0","id":1,"method":"session.status","params":{"x":1}}\n', "the client asked"),
    (b'{"jsonrpc":"2.0","method":"session.status"}\n', "the client sent no request"),
    (b'{"jsonrpc":"2.0","id":1,"method":"session.st', "hung up within a line"),
    (b"{}\n", "no JSON-RPC 2.0 message"),
    (b"nonsense\n", "not JSON"),
    (b"\xc3\x28\n", "not JSON in UTF-8"),
    (b"", "the client hung up"),
    (STATUS + STATUS, "said more than it had to"),
])
def test_a_wrong_request_is_reported(folder, sent, word):
    assert word in verdict(folder, [sent])


def test_a_client_that_connects_too_often_is_reported(folder):
    assert "connected once more than it had to" in verdict(folder, [STATUS, STATUS])


def test_a_client_may_unsubscribe_before_it_disconnects(folder):
    assert not verdict(folder, [STATUS + b'{"jsonrpc":"2.0","id":2,"method":"session.unsubscribe"}\n'])


def verdict(folder, clients):
    """Returns the report of the scripted daemon for these bytes, each on its own connection."""
    story = {
        "name": "story",
        "do": [],
        "connections": [[
            {"expect": {"method": "session.status", "params": {}}},
            {"send": {"jsonrpc": "2.0", "id": "$id", "result": {}}},
        ]],
    }
    transcript = f"{folder}/story.json"
    with open(transcript, "w", encoding="utf-8") as file:
        json.dump(story, file)
    daemon = Daemon(transcript, folder)
    ends = [socket.socket(socket.AF_UNIX) for _ in clients]
    for end in ends:
        end.connect(daemon.path)
    for end, data in zip(ends, clients):
        end.sendall(data)
        end.shutdown(socket.SHUT_WR)
    wrong = daemon.finish()
    for end in ends:
        end.close()
    return wrong
