"""Assigns the answers on a shared connection to the calls that wait for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Callable, Optional

from ._calls import Call, T
from ._channel import Channel, not_taken
from ._errors import JunctionError
from ._members import Members, Mismatch, text
from ._messages import (
    INVALID_CREDENTIAL,
    METHOD_NOT_FOUND,
    Answer,
    Complaint,
    Message,
    Question,
    RequestId,
)


class Waiter:
    """A call that waits for its answer."""

    def __init__(self, asked_about: Optional[str], changed: Callable[[], None]) -> None:
        """`changed` is called for each question and for the answer."""
        self.id = 0
        #: The user for whom the daemon may ask for a credential.
        self.asked_about = asked_about
        #: The daemon's open request for a credential. It ends with the call.
        self.question: Optional[RequestId] = None
        self.is_done = False
        self.outcome: object = None
        self.changed = changed

    def finish(self, outcome: object) -> None:
        """Sets the result or the error. Only the first one counts."""
        if not self.is_done:
            self.outcome = outcome
            self.question = None
            self.is_done = True
        # Also the second time: an exception of a signal handler may have ended the first one before this line.
        self.changed()

    def ask(self, question: RequestId) -> None:
        """Notes that the daemon asks for a credential."""
        self.question = question
        self.changed()

    def result(self, call: Call[T]) -> T:
        """Returns the result, or raises the error."""
        if isinstance(self.outcome, JunctionError):
            raise self.outcome
        return call.read(self.outcome)


class Switchboard:
    """The calls in progress on a channel."""

    def __init__(self, channel: Channel, ended: Callable[[], None] = lambda: None) -> None:
        """`ended` is called when no further call can be made. The owner closes the channel."""
        self.channel = channel
        self._ended = ended
        # Each call until it is forgotten.
        self._waiters: dict[int, Waiter] = {}
        self._end: Optional[JunctionError] = None
        self._is_retired = False

    @property
    def is_usable(self) -> bool:
        """Whether calls can be made."""
        return self._end is None and self.channel.is_usable

    @property
    def has_ended(self) -> bool:
        return self._end is not None

    def begin(self, waiter: Waiter, call: Call[T]) -> None:
        """Starts a call."""
        if self._end is not None:
            return waiter.finish(self._end)
        waiter.id = self.channel.ask(call)
        self._waiters[waiter.id] = waiter
        self.flush()

    def forget(self, waiter: Waiter) -> None:
        """Stops waiting for a call. An open question is refused, so that a later credential signs no user in."""
        self.answer(waiter, None)
        self._waiters.pop(waiter.id, None)
        if self._is_retired and not self._waiters:
            self.end(not_taken())

    def retire(self) -> None:
        """Accepts no more calls, and ends with the last one in progress."""
        self._is_retired = True
        if not self._waiters:
            self.end(not_taken())

    def expire(self, waiter: Waiter, error: JunctionError) -> None:
        """Ends a call whose timeout has passed."""
        self.forget(waiter)
        waiter.finish(error)

    def answer(self, waiter: Waiter, credential: Optional[object]) -> None:
        """Answers the open question of this call, if there is one; `None` refuses it."""
        question = waiter.question
        if question is not None and self.is_usable:
            if credential is None:
                self.channel.refuse(question, INVALID_CREDENTIAL, "The app has no credential")
            else:
                self.channel.answer(question, credential)
            self.flush()
        # Only now: a credential that cannot be sent raises an error, and the question is then refused.
        waiter.question = None

    def flush(self) -> None:
        """Sends as much as the socket accepts, and fails the calls that the daemon did not receive completely."""
        for id in self.channel.flush():
            self._finish(id, not_taken())

    def receive(self) -> None:
        """Handles the received messages."""
        try:
            self._dispatch(self.channel.receive())
        except JunctionError as error:
            self.end(error)

    def wake(self) -> None:
        """Makes every waiter look again."""
        for waiter in self._waiters.values():
            waiter.changed()

    def end(self, error: JunctionError) -> None:
        """Fails all calls with this error, and later ones, too."""
        if self._end is None:
            self._end = error
            self._ended()
        for waiter in self._waiters.values():
            waiter.finish(error)

    def _dispatch(self, arrived: Iterable[Message]) -> None:
        for message in arrived:
            if isinstance(message, Answer):
                self._finish(message.id, message.outcome)
            elif isinstance(message, Complaint):
                raise message.error
            elif isinstance(message, Question):
                self._ask(message)
        self.flush()

    def _finish(self, id: int, outcome: object) -> None:
        waiter = self._waiters.get(id)
        if waiter is not None:
            waiter.finish(outcome)

    def _ask(self, question: Question) -> None:
        user = _user(question) if question.method == "session.authenticate" else None
        if user is None:
            return self.channel.refuse(question.id, METHOD_NOT_FOUND, f"Method not found: {question.method}")
        for waiter in self._waiters.values():
            if waiter.asked_about == user and waiter.question is None and not waiter.is_done:
                return waiter.ask(question.id)
        self.channel.refuse(question.id, INVALID_CREDENTIAL, "Nobody identifies this user any more")


def _user(question: Question) -> Optional[str]:
    try:
        return Members(question.params, "params").required("externalUserId", text)
    except Mismatch:
        return None
