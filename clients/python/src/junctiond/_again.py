"""When something is tried again, and when not."""

from __future__ import annotations

import random
import time
from typing import Any, Optional

from ._calls import Call
from ._errors import Busy, ConnectionLost, DaemonUnreachable, JunctionError, LocalFailure, Misconfigured

#: The wait before the second attempt; the first comes at once.
FIRST = 0.05
#: The daemon restarts within a second or two, but it may also be stopped for a week.
LONGEST = 5.0
#: How long to wait when there is no space for one more connection, which the kernel cannot tell.
NO_ROOM = 0.02


class Backoff:
    """How long to wait before the daemon is tried again: soon at first, then less and less often."""

    def __init__(self) -> None:
        self._failures = 0

    def succeeded(self) -> None:
        """The daemon was there and stayed; what comes next is a new story."""
        self._failures = 0

    def next_delay(self) -> float:
        """The wait before the next attempt, which is assumed to fail until `succeeded` says otherwise."""
        self._failures += 1
        if self._failures == 1:
            return 0.0
        whole = min(LONGEST, FIRST * 2.0 ** min(self._failures - 2, 16))
        # The apps of one device do not come back in the same instant.
        return whole * random.uniform(0.5, 1)


class Repetition:
    """Whether a call is made once more.

    After a lost connection, only where that cannot do a thing twice, nor after something else that was done
    meanwhile: the daemon did not take the request, or asking twice is the same as once and the daemon has asked
    nothing back.
    After an error with `retry_after`, only within the caller's patience.
    """

    #: Enough for a second in which the daemon ends and begins.
    MOST = 6

    def __init__(self, call: Call[Any], patience: float = 0.0) -> None:
        self._is_repeatable = call.is_repeatable
        self._backoff = Backoff()
        self._is_under_way = False
        self._left = self.MOST
        self._patient_until = time.monotonic() + patience

    def daemon_asked(self) -> None:
        """The daemon asks something back, and may act on the answer: from here on nothing is repeated."""
        self._left = 0

    def pause(self, error: JunctionError) -> Optional[float]:
        """How long to wait before the call is made again; nothing when the error stands."""
        if error.retry_after is not None:
            # An attempt that would come after the caller's patience is over is not waited for.
            wait = max(error.retry_after, FIRST)
            return wait if time.monotonic() + wait <= self._patient_until else None
        if self._left == 0 or not self._is_harmless(error):
            return None
        self._left -= 1
        self._is_under_way = True
        return self._backoff.next_delay()

    def _is_harmless(self, error: JunctionError) -> bool:
        if isinstance(error, ConnectionLost):
            return error.was_not_taken or self._is_repeatable
        return isinstance(error, DaemonUnreachable) and self._is_under_way


class Reconnection:
    """When a loop that lost its connection makes it again. A daemon that is not there yet is waited for."""

    #: How long a connection has to last for the next one to come at once. A daemon that dies as soon as it has answered
    #: is not come back to any faster for having answered.
    STEADINESS = LONGEST

    def __init__(self) -> None:
        self._backoff = Backoff()
        self._was_connected = False
        self._steady_from: Optional[float] = None

    def began(self) -> bool:
        """The daemon has answered on this connection; says whether that is news."""
        self._was_connected = True
        is_news = self._steady_from is None
        if is_news:
            self._steady_from = time.monotonic() + self.STEADINESS
        return is_news

    def pause(self, error: JunctionError) -> float:
        """How long to wait before the next connection; raises the error when a new connection would not change it."""
        if self._steady_from is not None and time.monotonic() >= self._steady_from:
            self._backoff.succeeded()
        self._steady_from = None
        # What this program lacks at first it may never get. What it had once it lacks for a moment.
        is_lack = isinstance(error, LocalFailure) and self._was_connected
        if not is_lack and not isinstance(error, (DaemonUnreachable, ConnectionLost, Busy, Misconfigured)):
            raise error
        return max(self._backoff.next_delay(), error.retry_after or 0.0)
