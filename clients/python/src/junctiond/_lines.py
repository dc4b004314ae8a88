"""Splits a stream of bytes that arrives in pieces into lines."""

from __future__ import annotations

from collections.abc import Iterator

from ._errors import UnreadableAnswer

#: The longest line that the daemon accepts.
LONGEST_REQUEST = 1 << 20
#: The longest line that the daemon sends: an answer of 8 MiB in which every byte is escaped.
LONGEST_ANSWER = 6 * (8 << 20) + (1 << 20)


class LineSplitter:
    """Splits at `\\n` or `\\r\\n`, and skips blank lines."""

    def __init__(self, longest: int = LONGEST_ANSWER) -> None:
        self._longest = longest
        self._buffer = bytearray()
        # The number of bytes that contain no line feed.
        self._searched = 0

    def feed(self, data: bytes) -> None:
        """Appends received bytes."""
        self._buffer += data

    def lines(self) -> Iterator[bytes]:
        """Yields the complete lines."""
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if (len(self._buffer) if end < 0 else end) > self._longest:
                raise UnreadableAnswer(f"the daemon's answer cannot be read: it is longer than {self._longest} bytes")
            if end < 0:
                self._searched = len(self._buffer)
                return
            line = bytes(self._buffer[:end]).strip(b" \t\r")
            del self._buffer[: end + 1]
            self._searched = 0
            if line:
                yield line
