"""What a session handler is asked, and what it can answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import ClassVar, Optional, Union

from ._members import Members, text, time
from ._secret import Secret
from .credentials import Text, boxed, wire_members

__all__ = [
    "HandlerResult",
    "Renew",
    "RenewWithAuthToken",
    "RenewWithSignature",
    "RenewalAnswer",
    "RenewalRequest",
    "UnableToRetrieveAuthToken",
]


@dataclass(frozen=True)
class RenewalRequest:
    """A renewal that a session handler has to decide about."""

    #: Which renewal it is.
    renewal_id: str
    #: Why there is one: `missing`, `expiring`, `expired`, `rejected` or `requested`.
    reason: str
    #: Whose token it is.
    user_id: str
    #: When the present token dies, if there is one.
    expires_at: Optional[datetime]
    #: When the daemon stops waiting for the answer.
    deadline: datetime

    @property
    def time_left(self) -> float:
        """How many seconds the daemon goes on waiting, by the wall clock that it shares with us."""
        return max(0.0, (self.deadline - datetime.now(timezone.utc)).total_seconds())

    @classmethod
    def read(cls, value: object) -> RenewalRequest:
        """@private"""
        members = Members(value, "params")
        return cls(
            members.required("renewalId", text),
            members.required("reason", text),
            members.required("userId", text),
            members.optional("expiresAt", time),
            members.required("deadline", time),
        )


class RenewalAnswer:
    """Any of the classes below."""

    #: The word that decides which other members there are.
    action: ClassVar[str]

    def wire(self) -> dict[str, object]:
        """@private"""
        return {"action": self.action, **wire_members(self)}


@dataclass(frozen=True)
class Renew(RenewalAnswer):
    """The daemon shall renew with what it has."""

    action: ClassVar[str] = "renew"


@dataclass(frozen=True)
class RenewWithAuthToken(RenewalAnswer):
    """The daemon shall renew with this token from the app's backend."""

    action: ClassVar[str] = "renewWithAuthToken"
    auth_token: Text

    def __post_init__(self) -> None:
        boxed(self, "auth_token")


@dataclass(frozen=True)
class RenewWithSignature(RenewalAnswer):
    """The daemon shall register anew with this legacy signature."""

    action: ClassVar[str] = "renewWithSignature"
    signature: Text
    sequence: int

    def __post_init__(self) -> None:
        boxed(self, "signature")


@dataclass(frozen=True)
class UnableToRetrieveAuthToken(RenewalAnswer):
    """Not now. Nobody is asked again for ten minutes."""

    action: ClassVar[str] = "unableToRetrieveAuthToken"


#: What the function of a session handler may return: a text is an auth token, and `None` is *unable*.
HandlerResult = Union[RenewalAnswer, str, Secret, None]


def decision(result: HandlerResult) -> RenewalAnswer:
    """@private What a handler's function has decided."""
    if isinstance(result, RenewalAnswer):
        return result
    if isinstance(result, (str, Secret)):
        return RenewWithAuthToken(result)
    if result is None:
        return UnableToRetrieveAuthToken()
    raise TypeError(f"a session handler returns a RenewalAnswer, a token or None, and not {type(result).__name__}")
