"""The asyncio side: how tasks wait for the daemon."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Awaitable
from functools import partial
from typing import Callable, Generic, Optional, TypeVar

from ._again import NO_ROOM, Reconnection
from ._calls import Call, T
from ._channel import Channel
from ._errors import Busy, Cancelled, JunctionError, TimedOut
from ._feeds import Feed
from ._switchboard import Switchboard, Waiter
from ._waiting import Deadline, closed_error
from .credentials import Credential

FeedType = TypeVar("FeedType", bound=Feed)


class TaskConnection:
    """One connection that any number of tasks of one event loop share."""

    def __init__(self, channel: Channel, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._descriptor = channel.fileno()
        self._is_writing = False
        self._is_hooked = True
        # A weak reference: neither the event loop nor the board must keep an unused connection alive.
        self._reference: weakref.ReferenceType[TaskConnection] = weakref.ref(self)
        self._board = Switchboard(channel, partial(_ended, self._reference))
        loop.add_reader(self._descriptor, _readable, self._reference)

    def __del__(self) -> None:
        # After the connection has ended, another file may use the descriptor.
        if self._is_hooked and not self.loop.is_closed():
            self.unhook()

    @property
    def is_usable(self) -> bool:
        return self._board.is_usable

    def close(self) -> None:
        self._board.end(closed_error())

    def retire(self) -> None:
        """Ends with the last call, because another connection replaces this one."""
        if not self.loop.is_closed():
            self._board.retire()

    async def perform(
        self,
        call: Call[T],
        deadline: Deadline,
        user: Optional[str] = None,
        credential: Optional[Callable[[str], Awaitable[Credential]]] = None,
        asked: Callable[[], None] = lambda: None,
    ) -> T:
        changed = asyncio.Event()
        waiter = Waiter(user, changed.set)
        self._board.begin(waiter, call)
        left = deadline.left
        alarm = None if left is None else self.loop.call_later(left, self._expire, waiter, deadline.error)
        self._hook_writer()
        try:
            while True:
                while not waiter.is_done and waiter.question is None:
                    changed.clear()
                    await changed.wait()
                if waiter.is_done:
                    return waiter.result(call)
                asked()
                answer = None if credential is None or user is None else (await credential(user)).wire()
                if deadline.has_passed:
                    raise deadline.error
                self._board.answer(waiter, answer)
                self._hook_writer()
        finally:
            if alarm is not None:
                alarm.cancel()
            self._board.forget(waiter)
            self._hook_writer()

    def _expire(self, waiter: Waiter, error: JunctionError) -> None:
        self._board.expire(waiter, error)
        self._hook_writer()

    def receive(self) -> None:
        """Handles readability."""
        self._board.receive()
        self._hook_writer()

    def _hook_writer(self) -> None:
        """Watches for writability while there is something to send."""
        wants = self._board.is_usable and self._board.channel.wants_to_write
        if wants and not self._is_writing:
            self.loop.add_writer(self._descriptor, _writable, self._reference)
        elif self._is_writing and not wants and self._board.is_usable:
            self.loop.remove_writer(self._descriptor)
        self._is_writing = wants

    def flush(self) -> None:
        """Handles writability."""
        self._board.flush()
        self._hook_writer()

    def hang_up(self) -> None:
        """Closes the channel."""
        self.unhook()
        self._board.channel.close()

    def unhook(self) -> None:
        """Removes the descriptor from the event loop."""
        self._is_hooked = False
        if self._board.channel.is_inherited:
            # The parent's event loop would lose it, too: a child has the epoll descriptor of its parent.
            return
        self.loop.remove_reader(self._descriptor)
        self.loop.remove_writer(self._descriptor)


def _readable(reference: weakref.ReferenceType[TaskConnection]) -> None:
    connection = reference()
    if connection is not None:
        connection.receive()


def _writable(reference: weakref.ReferenceType[TaskConnection]) -> None:
    connection = reference()
    if connection is not None:
        connection.flush()


def _ended(reference: weakref.ReferenceType[TaskConnection]) -> None:
    connection = reference()
    if connection is not None:
        connection.hang_up()


class TaskLoop(Generic[FeedType]):
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
        self._waiting: Optional[asyncio.Future[None]] = None
        self._is_ended = False
        self._is_closed = False

    def end(self) -> None:
        """Fails the current and later waits with `Cancelled`. An answer to an earlier question can still be sent."""
        self._is_ended = True
        if self._waiting is not None:
            _fail(self._waiting, closed_error())

    def wake(self) -> None:
        """Makes the current wait look again, because there may be more to send."""
        if self._waiting is not None:
            _wake(self._waiting)

    def close(self) -> None:
        """Closes the connection."""
        self.end()
        self._is_closed = True
        # A task that waits still needs the descriptor, and closes it afterwards.
        if self._waiting is None:
            self._hang_up()

    async def next(
        self, take: Callable[[FeedType], Optional[T]], deadline: Deadline, lost: Callable[[], None] = lambda: None
    ) -> T:
        """Waits until `take` returns something. `lost` is called for each lost connection."""
        if self._waiting is not None and self._waiting.get_loop() is asyncio.get_running_loop():
            raise Busy("another task waits on this watch or handler: give each task its own")
        while True:
            try:
                return await self._taken(take, deadline)
            except (Cancelled, TimedOut):
                # The connection is still usable.
                raise
            except JunctionError as error:
                self._hang_up()
                lost()
                pause = self._reconnection.pause(error)
            await self._wait(None, deadline, deadline.pause(pause))

    async def _taken(self, take: Callable[[FeedType], Optional[T]], deadline: Deadline) -> T:
        if self._is_ended:
            raise closed_error()
        if self._feed is not None and self._feed.channel.is_inherited:
            self._hang_up()
        if self._feed is None:
            self._feed = self._begin(await self._connected(deadline))
        while (taken := take(self._feed)) is None:
            await self._wait(self._feed.channel, deadline)
            self._feed.flush()
            self._feed.receive()
            if self._feed.has_begun and self._reconnection.began():
                self._began()
        return taken

    async def _connected(self, deadline: Deadline) -> Channel:
        while (channel := Channel.connect(self._path)) is None:
            await self._wait(None, deadline, deadline.pause(NO_ROOM))
        return channel

    def _hang_up(self) -> None:
        if self._feed is not None:
            self._feed.channel.close()
            self._feed = None

    async def _wait(self, channel: Optional[Channel], deadline: Deadline, pause: Optional[float] = None) -> None:
        """Waits until the channel is ready or the pause has ended."""
        loop = asyncio.get_running_loop()
        self._waiting = future = loop.create_future()
        left = deadline.left
        alarm = None
        if pause is not None:
            alarm = loop.call_later(pause, _wake, future)
        elif left is not None:
            alarm = loop.call_later(left, _fail, future, deadline.error)
        descriptor = -1 if channel is None else channel.fileno()
        if self._is_ended:
            _fail(future, closed_error())
        if channel is not None:
            loop.add_reader(descriptor, _wake, future)
            if channel.wants_to_write:
                loop.add_writer(descriptor, _wake, future)
        try:
            await future
        finally:
            if self._waiting is future:
                self._waiting = None
            if alarm is not None:
                alarm.cancel()
            # The parent's event loop would lose the descriptor, too: a child has the epoll descriptor of its parent.
            if channel is not None and not channel.is_inherited:
                loop.remove_reader(descriptor)
                loop.remove_writer(descriptor)
            if self._is_closed:
                self._hang_up()


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _fail(future: asyncio.Future[None], error: JunctionError) -> None:
    if not future.done():
        future.set_exception(error)
