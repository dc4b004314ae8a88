"""What a call waits for, and how long."""

from __future__ import annotations

import math
import os
import select
import time
from typing import Optional

from ._channel import Channel
from ._errors import Cancelled, LocalFailure, TimedOut

#: How many seconds a call may take where nobody says anything else: enough for a handler that thinks for a minute.
TIMEOUT = 90.0


class Deadline:
    """Until when to wait, on the clock that is never set."""

    def __init__(self, seconds: Optional[float]) -> None:
        self._at = math.inf if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> Optional[float]:
        """How many seconds there are left; nothing for ever."""
        return None if self._at == math.inf else max(0.0, self._at - time.monotonic())

    @property
    def has_passed(self) -> bool:
        return self._at <= time.monotonic()

    def pause(self, seconds: float) -> float:
        """How long to sleep for such a pause, which may not go beyond the deadline."""
        if self.has_passed:
            raise self.error
        return min(seconds, max(0.0, self._at - time.monotonic()))

    @property
    def error(self) -> TimedOut:
        return TimedOut("the daemon did not answer in time")


class Bell:
    """Wakes a thread that waits in `wait`, from any other thread."""

    def __init__(self) -> None:
        self._process = os.getpid()
        try:
            self._reader, self._writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise LocalFailure(f"this program cannot have a pipe: {error.strerror}") from None

    def __del__(self) -> None:
        if hasattr(self, "_writer"):
            os.close(self._reader)
            os.close(self._writer)

    def fileno(self) -> int:
        return self._reader

    @property
    def is_inherited(self) -> bool:
        """Whether it is the bell of a parent process, which must not be woken by it."""
        return self._process != os.getpid()

    def ring(self) -> None:
        if self.is_inherited:
            return
        try:
            os.write(self._writer, b"!")
        except BlockingIOError:
            # Full: it has been rung already.
            pass

    def silence(self) -> None:
        try:
            os.read(self._reader, 4096)
        except BlockingIOError:
            pass


def wait(channel: Optional[Channel], bell: Bell, deadline: Deadline) -> None:
    """Waits until there is something to do with the channel, or the bell is rung."""
    poll = select.poll()
    poll.register(bell, select.POLLIN)
    if channel is not None:
        poll.register(channel, select.POLLIN | (select.POLLOUT if channel.wants_to_write else 0))
    left = deadline.left
    # Rounded up, so that a wait does not end in a hurry of short ones.
    poll.poll(None if left is None else min(left * 1000 + 1, 1 << 30))


def closed_error() -> Cancelled:
    """What whoever waits hears when somebody closes what they wait for."""
    return Cancelled("it was closed, so nobody waits for the answer any more")
