"""Both clients pass every transcript of clients/conformance."""

import pytest

from conformance_runner import FLAVOURS, TRANSCRIPTS, play


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(transcript, flavour):
    assert not play(transcript, flavour)


def test_there_are_transcripts():
    assert len(TRANSCRIPTS) >= 70
