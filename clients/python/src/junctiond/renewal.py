"""The questions to a session handler, and its answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import ClassVar, Optional, Union

from ._members import Members, text, time
from ._secret import Secret
from .credentials import Text, box_secrets, wire_members

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
    """A renewal for which the daemon asks the session handler."""

    #: The id of the renewal.
    renewal_id: str
    #: The reason: `missing`, `expiring`, `expired`, `rejected` or `requested`.
    reason: str
    #: The user of the token.
    user_id: str
    #: The expiry of the current token, if there is one.
    expires_at: Optional[datetime]
    #: The daemon waits for the answer until this time.
    deadline: datetime

    @property
    def time_left(self) -> float:
        """The seconds until the deadline, by the wall clock, which the daemon also uses."""
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
    """The base of all answers."""

    #: The action, which decides about the other members on the wire.
    action: ClassVar[str]

    def __post_init__(self) -> None:
        box_secrets(self)

    def wire(self) -> dict[str, object]:
        """@private"""
        return {"action": self.action, **wire_members(self)}


@dataclass(frozen=True)
class Renew(RenewalAnswer):
    """The daemon renews with its own credentials."""

    action: ClassVar[str] = "renew"


@dataclass(frozen=True)
class RenewWithAuthToken(RenewalAnswer):
    """The daemon renews with this token from the app's backend."""

    action: ClassVar[str] = "renewWithAuthToken"
    auth_token: Text


@dataclass(frozen=True)
class RenewWithSignature(RenewalAnswer):
    """The daemon registers again with this legacy signature."""

    action: ClassVar[str] = "renewWithSignature"
    signature: Text
    sequence: int


@dataclass(frozen=True)
class UnableToRetrieveAuthToken(RenewalAnswer):
    """The handler has no token. The daemon asks no handler for ten minutes."""

    action: ClassVar[str] = "unableToRetrieveAuthToken"


#: The results of a session handler's function: a `str` is an auth token, and `None` means *unable*.
HandlerResult = Union[RenewalAnswer, str, Secret, None]


def decision(result: HandlerResult) -> RenewalAnswer:
    """@private Converts the result of a handler's function to an answer."""
    if isinstance(result, RenewalAnswer):
        return result
    if isinstance(result, (str, Secret)):
        return RenewWithAuthToken(result)
    if result is None:
        return UnableToRetrieveAuthToken()
    raise TypeError(f"a session handler returns a RenewalAnswer, a token or None, and not {type(result).__name__}")
