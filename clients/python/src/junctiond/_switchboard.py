"""Who waits for which answer on one connection that many use at once."""

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
        #: The daemon's request for a credential that is not answered yet; it ends with the call.
        self.question: Optional[RequestId] = None
        self.is_done = False
        self.outcome: object = None
        self._changed = changed

    def finish(self, outcome: object) -> None:
        """The answer, or the error, is there; the first one counts."""
        if self.is_done:
            return
        self.is_done = True
        self.question = None
        self.outcome = outcome
        self._changed()

    def ask(self, question: RequestId) -> None:
        """The daemon asks for a credential."""
        self.question = question
        self._changed()

    def result(self, call: Call[T]) -> T:
        """What the daemon answered."""
        if isinstance(self.outcome, JunctionError):
            raise self.outcome
        return call.read(self.outcome)


def no_change() -> None:
    """For waiters that are looked at anyway."""


class Switchboard:
    """The calls that are under way on a channel."""

    def __init__(self, channel: Channel, ending: Callable[[], None] = no_change) -> None:
        """`ending` is called before the channel is closed."""
        self.channel = channel
        self._ending = ending
        self._waiters: dict[int, Waiter] = {}
        self._end: Optional[JunctionError] = None
        self._is_retired = False

    @property
    def is_usable(self) -> bool:
        """Whether calls can still be made."""
        return self._end is None and self.channel.is_usable

    def begin(
        self, call: Call[T], asked_about: Optional[str] = None, changed: Callable[[], None] = no_change
    ) -> Waiter:
        """Makes a call; `changed` is called with each question, and with the answer."""
        waiter = Waiter(asked_about, changed)
        if self._end is not None:
            waiter.finish(self._end)
            return waiter
        waiter.id = self.channel.ask(call)
        self._waiters[waiter.id] = waiter
        self.flush()
        return waiter

    def forget(self, waiter: Waiter) -> None:
        """The caller waits no longer: a question that is still open is refused, so that no user is signed in later."""
        self.answer(waiter, None)
        self._waiters.pop(waiter.id, None)
        if self._is_retired and not self._waiters:
            self.end(not_taken())

    def retire(self) -> None:
        """No more calls are made; it ends with the last of those that wait."""
        self._is_retired = True
        if not self._waiters:
            self.end(not_taken())

    def expire(self, waiter: Waiter, error: JunctionError) -> None:
        """The caller's time is over."""
        self.forget(waiter)
        waiter.finish(error)

    def answer(self, waiter: Waiter, credential: Optional[object]) -> None:
        """Answers the open question of this call, if it has one; `None` refuses it."""
        question, waiter.question = waiter.question, None
        if question is None or not self.is_usable:
            return
        if credential is None:
            self.channel.refuse(question, INVALID_CREDENTIAL, "The app has no credential")
        else:
            self.channel.answer(question, credential)
        self.flush()

    def flush(self) -> None:
        """Sends what fits, and tells whoever the daemon did not take."""
        for id in self.channel.flush():
            self._finish(id, not_taken())

    def receive(self) -> None:
        """Takes in what has come, and tells whoever waits for it."""
        try:
            self._dispatch(self.channel.receive())
        except JunctionError as error:
            self.end(error)

    def end(self, error: JunctionError) -> None:
        """No answer can come any more."""
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
