"""Why a request was not fulfilled: by the daemon's word, or because the daemon could not be asked."""

from __future__ import annotations

import math
from typing import Any, Optional

from ._members import as_object
from ._values import Termination


class JunctionError(Exception):
    """Every error of this library. Catch the classes below it, or look at `kind`.

    A newer daemon may answer with a kind that this library has no class for: it comes as a plain `JunctionError`.
    """

    #: The word for the error, as in `data.kind` on the wire.
    kind: str = "error"
    #: What happened, to what, and what to do, for a person. Never a secret.
    message: str
    #: The number of the error on the wire; `None` when the daemon was never heard.
    code: Optional[int] = None
    #: How many seconds to wait before asking again, where that helps.
    retry_after: Optional[float] = None
    #: `AlreadySignedIn`: who is.
    user_id: Optional[str] = None
    #: `SessionTerminated`: why.
    termination: Optional[Termination] = None
    #: `PermissionDenied`: the capability that the caller lacks.
    capability: Optional[str] = None
    #: `InvalidParams`: how much could have been asked for.
    maximum: Optional[float] = None

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return f"{self.message} ({self.kind})"

    def __reduce__(self) -> Any:
        return (_restored, (type(self), self.message, self.__dict__))


def _restored(cls: type[JunctionError], message: str, members: dict[str, Any]) -> JunctionError:
    error = cls(message)
    error.__dict__.update(members)
    return error


# What the daemon answers.


class AlreadySignedIn(JunctionError):
    """Another user is signed in; `user_id` names who."""

    kind = "alreadySignedIn"


class InvalidCredential(JunctionError):
    """The token, code, key or signature is malformed or was refused; nothing changed."""

    kind = "invalidCredential"


class NotSignedIn(JunctionError):
    """There is no session."""

    kind = "notSignedIn"


class ReauthenticationRequired(JunctionError):
    """The session is kept, but needs a new credential."""

    kind = "reauthenticationRequired"


class SessionTerminated(JunctionError):
    """The user was deleted, disabled or banned; `termination` says why."""

    kind = "sessionTerminated"


class ProviderUnavailable(JunctionError):
    """The provider gave no usable answer; nothing is lost."""

    kind = "providerUnavailable"


class PermissionDenied(JunctionError, PermissionError):
    """The caller may not do this: it lacks `capability`, or the path is not the user's own.

    Without a `code`: this user may not open the socket.
    """

    kind = "permissionDenied"


class IncompatibleCredential(JunctionError):
    """An API key's session cannot become the session of another user, environment or region."""

    kind = "incompatibleCredential"


class StorageUnavailable(JunctionError):
    """The sealed state cannot be read; nothing was erased."""

    kind = "storageUnavailable"


class TokenExpired(JunctionError):
    """The token is dead, and no other can be had now."""

    kind = "tokenExpired"


class Busy(JunctionError):
    """A limit of this caller is reached, or the token lives, but not as long as the caller wants it to."""

    kind = "busy"


class Unsupported(JunctionError):
    """The provider or the scheme does not have this."""

    kind = "unsupported"


class Misconfigured(JunctionError):
    """The configuration is wrong: the daemon refuses it and serves nobody, or it does not fit the provider."""

    kind = "misconfigured"


class InvalidParams(JunctionError):
    """A parameter is missing, unknown or out of range; `maximum` says how much is possible."""

    kind = "invalidParams"


class MethodNotFound(JunctionError):
    """The daemon is older than this library, and does not have this."""

    kind = "methodNotFound"


class ProtocolViolated(JunctionError):
    """The daemon found nothing to answer in what this library wrote (`parseError`, `invalidRequest`)."""

    kind = "invalidRequest"


class DaemonFailed(JunctionError):
    """The daemon failed; nothing about the request was wrong."""

    kind = "internalError"


# What happens on this side of the socket.


class DaemonUnreachable(JunctionError, ConnectionError):
    """No daemon listens on the socket."""

    kind = "daemonUnreachable"


class ConnectionLost(JunctionError, ConnectionError):
    """The connection ended before the answer came.

    Unless it `was_not_taken`, whether the daemon did what was asked is unknown: ask for the state before you repeat it.
    """

    kind = "connectionLost"
    #: The daemon had stopped listening before it had the whole request, so it did nothing.
    was_not_taken: bool = False


class TimedOut(JunctionError, TimeoutError):
    """It took longer than the caller wanted to wait. The daemon finishes what it was asked."""

    kind = "timedOut"


class Cancelled(JunctionError):
    """The client was closed while somebody waited; the daemon finishes what it was asked."""

    kind = "cancelled"


class RequestTooLarge(JunctionError):
    """The request is longer than the daemon accepts (1 MiB); it was not sent."""

    kind = "requestTooLarge"


class UnreadableAnswer(JunctionError):
    """The daemon said something that this library cannot read."""

    kind = "unreadableAnswer"


class InvalidSocketPath(JunctionError):
    """The path cannot be that of a socket."""

    kind = "invalidSocketPath"


class LocalFailure(JunctionError):
    """This program cannot have what it needs to ask, such as one more descriptor; the daemon may be well."""

    kind = "localFailure"


# Reading the daemon's.

_BY_KIND: dict[str, type[JunctionError]] = {
    cls.kind: cls
    for cls in (
        AlreadySignedIn, InvalidCredential, NotSignedIn, ReauthenticationRequired, SessionTerminated,
        ProviderUnavailable, PermissionDenied, IncompatibleCredential, StorageUnavailable, TokenExpired, Busy,
        Unsupported, Misconfigured, InvalidParams, MethodNotFound, ProtocolViolated, DaemonFailed,
    )
}  # fmt: skip
_BY_KIND["parseError"] = ProtocolViolated

_BY_CODE = {
    -32700: "parseError",
    -32600: "invalidRequest",
    -32601: "methodNotFound",
    -32602: "invalidParams",
    -32603: "internalError",
    1001: "alreadySignedIn",
    1002: "invalidCredential",
    1003: "notSignedIn",
    1004: "reauthenticationRequired",
    1005: "sessionTerminated",
    1006: "providerUnavailable",
    1007: "permissionDenied",
    1008: "incompatibleCredential",
    1009: "storageUnavailable",
    1010: "tokenExpired",
    1011: "busy",
    1012: "unsupported",
    1013: "misconfigured",
}


def error_from_wire(value: object) -> JunctionError:
    """The error that the daemon answered with; whatever is odd about it, the answer still was an error."""
    members = as_object(value) or {}
    code = members.get("code")
    message = members.get("message")
    if not isinstance(message, str) or not isinstance(code, int):
        return DaemonFailed("the daemon's error cannot be read")
    data = as_object(members.get("data")) or {}
    kind = data.get("kind")
    if not isinstance(kind, str):
        kind = _BY_CODE.get(code, f"error{code}")
    error = _BY_KIND.get(kind, JunctionError)(message)
    error.kind = kind
    error.code = code
    error.retry_after = _seconds(data.get("retryAfter"))
    error.maximum = _seconds(data.get("maximum"))
    error.user_id = _text(data.get("userId"))
    error.capability = _text(data.get("capability"))
    error.termination = Termination.if_readable(data.get("termination"))
    return error


def _text(value: object) -> Optional[str]:
    return value if isinstance(value, str) else None


def _seconds(value: object) -> Optional[float]:
    """A number of seconds; nothing when it is no length of time that a clock could measure."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if math.isfinite(value) and 0 <= value < 1e15 else None
