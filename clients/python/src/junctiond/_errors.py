"""The errors: those of the daemon, and those of the library."""

from __future__ import annotations

import math
from typing import Any, Optional

from ._members import as_object, text
from ._values import Termination


class JunctionError(Exception):
    """The base of all errors of this library. Catch its subclasses, or compare `kind`.

    A kind without a class, from a newer daemon, is a plain `JunctionError`.
    """

    #: The word for the error, as in `data.kind` on the wire.
    kind: str = "error"
    #: What failed, for which object, and the remedy, for a person. Never contains a secret.
    message: str
    #: The remedy, if the daemon names one. It is also the end of `message`.
    remedy: Optional[str] = None
    #: The number of the error on the wire; `None` if the error does not come from the daemon.
    code: Optional[int] = None
    #: How many seconds to wait before a retry may succeed.
    retry_after: Optional[float] = None
    #: `AlreadySignedIn`: the signed-in user.
    user_id: Optional[str] = None
    #: `SessionTerminated`: the reason.
    termination: Optional[Termination] = None
    #: `PermissionDenied`: the capability that the caller lacks.
    capability: Optional[str] = None
    #: `InvalidParams`: the largest accepted value, in seconds.
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


# Errors of the daemon.


class AlreadySignedIn(JunctionError):
    """Another user is signed in: `user_id`."""

    kind = "alreadySignedIn"


class InvalidCredential(JunctionError):
    """The token, code, key or signature is malformed or was rejected; nothing changed."""

    kind = "invalidCredential"


class NotSignedIn(JunctionError):
    """There is no session."""

    kind = "notSignedIn"


class ReauthenticationRequired(JunctionError):
    """The daemon keeps the session, but needs a new credential."""

    kind = "reauthenticationRequired"


class SessionTerminated(JunctionError):
    """The user was deleted, disabled or banned; `termination` has the reason."""

    kind = "sessionTerminated"


class ProviderUnavailable(JunctionError):
    """The provider gave no usable answer; the session is kept."""

    kind = "providerUnavailable"


class PermissionDenied(JunctionError, PermissionError):
    """The caller may not do this: it lacks `capability`, or the path is not one of the user's own resources.

    Without a `code`, this user may not open the socket.
    """

    kind = "permissionDenied"


class IncompatibleCredential(JunctionError):
    """An API key's session cannot become the session of another user, environment or region."""

    kind = "incompatibleCredential"


class StorageUnavailable(JunctionError):
    """The daemon cannot read the sealed state; it erased nothing."""

    kind = "storageUnavailable"


class TokenExpired(JunctionError):
    """The token has expired, and no other token is available now."""

    kind = "tokenExpired"


class Busy(JunctionError):
    """A limit of this caller is reached, or the token is valid for less time than requested.

    Without a `code`, another thread or task waits on this watch.
    """

    kind = "busy"


class Unsupported(JunctionError):
    """The provider or the scheme does not support this."""

    kind = "unsupported"


class Misconfigured(JunctionError):
    """The daemon rejects its configuration and serves no caller, or the configuration does not fit the provider."""

    kind = "misconfigured"


class InvalidParams(JunctionError, ValueError):
    """A parameter is missing, unknown or out of range; `maximum` is the largest accepted value.

    Without a `code`, the library found it, and sent nothing.
    """

    kind = "invalidParams"


class MethodNotFound(JunctionError):
    """The daemon is older than this library and does not have this method."""

    kind = "methodNotFound"


class ProtocolViolated(JunctionError):
    """The daemon rejects a line of this library as malformed (`parseError`, `invalidRequest`)."""

    kind = "invalidRequest"


class DaemonFailed(JunctionError):
    """The daemon failed; the request was correct."""

    kind = "internalError"


# Errors of the library.


class DaemonUnreachable(JunctionError, ConnectionError):
    """No daemon listens on the socket."""

    kind = "daemonUnreachable"


class ConnectionLost(JunctionError, ConnectionError):
    """The connection ended before the answer.

    Unless `was_not_taken` is true, the outcome is unknown: ask for the state before you repeat the call.
    """

    kind = "connectionLost"
    #: The daemon did not receive the whole request, so it did nothing.
    was_not_taken: bool = False


class TimedOut(JunctionError, TimeoutError):
    """The timeout passed before the answer. The daemon still completes the request."""

    kind = "timedOut"


class Cancelled(JunctionError):
    """The client was closed during the call. The daemon still completes the request."""

    kind = "cancelled"


class RequestTooLarge(JunctionError):
    """The request is longer than the daemon accepts (1 MiB); the library did not send it."""

    kind = "requestTooLarge"


class UnreadableAnswer(JunctionError):
    """The library cannot read a message of the daemon."""

    kind = "unreadableAnswer"


class InvalidSocketPath(JunctionError):
    """The path is empty or too long for a Unix socket."""

    kind = "invalidSocketPath"


class LocalFailure(JunctionError):
    """The program lacks a resource, such as a descriptor. The error says nothing about the daemon."""

    kind = "localFailure"


# Reading an error of the daemon.

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
    """Reads the error of an answer. An unreadable error becomes `DaemonFailed`."""
    members = as_object(value) or {}
    code = members.get("code")
    message = members.get("message")
    if not isinstance(message, str) or not isinstance(code, int):
        return DaemonFailed("the daemon's error cannot be read")
    data = as_object(members.get("data")) or {}
    kind = data.get("kind")
    if not isinstance(kind, str):
        kind = _BY_CODE.get(code, f"error{code}")
    remedy = text(data.get("remedy"))
    error = _BY_KIND.get(kind, JunctionError)(message if remedy is None else f"{message}: {remedy}")
    error.kind = kind
    error.remedy = remedy
    error.code = code
    error.retry_after = _seconds(data.get("retryAfter"))
    error.maximum = _seconds(data.get("maximum"))
    error.user_id = text(data.get("userId"))
    error.capability = text(data.get("capability"))
    error.termination = Termination.if_readable(data.get("termination"))
    return error


def _seconds(value: object) -> Optional[float]:
    """Reads a number of seconds. Returns `None` if it is no usable duration."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if math.isfinite(value) and 0 <= value < 1e15 else None
