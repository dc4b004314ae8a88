"""The values that the daemon returns."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Optional

from ._members import Members, Mismatch, as_object, boolean, number, seconds, text, texts, time, words
from ._secret import Secret


class State:
    """The values of `Snapshot.state`. A newer daemon may have more of them."""

    #: No user is signed in.
    NOT_LOGGED_IN = "notLoggedIn"
    #: A sign-in is in progress.
    ESTABLISHING = "establishing"
    #: A user is signed in with a valid access token.
    ESTABLISHED = "established"
    #: A user is signed in, and the access token has expired; the daemon renews it.
    TOKEN_EXPIRED = "tokenExpired"
    #: The provider has ended the session permanently.
    TERMINATED = "terminated"


class Flag:
    """The values in `Snapshot.flags`. A newer daemon may have more of them."""

    #: There is enough to sign in a user, or a user is signed in.
    CONFIGURED = "configured"
    #: A user is signed in.
    SIGNED_IN = "signedIn"
    #: The session uses a team API key.
    USE_API_KEY = "useApiKey"
    #: The session came from a Sign-In Token.
    USE_SIGN_IN_TOKEN = "useSignInToken"
    #: The provider requires a new credential; the daemon still serves a valid token.
    PENDING_REAUTHENTICATION = "pendingReauthentication"


class Phase:
    """The values of `Renewal.phase`. A newer daemon may have more of them."""

    #: There is nothing to renew.
    NONE = "none"
    #: The next renewal is scheduled.
    SCHEDULED = "scheduled"
    #: A renewal request is in flight.
    IN_FLIGHT = "inFlight"
    #: The daemon asks a session handler, or waits for one to register.
    WAITING_FOR_HANDLER = "waitingForHandler"
    #: No handler could help; the next attempt is ten minutes or more away.
    POSTPONED = "postponed"
    #: The provider was unreachable; the next attempt is scheduled.
    BACKING_OFF = "backingOff"


@dataclass(frozen=True)
class Termination:
    """Why the provider ended the session."""

    code: str
    message: str
    at: datetime

    @classmethod
    def read(cls, value: object) -> Termination:
        """@private"""
        members = Members(value, "termination")
        return cls(members.required("code", text), members.required("message", text), members.required("at", time))

    @classmethod
    def if_readable(cls, value: object) -> Optional[Termination]:
        """@private"""
        try:
            return cls.read(value)
        except Mismatch:
            return None


@dataclass(frozen=True)
class TokenLife:
    """The lifetime of an access token, without the token."""

    issued_at: datetime
    expires_at: datetime
    #: The number of the token. It increases with each new token.
    generation: int

    @classmethod
    def read(cls, value: object) -> TokenLife:
        """@private"""
        members = Members(value, "accessToken")
        return cls(
            members.required("issuedAt", time),
            members.required("expiresAt", time),
            members.required("generation", number),
        )


@dataclass(frozen=True)
class Renewal:
    """The state of the renewal scheduler."""

    #: A value of `Phase`.
    phase: str = Phase.NONE
    #: The time of the next step, if it depends on time.
    not_before: Optional[datetime] = None
    #: The number of consecutive failures.
    failures: int = 0
    #: The last error, in one line without secrets.
    last_error: Optional[str] = None
    #: Whether the next renewal needs a session handler and none is registered.
    needs_handler: bool = False

    @classmethod
    def read(cls, value: object) -> Renewal:
        """@private"""
        members = Members(value, "renewal")
        return cls(
            members.required("phase", text),
            members.optional("notBefore", time),
            members.optional("failures", number) or 0,
            members.optional("lastError", text),
            members.optional("needsHandler", boolean) or False,
        )


@dataclass(frozen=True)
class Authorization:
    """A device sign-in that waits for approval on another screen. Only callers with `manage` receive the codes."""

    expires_at: datetime
    #: The code that the person types.
    user_code: Optional[Secret] = None
    #: The address at which the person types it.
    verification_uri: Optional[str] = None
    #: The same address including the code, for a QR code.
    verification_uri_complete: Optional[Secret] = None

    @classmethod
    def read(cls, value: object) -> Authorization:
        """@private"""
        members = Members(value, "authorization")
        return cls(
            members.required("expiresAt", time),
            members.optional("userCode", _secret),
            members.optional("verificationUri", text),
            members.optional("verificationUriComplete", _secret),
        )


@dataclass(frozen=True)
class Storage:
    """How the session is stored."""

    #: The source of the sealing key: `host+tpm2`, `tpm2`, `host` or `file`.
    sealed_with: str = ""
    #: Whether the state in memory is also on disk.
    durable: bool = True
    #: `ok`, `locked`, `damaged` or `unavailable`.
    status: str = "ok"
    #: Whether the daemon has opened the stored session; `None` if the daemon does not say.
    readable: Optional[bool] = None
    #: The reason if the status is not `ok`: what failed and the remedy, for a person.
    reason: Optional[str] = None

    @property
    def is_readable(self) -> bool:
        """Whether the daemon has opened the stored session, or there is none. If false, no token is available."""
        return self.status == "ok" if self.readable is None else self.readable

    @classmethod
    def read(cls, value: object) -> Storage:
        """@private"""
        members = Members(value, "storage")
        return cls(
            members.required("sealedWith", text), members.required("durable", boolean), members.required("status", text),
            members.optional("readable", boolean), members.optional("reason", text),
        )


@dataclass(frozen=True)
class Snapshot:
    """The public state of the session. Never contains a token."""

    #: Increases with each change of another member; comparable only within one connection.
    revision: int
    #: The time of the last change.
    changed_at: datetime
    #: A value of `State`.
    state: str
    #: Values of `Flag`.
    flags: tuple[str, ...]
    #: `junction`, `social`, `sinch` or `oauth`.
    provider: str
    #: The `scheme` of the credential with which the user signed in.
    scheme: Optional[str] = None
    #: The provider's id of the signed-in user; in the state `terminated`, the user of the ended session.
    #: `Client.reconcile` compares it with the user that the app expects.
    user_id: Optional[str] = None
    #: The app's id of the user, if the session came from `identify`.
    external_user_id: Optional[str] = None
    #: The team that the user belongs to.
    team_id: Optional[str] = None
    #: `sandbox` or `production`.
    environment: Optional[str] = None
    #: The region in which the provider stores the user's data.
    region: Optional[str] = None
    #: The lifetime of the current access token, if there is one.
    access_token: Optional[TokenLife] = None
    #: The state of the renewal scheduler.
    renewal: Renewal = Renewal()
    #: Why the provider ended the session, if it did.
    termination: Optional[Termination] = None
    #: A device sign-in that waits for approval on another screen, if there is one.
    authorization: Optional[Authorization] = None
    #: How the session is stored.
    storage: Storage = Storage()
    #: The snapshot as received, including members that this library does not know, but without the codes of an
    #: authorization.
    json: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    @property
    def is_signed_in(self) -> bool:
        """Whether a user is signed in, with a valid or an expired token."""
        return Flag.SIGNED_IN in self.flags

    @property
    def is_fresh(self) -> bool:
        """Whether a user is signed in with a valid token. An API key session has no token that expires."""
        life = self.access_token
        is_alive = life is None or life.expires_at > datetime.now(timezone.utc)
        return self.state == State.ESTABLISHED and self.storage.is_readable and is_alive

    @classmethod
    def read(cls, value: object) -> Snapshot:
        """@private"""
        members = Members(value, "snapshot")
        return cls(
            revision=members.required("revision", number),
            changed_at=members.required("changedAt", time),
            state=members.required("state", text),
            flags=members.optional("flags", words) or (),
            provider=members.required("provider", text),
            scheme=members.optional("scheme", text),
            user_id=members.optional("userId", text),
            external_user_id=members.optional("externalUserId", text),
            team_id=members.optional("teamId", text),
            environment=members.optional("environment", text),
            region=members.optional("region", text),
            access_token=members.optional("accessToken", TokenLife.read),
            renewal=members.optional("renewal", Renewal.read) or Renewal(),
            termination=members.optional("termination", Termination.read),
            authorization=members.optional("authorization", Authorization.read),
            storage=members.optional("storage", Storage.read) or Storage(),
            json=_without_codes(members.object),
        )


def _without_codes(snapshot: dict[str, object]) -> dict[str, object]:
    authorization = as_object(snapshot.get("authorization"))
    if authorization is None:
        return snapshot
    codes = ("userCode", "verificationUriComplete")
    shown = {name: value for name, value in authorization.items() if name not in codes}
    return {**snapshot, "authorization": shown}


@dataclass(frozen=True)
class AccessToken:
    """An access token. Ask for it each time and do not store it."""

    token: Secret
    #: The type in an `Authorization` header: `Bearer`.
    token_type: str
    expires_at: datetime
    user_id: str

    @property
    def authorization(self) -> str:
        """The value of an `Authorization` header. It contains the token."""
        return f"{self.token_type} {self.token.reveal()}"

    @classmethod
    def read(cls, value: object) -> AccessToken:
        """@private"""
        members = Members(value, "result")
        return cls(
            members.required("accessToken", _secret),
            members.required("tokenType", text),
            members.required("expiresAt", time),
            members.required("userId", text),
        )


@dataclass(frozen=True)
class IdentifyResult:
    """The result of `identify`."""

    #: `unchanged`, `signedIn`, `switched` or `signedOut`.
    outcome: str
    snapshot: Snapshot

    @classmethod
    def read(cls, value: object) -> IdentifyResult:
        """@private"""
        members = Members(value, "result")
        return cls(members.required("outcome", text), members.required("snapshot", Snapshot.read))


@dataclass(frozen=True)
class ReconcileResult:
    """The action that makes the expected user the signed-in one."""

    #: `none`, `signIn`, `signOut`, `switch`, `reauthenticate` (sign the same user in again with a new credential) or
    #: `migrate` (sign the same user in with a Sign-In Token, in place of the API key). A newer daemon may have more
    #: values.
    action: str
    snapshot: Snapshot

    @classmethod
    def read(cls, value: object) -> ReconcileResult:
        """@private"""
        members = Members(value, "result")
        return cls(members.required("action", text), members.required("snapshot", Snapshot.read))


@dataclass(frozen=True)
class RenewResult:
    """The result of a renewal, as far as the caller may see it."""

    #: A value of `State`.
    state: str
    #: The lifetime of the new access token.
    access_token: Optional[TokenLife] = None
    #: The whole snapshot, for a caller with the capability `status`; otherwise `None`.
    snapshot: Optional[Snapshot] = None

    @classmethod
    def read(cls, value: object) -> RenewResult:
        """@private"""
        members = Members(value, "result")
        if "revision" in members.object:
            snapshot = Snapshot.read(value)
            return cls(snapshot.state, snapshot.access_token, snapshot)
        return cls(members.required("state", text), members.optional("accessToken", TokenLife.read))


@dataclass(frozen=True)
class ApiAnswer:
    """The answer of the provider's API, with any status."""

    #: The HTTP status.
    status: int
    #: Header fields, with names in lower case.
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    @property
    def is_success(self) -> bool:
        """Whether the status is 200 to 299."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        """Returns the body parsed as JSON."""
        return json.loads(self.body)

    @classmethod
    def read(cls, value: object) -> ApiAnswer:
        """@private"""
        members = Members(value, "result")
        plain = members.optional("body", text)
        encoded = members.optional("bodyBase64", _base64)
        return cls(
            members.required("status", number),
            members.optional("headers", texts) or {},
            plain.encode() if plain is not None else encoded or b"",
        )


@dataclass(frozen=True)
class DaemonInfo:
    """The version of the daemon and its start time."""

    name: str
    version: str
    protocol_version: int
    provider: str
    pid: int
    started_at: datetime
    #: The seconds since its start, including suspend.
    uptime: float
    #: The keys of changed settings that need a restart of the daemon, such as `junction.authUrl`.
    pending_restart: tuple[str, ...] = ()

    @classmethod
    def read(cls, value: object) -> DaemonInfo:
        """@private"""
        members = Members(value, "result")
        return cls(
            members.required("name", text),
            members.required("version", text),
            members.required("protocolVersion", number),
            members.required("provider", text),
            members.required("pid", number),
            members.required("startedAt", time),
            members.required("uptime", seconds),
            members.optional("pendingRestart", words) or (),
        )


@dataclass(frozen=True)
class AccessEntry:
    """One `[[access]]` entry of the configuration."""

    #: Its index among the entries, from 0.
    index: int
    unit: Optional[str] = None
    #: The numeric ids of its user and its group.
    user: Optional[int] = None
    group: Optional[int] = None

    @classmethod
    def read(cls, value: object) -> AccessEntry:
        """@private"""
        members = Members(value, "entry")
        return cls(
            members.required("index", number),
            members.optional("unit", text),
            members.optional("user", number),
            members.optional("group", number),
        )


@dataclass(frozen=True)
class Caller:
    """How the daemon sees this program: its identity, its rights and their source."""

    #: The user id and the process id of the connection, from the kernel.
    user: int
    process: int
    #: The systemd unit of the process, if the daemon can determine it.
    unit: Optional[str]
    #: The rights: `status`, `token`, `api`, `handle`, `manage`.
    capabilities: tuple[str, ...]
    #: The source of the rights: `root`, `daemonUser`, `socketGroup`, `entry`, `unitUnknown`, `unmapped` or `none`.
    basis: str
    #: The entry that grants or denies the rights, if one does.
    entry: Optional[AccessEntry] = None

    @classmethod
    def read(cls, value: object) -> Caller:
        """@private"""
        members = Members(value, "result")
        return cls(
            members.required("user", number),
            members.required("process", number),
            members.optional("unit", text),
            members.required("capabilities", words),
            members.required("basis", text),
            members.optional("entry", AccessEntry.read),
        )


@dataclass(frozen=True)
class Check:
    """One check of the daemon's diagnosis."""

    name: str
    #: `ok`, `note` or `problem`.
    verdict: str
    detail: str
    #: The remedy.
    remedy: Optional[str] = None

    @classmethod
    def read(cls, value: object) -> Check:
        """@private"""
        members = Members(value, "checks")
        return cls(
            members.required("name", text),
            members.required("verdict", text),
            members.required("detail", text),
            members.optional("remedy", text),
        )


def _secret(value: object) -> Optional[Secret]:
    return Secret(value) if isinstance(value, str) else None


def _base64(value: object) -> Optional[bytes]:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else None
    except binascii.Error:
        return None
