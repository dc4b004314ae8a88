"""The rules for repeated calls and connections."""

from __future__ import annotations

import math
import random
import time
from typing import Any, Optional

from ._calls import Call
from ._errors import Busy, ConnectionLost, DaemonUnreachable, InvalidParams, JunctionError, LocalFailure, Misconfigured

#: The delay in seconds before the second retry. The first retry has no delay.
FIRST = 0.05
#: The longest delay: a restart of the daemon takes a second or two, but it may also be stopped for a week.
LONGEST = 5.0
#: The delay when the daemon's backlog is full. The kernel does not report when it has space again.
NO_ROOM = 0.02


class Backoff:
    """The delay before the next attempt to reach the daemon: none at first, then doubled each time."""

    def __init__(self) -> None:
        self._failures = 0

    def succeeded(self) -> None:
        """Resets the delay after a stable connection."""
        self._failures = 0

    def next_delay(self) -> float:
        """Returns the delay before the next attempt, and counts the attempt as failed until `succeeded` is called."""
        self._failures += 1
        if self._failures == 1:
            return 0.0
        whole = min(LONGEST, FIRST * 2.0 ** min(self._failures - 2, 16))
        # A random part, so that the apps of one device do not all reconnect at the same moment.
        return whole * random.uniform(0.5, 1)


class Repetition:
    """Decides whether a call is repeated.

    After a lost connection a call is repeated only if this is safe: the daemon did not receive the whole request, or
    a repetition has the same effect and the daemon has asked no question. After an error with `retry_after` it is
    repeated within the caller's patience.
    """

    #: The limit covers about one second, in which the daemon restarts.
    MOST = 6

    def __init__(self, call: Call[Any], patience: float = 0.0) -> None:
        self._is_repeatable = call.is_repeatable
        self._backoff = Backoff()
        self._is_under_way = False
        self._left = self.MOST
        if math.isnan(patience):
            raise InvalidParams("patience is a number of seconds, and not nan")
        self._patient_until = time.monotonic() + patience

    def daemon_asked(self) -> None:
        """Ends repetition: the daemon has asked a question and may act on the answer."""
        self._left = 0

    def pause(self, error: JunctionError) -> Optional[float]:
        """Returns the delay before the repetition, or `None` if the caller receives the error."""
        if error.retry_after is not None:
            # No wait for an attempt that would come after the patience has ended.
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
    """Decides when a loop reconnects. The loop also waits for a daemon that is not there yet."""

    #: How many seconds a connection must last for the next one to come at once. Otherwise a daemon that crashes after
    #: each answer would be contacted without a delay.
    STEADINESS = LONGEST

    def __init__(self) -> None:
        self._backoff = Backoff()
        self._was_connected = False
        self._steady_from: Optional[float] = None

    def began(self) -> bool:
        """Notes that the daemon has answered on this connection. Returns whether this is its first answer."""
        self._was_connected = True
        is_news = self._steady_from is None
        if is_news:
            self._steady_from = time.monotonic() + self.STEADINESS
        return is_news

    def pause(self, error: JunctionError) -> float:
        """Returns the delay before the next connection. Raises the error if a new connection would not fix it."""
        if self._steady_from is not None and time.monotonic() >= self._steady_from:
            self._backoff.succeeded()
        self._steady_from = None
        # A lack of resources is permanent before the first success, and temporary after it.
        is_lack = isinstance(error, LocalFailure) and self._was_connected
        if not is_lack and not isinstance(error, (DaemonUnreachable, ConnectionLost, Busy, Misconfigured)):
            raise error
        return max(self._backoff.next_delay(), error.retry_after or 0.0)
