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
        self.id = 0
        #: The user for whom the daemon may ask for a credential.
        self.asked_about = asked_about
        #: The daemon's open request for a credential. It ends with the call.
        self.question: Optional[RequestId] = None
        self.is_done = False
        self.outcome: object = None
        self._changed = changed

    def finish(self, outcome: object) -> None:
        """Sets the result or the error. Only the first one counts."""
        if self.is_done:
            return
        self.is_done = True
        self.question = None
        self.outcome = outcome
        self._changed()

    def ask(self, question: RequestId) -> None:
        """Notes that the daemon asks for a credential."""
        self.question = question
        self._changed()

    def result(self, call: Call[T]) -> T:
        """Returns the result, or raises the error."""
        if isinstance(self.outcome, JunctionError):
            raise self.outcome
        return call.read(self.outcome)


def no_change() -> None:
    """For waiters that are polled."""


class Switchboard:
    """The calls in progress on a channel."""

    def __init__(self, channel: Channel, ending: Callable[[], None] = no_change) -> None:
        """`ending` is called before the channel is closed."""
        self.channel = channel
        self._ending = ending
        self._waiters: dict[int, Waiter] = {}
        self._end: Optional[JunctionError] = None
        self._is_retired = False

    @property
    def is_usable(self) -> bool:
        """Whether calls can be made."""
        return self._end is None and self.channel.is_usable

    def begin(
        self, call: Call[T], asked_about: Optional[str] = None, changed: Callable[[], None] = no_change
    ) -> Waiter:
        """Starts a call. `changed` is called for each question and for the answer."""
        waiter = Waiter(asked_about, changed)
        if self._end is not None:
            waiter.finish(self._end)
            return waiter
        waiter.id = self.channel.ask(call)
        self._waiters[waiter.id] = waiter
        self.flush()
        return waiter

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
        question, waiter.question = waiter.question, None
        if question is None or not self.is_usable:
            return
        if credential is None:
            self.channel.refuse(question, INVALID_CREDENTIAL, "The app has no credential")
        else:
            self.channel.answer(question, credential)
        self.flush()

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

    def end(self, error: JunctionError) -> None:
        """Closes the connection and fails all calls with this error."""
        if self._end is None:
            self._end = error
            self._ending()
            self.channel.close()
        for id in sorted(self._waiters):
            self._finish(id, error)

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
        waiter = self._waiters.pop(id, None)
        if waiter is not None:
            waiter.finish(outcome)

    def _ask(self, question: Question) -> None:
        user = _user(question) if question.method == "session.authenticate" else None
        if user is None:
            return self.channel.refuse(question.id, METHOD_NOT_FOUND, f"Method not found: {question.method}")
        for id in sorted(self._waiters):
            if self._waiters[id].asked_about == user and self._waiters[id].question is None:
                return self._waiters[id].ask(question.id)
        self.channel.refuse(question.id, INVALID_CREDENTIAL, "Nobody identifies this user any more")


def _user(question: Question) -> Optional[str]:
    try:
        return Members(question.params, "params").required("externalUserId", text)
    except Mismatch:
        return None
