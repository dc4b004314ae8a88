"""Deadlines, and the wait for a channel."""

from __future__ import annotations

import math
import os
import select
import threading
import time
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Optional

from ._channel import Channel
from ._errors import Cancelled, InvalidParams, LocalFailure, TimedOut

if TYPE_CHECKING:
    Wake = SimpleQueue[None]
else:
    Wake = SimpleQueue

#: The default timeout of a call in seconds. It leaves a session handler its minute.
TIMEOUT = 90.0


class Deadline:
    """A deadline on the monotonic clock."""

    def __init__(self, seconds: Optional[float]) -> None:
        if seconds is not None and math.isnan(seconds):
            raise InvalidParams("a timeout is a number of seconds, and not nan")
        self._at = math.inf if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> Optional[float]:
        """Returns the remaining seconds; `None` means no limit."""
        return None if self._at == math.inf else max(0.0, self._at - time.monotonic())

    @property
    def has_passed(self) -> bool:
        return self._at <= time.monotonic()

    def pause(self, seconds: float) -> float:
        """Returns the length of a pause, limited by the deadline. Raises an error after the deadline."""
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
        """Whether the pipe belongs to the parent process. A child must not wake its parent."""
        return self._process != os.getpid()

    def ring(self) -> None:
        if self.is_inherited:
            return
        try:
            os.write(self._writer, b"!")
        except BlockingIOError:
            # Full: the bell is ringing already.
            pass

    def silence(self) -> None:
        try:
            os.read(self._reader, 4096)
        except BlockingIOError:
            pass


def wait(channel: Optional[Channel], bell: Bell, deadline: Deadline) -> None:
    """Waits until the channel is ready or the bell rings."""
    poll = select.poll()
    poll.register(bell, select.POLLIN)
    if channel is not None:
        poll.register(channel, select.POLLIN | (select.POLLOUT if channel.wants_to_write else 0))
    left = deadline.left
    # Rounded up, so that the last millisecond does not become a busy loop.
    poll.poll(None if left is None else min(left * 1000 + 1, 1 << 30))


def doze(wake: Wake, seconds: Optional[float]) -> None:
    """Waits until something is put into the queue, or for so many seconds.

    The queue is a C object. An `Event` has a lock that its methods in Python take: an exception of a signal handler can leave
    that lock locked.
    """
    try:
        wake.get(timeout=None if seconds is None else min(seconds, threading.TIMEOUT_MAX))
    except Empty:
        pass


def closed_error() -> Cancelled:
    """Returns the error of a call whose client, watch or handler was closed."""
    return Cancelled("it was closed, so nobody waits for the answer any more")
