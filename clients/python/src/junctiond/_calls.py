"""The methods of the daemon: their parameters, the readers of their results, and whether they are repeatable."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Callable, Generic, Optional, TypeVar, Union

from ._errors import InvalidParams, UnreadableAnswer
from ._members import Members, Mismatch, as_list, text, words
from ._values import AccessToken, ApiAnswer, Caller, Check, DaemonInfo, IdentifyResult, ReconcileResult, RenewResult, Snapshot
from .credentials import Credential

T = TypeVar("T")


@dataclass(frozen=True)
class Call(Generic[T]):
    """One call of a method."""

    method: str
    reader: Callable[[object], T]
    params: Mapping[str, object] = field(default_factory=dict[str, object], repr=False)
    #: Whether a repetition has the same effect as one call, so that it is safe after a lost connection.
    is_repeatable: bool = False

    def read(self, result: object) -> T:
        """Reads the result of the method."""
        try:
            return self.reader(result)
        except Mismatch as mismatch:
            raise UnreadableAnswer(f"the daemon's answer cannot be read: {mismatch}") from None


def nothing(result: object) -> None:
    """Reads the result of a method that returns nothing."""


def status() -> Call[Snapshot]:
    return Call("session.status", Snapshot.read, is_repeatable=True)


def subscribe(only_states: bool = False) -> Call[Snapshot]:
    return Call("session.subscribe", Snapshot.read, {"changes": "state"} if only_states else {})


def sign_in(credential: Credential) -> Call[Snapshot]:
    return Call("session.signIn", Snapshot.read, credential.wire())


def sign_out() -> Call[Snapshot]:
    return Call("session.signOut", Snapshot.read)


def identify(external_user_id: Optional[str]) -> Call[IdentifyResult]:
    # An identification of a user is repeatable: the daemon does nothing before it has asked for a credential. Without a
    # user it is an immediate sign-out.
    params = {"externalUserId": external_user_id}
    return Call("session.identify", IdentifyResult.read, params, is_repeatable=external_user_id is not None)


def reconcile(user_id: Optional[str]) -> Call[ReconcileResult]:
    return Call("session.reconcile", ReconcileResult.read, {"userId": user_id}, is_repeatable=True)


def renew() -> Call[RenewResult]:
    return Call("session.renew", RenewResult.read)


def authorization_page(redirect_uri: str, state: str, code_challenge: str) -> Call[str]:
    params = {"redirectUri": redirect_uri, "state": state, "codeChallenge": code_challenge}
    return Call("session.authorizationPage", _member("url"), params, is_repeatable=True)


def token(minimum_validity: float) -> Call[AccessToken]:
    if not 0 <= minimum_validity < math.inf:
        raise InvalidParams(f"minimum_validity is a number of seconds from 0, and not {minimum_validity}")
    params = {"minimumValidity": minimum_validity} if minimum_validity > 0 else {}
    return Call("token.get", AccessToken.read, params, is_repeatable=True)


def api(
    method: str,
    path: str,
    query: Optional[Mapping[str, str]],
    headers: Optional[Mapping[str, str]],
    body: Union[str, bytes, None],
) -> Call[ApiAnswer]:
    params: dict[str, object] = {"method": method, "path": path}
    if query:
        params["query"] = dict(query)
    if headers:
        params["headers"] = dict(headers)
    if isinstance(body, str):
        params["body"] = body
    elif body is not None:
        params.update(_bytes(body))
    return Call("api.request", ApiAnswer.read, params)


def info() -> Call[DaemonInfo]:
    return Call("daemon.info", DaemonInfo.read, is_repeatable=True)


def whoami() -> Call[Caller]:
    return Call("access.whoami", Caller.read, is_repeatable=True)


def reload() -> Call[tuple[str, ...]]:
    return Call("daemon.reload", lambda value: Members(value, "result").required("pendingRestart", words))


def metrics() -> Call[str]:
    return Call("daemon.metrics", _member("text"), is_repeatable=True)


def diagnose() -> Call[list[Check]]:
    return Call("daemon.diagnose", _checks, is_repeatable=True)


def register_handler() -> Call[None]:
    return Call("handler.register", nothing)


def changed_snapshot(params: object) -> Snapshot:
    """Reads the snapshot of a `session.changed` notification."""
    try:
        return Snapshot.read(Members(params, "params").object.get("snapshot"))
    except Mismatch as mismatch:
        raise UnreadableAnswer(f"the daemon's news cannot be read: {mismatch}") from None


def _bytes(body: bytes) -> dict[str, object]:
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"bodyBase64": base64.b64encode(body).decode()}


def _member(name: str) -> Callable[[object], str]:
    return lambda value: Members(value, "result").required(name, text)


def _checks(value: object) -> list[Check]:
    return [Check.read(check) for check in Members(value, "result").required("checks", as_list)]
