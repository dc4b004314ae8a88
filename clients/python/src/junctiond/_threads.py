"""The threaded side: how threads wait for the daemon."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Callable, Generic, Optional, TypeVar

from ._again import NO_ROOM, Reconnection
from ._calls import Call, T
from ._channel import Channel
from ._errors import Busy, Cancelled, ConnectionLost, JunctionError, TimedOut
from ._feeds import Feed
from ._switchboard import Switchboard, Waiter
from ._waiting import Bell, Deadline, Wake, closed_error, doze, wait
from .credentials import Credential

FeedType = TypeVar("FeedType", bound=Feed)
U = TypeVar("U")


class SharedConnection:
    """One connection that any number of threads share. One of the waiting threads receives for all."""

    def __init__(self, channel: Channel) -> None:
        self._bell = Bell()
        self._board = Switchboard(channel)
        # Taken with `with` only. A condition has methods in Python, which an exception of a signal handler can end while they
        # hold its lock.
        self._lock = threading.Lock()
        # The call whose thread receives for all.
        self._reader: Optional[Waiter] = None

    @property
    def is_usable(self) -> bool:
        return self._board.is_usable

    def close(self) -> None:
        self._use(lambda: self._board.end(closed_error()))

    def retire(self) -> None:
        """Ends with the last call, because another connection replaces this one."""
        self._use(self._board.retire)

    def perform(
        self,
        call: Call[T],
        deadline: Deadline,
        user: Optional[str] = None,
        credential: Optional[Callable[[str], Credential]] = None,
        asked: Callable[[], None] = lambda: None,
    ) -> T:
        wake: Wake = SimpleQueue()
        waiter = Waiter(user, lambda: wake.put(None))
        try:
            self._use(lambda: self._begin(waiter, call))
            while self._has_question(waiter, wake, deadline):
                asked()
                answer = None if credential is None or user is None else credential(user).wire()
                if deadline.has_passed:
                    raise deadline.error
                self._use(lambda: self._board.answer(waiter, answer))
            return waiter.result(call)
        finally:
            try:
                self._forget(waiter)
            finally:
                # Again, because an exception of a signal handler may have ended the first one.
                self._forget(waiter)

    def _has_question(self, waiter: Waiter, wake: Wake, deadline: Deadline) -> bool:
        """Waits for a question or the answer. Returns whether there is a question."""
        while not self._use(lambda: self._is_answered(waiter)):
            if deadline.has_passed:
                raise deadline.error
            if self._reader is waiter:
                wait(self._board.channel, self._bell, deadline)
                self._use(self._receive)
            else:
                doze(wake, deadline.left)
        return not waiter.is_done

    def _forget(self, waiter: Waiter) -> None:
        def forget() -> None:
            self._board.forget(waiter)
            self._end_turn(waiter)

        if not self._board.channel.is_inherited:
            self._use(forget)

    def _use(self, action: Callable[[], U]) -> U:
        """Performs the action with the lock held."""
        if self._board.channel.is_inherited:
            # The callback of `identify` has forked. In the child, no thread may ever release the lock.
            raise ConnectionLost("the connection belongs to the parent process")
        with self._lock:
            try:
                return action()
            except JunctionError:
                raise
            except BaseException:
                # After an interrupt part of a message may be lost, so the connection is unusable.
                self._board.end(ConnectionLost("the program was interrupted while it used the connection"))
                raise
            finally:
                if self._board.has_ended:
                    self._hang_up()

    def _hang_up(self) -> None:
        if self._reader is None:
            self._board.channel.close()
        else:
            # The thread that reads still needs the descriptor. It hangs up afterwards.
            self._bell.ring()

    # With the lock held.

    def _begin(self, waiter: Waiter, call: Call[T]) -> None:
        self._board.begin(waiter, call)
        if self._reader is not None and self._board.channel.wants_to_write:
            self._bell.ring()

    def _is_answered(self, waiter: Waiter) -> bool:
        """Whether there is an answer or a question. If not, and no thread receives, the thread of this call does."""
        is_answered = waiter.is_done or waiter.question is not None
        if is_answered:
            self._end_turn(waiter)
        elif self._reader is None:
            self._reader = waiter
        return is_answered

    def _receive(self) -> None:
        self._bell.silence()
        if not self._board.has_ended:
            self._board.flush()
            self._board.receive()

    def _end_turn(self, waiter: Waiter) -> None:
        """Lets another thread receive."""
        if self._reader is waiter:
            self._reader = None
            self._board.wake()


class Loop(Generic[FeedType]):
    """The connection of one loop, which is reopened after each loss."""

    def __init__(
        self, path: str, begin: Callable[[Channel], FeedType], began: Callable[[], None] = lambda: None
    ) -> None:
        """`began` is called for the daemon's first answer on each connection."""
        self._began = began
        self._path = path
        self._begin = begin
        self._feed: Optional[FeedType] = None
        self._reconnection = Reconnection()
        self._bell = Bell()
        # Taken for a moment, and with `with` only: an exception of a signal handler cannot leave it locked.
        self._lock = threading.Lock()
        # The use that holds the loop.
        self._holder: Optional[object] = None
        self.is_closed = False

    def close(self) -> None:
        """Closes the loop from any thread. A thread that waits receives `Cancelled`."""
        self.is_closed = True
        self._bell.ring()
        # A thread that holds the loop still needs the connection, and closes it afterwards.
        if self._holder is None:
            self.hang_up()

    def hold(self, action: Callable[[], T]) -> T:
        """Performs the action, and keeps the connection until its end, even if the loop is closed meanwhile."""
        if self._bell.is_inherited:
            # In a child, a thread of the parent may still hold the loop or its lock.
            self._lock = threading.Lock()
            self._holder = None
        me = object()
        try:
            with self._lock:
                if self._holder is not None:
                    raise Busy("another thread waits on this watch or handler: give each thread its own")
                self._holder = me
            return action()
        finally:
            # The assignment comes before any call, at which an exception of a signal handler could prevent it.
            if self._holder is me:
                self._holder = None
                if self.is_closed:
                    self.hang_up()

    def next(self, take: Callable[[FeedType], Optional[T]], deadline: Deadline) -> T:
        """Waits until `take` returns something. The caller holds the loop."""
        while True:
            try:
                return self._taken(take, deadline)
            except (Cancelled, TimedOut):
                # The connection is still usable.
                raise
            except JunctionError as error:
                self.hang_up()
                pause = self._reconnection.pause(error)
            self._sleep(pause, deadline)

    def _taken(self, take: Callable[[FeedType], Optional[T]], deadline: Deadline) -> T:
        if self.is_closed:
            raise closed_error()
        if self._bell.is_inherited:
            self._bell = Bell()
            self.hang_up()
        if self._feed is None:
            self._feed = self._begin(self._connected(deadline))
        has_looked = False
        while (taken := take(self._feed)) is None:
            if has_looked and deadline.has_passed:
                raise deadline.error
            self._wait(self._feed.channel, deadline)
            self._feed.flush()
            try:
                self._feed.receive()
            except JunctionError:
                raise
            except BaseException:
                # After an interrupt part of a message may be lost, so the connection is unusable.
                self.hang_up()
                raise
            if self._feed.has_begun and self._reconnection.began():
                self._began()
            has_looked = True
        return taken

    def _connected(self, deadline: Deadline) -> Channel:
        while (channel := Channel.connect(self._path)) is None:
            self._sleep(NO_ROOM, deadline)
        return channel

    def hang_up(self) -> None:
        """Closes the connection. The next wait opens another one."""
        feed, self._feed = self._feed, None
        if feed is not None:
            feed.channel.close()

    def _sleep(self, seconds: float, deadline: Deadline) -> None:
        pause = Deadline(deadline.pause(seconds))
        while not pause.has_passed:
            self._wait(None, pause)

    def _wait(self, channel: Optional[Channel], deadline: Deadline) -> None:
        wait(channel, self._bell, deadline)
        if self.is_closed:
            raise closed_error()
