"""The protocol of a loop with its own connection, independent of the way of waiting."""

from __future__ import annotations

from collections import deque
from typing import Optional

from . import _calls
from ._calls import Call, T
from ._channel import Channel, not_taken
from ._errors import JunctionError
from ._members import Mismatch
from ._messages import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Answer,
    Complaint,
    Message,
    Notification,
    Question,
    RequestId,
)
from ._values import Snapshot
from .renewal import RenewalAnswer, RenewalRequest


class Feed:
    """One connection that starts with a call and then receives notifications or questions."""

    def __init__(self, channel: Channel, call: Call[T]) -> None:
        self.channel = channel
        self._first = channel.ask(call)
        #: Whether the daemon has answered the first call.
        self.has_begun = False
        self._failure: Optional[JunctionError] = None
        self.flush()

    def flush(self) -> None:
        """Sends as much as the socket accepts."""
        if self.channel.flush():
            raise not_taken()

    def receive(self) -> None:
        """Handles the received messages. An error is raised only after the messages before it are taken."""
        if self._failure is not None:
            raise self._failure
        try:
            for message in self.channel.receive():
                self._take(message)
            self.flush()
        except JunctionError as error:
            if not self._has_something:
                raise
            self._failure = error

    def _take(self, message: Message) -> None:
        if isinstance(message, Complaint):
            raise message.error
        if isinstance(message, Answer):
            if message.id == self._first:
                if isinstance(message.outcome, JunctionError):
                    raise message.outcome
                self.has_begun = True
                self._begin(message.outcome)
        elif isinstance(message, Notification):
            self._hear(message)
        else:
            self._answer(message)

    @property
    def _has_something(self) -> bool:
        return False

    def _begin(self, result: object) -> None:
        pass

    def _hear(self, notification: Notification) -> None:
        pass

    def _answer(self, question: Question) -> None:
        self.channel.refuse(question.id, METHOD_NOT_FOUND, f"Method not found: {question.method}")


class SnapshotFeed(Feed):
    """A subscription to the session state. It keeps only the newest snapshot."""

    def __init__(self, channel: Channel, call: Optional[Call[Snapshot]] = None) -> None:
        self._newest: Optional[Snapshot] = None
        super().__init__(channel, call or _calls.subscribe())

    def take(self) -> Optional[Snapshot]:
        """Returns the newest snapshot, once."""
        newest, self._newest = self._newest, None
        return newest

    @property
    def _has_something(self) -> bool:
        return self._newest is not None

    def _begin(self, result: object) -> None:
        self._newest = _calls.subscribe().read(result)

    def _hear(self, notification: Notification) -> None:
        if notification.method == "session.changed":
            self._newest = _calls.changed_snapshot(notification.params)


class StateFeed(SnapshotFeed):
    """A subscription with a snapshot only for each change of the state."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel, _calls.subscribe(only_states=True))


class Changes:
    """Selects the snapshots that a loop delivers, across all its connections."""

    def __init__(self, only_states: bool) -> None:
        self.feed: type[SnapshotFeed] = StateFeed if only_states else SnapshotFeed
        self._only_states = only_states
        self._last: Optional[str] = None

    def take(self, feed: SnapshotFeed) -> Optional[Snapshot]:
        """Returns the newest snapshot, once. After a restart the daemon sends its current state, which may be the same as
        before."""
        snapshot = feed.take()
        if snapshot is None or (self._only_states and snapshot.state == self._last):
            return None
        self._last = snapshot.state
        return snapshot


class RenewalQuestion:
    """A renewal for which the daemon asks the session handler."""

    def __init__(self, request: RenewalRequest, id: RequestId, feed: RenewalFeed) -> None:
        self.request = request
        #: The daemon no longer waits for the answer.
        self.is_over = False
        self._id = id
        self._feed = feed

    def answer(self, answer: RenewalAnswer) -> None:
        """Sends the answer, unless the connection is closed or belongs to the parent process.

        Raises an error, and sends nothing, if the answer cannot be sent.
        """
        if self._feed.channel.is_usable:
            self._feed.channel.answer(self._id, answer.wire())
            self._feed.channel.flush()


class RenewalFeed(Feed):
    """The questions to a registered session handler."""

    def __init__(self, channel: Channel) -> None:
        self._questions: deque[RenewalQuestion] = deque()
        super().__init__(channel, _calls.register_handler())

    def take(self) -> Optional[RenewalQuestion]:
        """Returns the next question. The previous one is over by then."""
        return self._questions.popleft() if self._questions else None

    @property
    def _has_something(self) -> bool:
        return bool(self._questions)

    def _answer(self, question: Question) -> None:
        if question.method != "session.willRenewAccessToken":
            return super()._answer(question)
        try:
            request = RenewalRequest.read(question.params)
        except Mismatch as mismatch:
            return self.channel.refuse(question.id, INVALID_PARAMS, f"Invalid params: {mismatch}")
        self._questions.append(RenewalQuestion(request, question.id, self))
