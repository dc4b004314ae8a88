"""What the daemon answers, as values."""

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
    """The words of `Snapshot.state`. A newer daemon may know more of them."""

    #: Nobody is signed in.
    NOT_LOGGED_IN = "notLoggedIn"
    #: A sign-in is under way.
    ESTABLISHING = "establishing"
    #: A user is signed in and the access token is alive.
    ESTABLISHED = "established"
    #: A user is signed in and the access token is dead; it is being renewed.
    TOKEN_EXPIRED = "tokenExpired"
    #: The provider ended the session for good.
    TERMINATED = "terminated"


class Flag:
    """The words in `Snapshot.flags`. A newer daemon may know more of them."""

    #: There is enough to sign in a user, or a user is signed in.
    CONFIGURED = "configured"
    #: A user is signed in.
    SIGNED_IN = "signedIn"
    #: The session uses a team API key.
    USE_API_KEY = "useApiKey"
    #: The session came from a Sign-In Token.
    USE_SIGN_IN_TOKEN = "useSignInToken"
    #: The provider wants a new credential; a living token is still served.
    PENDING_REAUTHENTICATION = "pendingReauthentication"


class Phase:
    """The words of `Renewal.phase`. A newer daemon may know more of them."""

    #: There is nothing to renew.
    NONE = "none"
    #: The next renewal has its time.
    SCHEDULED = "scheduled"
    #: The provider is being asked.
    IN_FLIGHT = "inFlight"
    #: A session handler is being asked, or is waited for.
    WAITING_FOR_HANDLER = "waitingForHandler"
    #: No handler could help; the next attempt is ten minutes away.
    POSTPONED = "postponed"
    #: The provider could not be reached; the next attempt has its time.
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
    """The life of an access token, without the token."""

    issued_at: datetime
    expires_at: datetime
    #: Which token it is: every new one has a higher number.
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
    """What the renewal scheduler is doing."""

    #: A word of `Phase`.
    phase: str = Phase.NONE
    #: When it goes on, if that is a matter of time.
    not_before: Optional[datetime] = None
    #: How many attempts failed in a row.
    failures: int = 0
    #: What went wrong last, in one line without secrets.
    last_error: Optional[str] = None

    @classmethod
    def read(cls, value: object) -> Renewal:
        """@private"""
        members = Members(value, "renewal")
        return cls(
            members.required("phase", text),
            members.optional("notBefore", time),
            members.optional("failures", number) or 0,
            members.optional("lastError", text),
        )


@dataclass(frozen=True)
class Authorization:
    """A sign-in that a person approves on another screen. The codes are there for callers with `manage`."""

    expires_at: datetime
    #: What the person types.
    user_code: Optional[Secret] = None
    #: Where.
    verification_uri: Optional[str] = None
    #: The same address with the code in it, for a QR picture.
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
    """How the session is kept."""

    #: Where the sealing key comes from: `host+tpm2`, `tpm2`, `host` or `file`.
    sealed_with: str = ""
    #: Whether what is in memory is also on disk.
    durable: bool = True
    #: `ok`, `locked`, `damaged` or `unavailable`.
    status: str = "ok"
    #: Whether the daemon has opened the stored session, if the status is not `ok` and the daemon says so.
    readable: Optional[bool] = None
    #: Why the status is not `ok`: what happened, to what, and what to do, for a person.
    reason: Optional[str] = None

    @property
    def is_readable(self) -> bool:
        """Whether the daemon has opened the stored session, or there is none. While this is false, no token can be had."""
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
    """Everything about the session that may be shown. Never a token."""

    #: Rises whenever any other member changes; it has a meaning within one connection only.
    revision: int
    #: When that was.
    changed_at: datetime
    #: A word of `State`.
    state: str
    #: Words of `Flag`.
    flags: tuple[str, ...]
    #: `junction`, `social`, `sinch` or `oauth`.
    provider: str
    #: How the user came to be signed in: the `scheme` of a credential.
    scheme: Optional[str] = None
    #: The signed-in user as the provider spells the id; in the state `terminated`, the user whose session the provider
    #: has ended. `Client.reconcile` compares it with the user that the app expects.
    user_id: Optional[str] = None
    #: The user as the app names them, when the session came from `identify`.
    external_user_id: Optional[str] = None
    #: The team that the user belongs to.
    team_id: Optional[str] = None
    #: `sandbox` or `production`.
    environment: Optional[str] = None
    #: Where the provider keeps the user's data.
    region: Optional[str] = None
    #: The life of the present access token, if there is one.
    access_token: Optional[TokenLife] = None
    #: What the renewal scheduler is doing.
    renewal: Renewal = Renewal()
    #: Why the provider ended the session, if it did.
    termination: Optional[Termination] = None
    #: A sign-in that a person has yet to approve on another screen, if there is one.
    authorization: Optional[Authorization] = None
    #: How the session is kept.
    storage: Storage = Storage()
    #: The snapshot as it stood on the wire, with what this library does not know, but without the codes of an
    #: authorization.
    json: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    @property
    def is_signed_in(self) -> bool:
        """Whether a user is signed in, be their token alive or not."""
        return Flag.SIGNED_IN in self.flags

    @property
    def is_fresh(self) -> bool:
        """Whether a user is signed in and their token is alive. An API key's session has no token that could die."""
        life = self.access_token
        is_alive = life is None or life.expires_at > datetime.now(timezone.utc)
        return self.state == State.ESTABLISHED and self.storage.is_readable and is_alive

    @classmethod
    def read(cls, value: object) -> Snapshot:
        """@private"""
        members = Members(value, "snapshot")
        access_token = members.object.get("accessToken")
        renewal = members.object.get("renewal")
        termination = members.object.get("termination")
        authorization = members.object.get("authorization")
        storage = members.object.get("storage")
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
            access_token=None if access_token is None else TokenLife.read(access_token),
            renewal=Renewal() if renewal is None else Renewal.read(renewal),
            termination=None if termination is None else Termination.read(termination),
            authorization=None if authorization is None else Authorization.read(authorization),
            storage=Storage() if storage is None else Storage.read(storage),
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
    """An access token and what it is good for. Ask for it each time, and keep none."""

    token: Secret
    #: How it goes into an `Authorization` header: `Bearer`.
    token_type: str
    expires_at: datetime
    user_id: str

    @property
    def authorization(self) -> str:
        """The value of an `Authorization` header. It has the token in it."""
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
    """What became of an `identify`."""

    #: `unchanged`, `signedIn`, `switched` or `signedOut`.
    outcome: str
    snapshot: Snapshot

    @classmethod
    def read(cls, value: object) -> IdentifyResult:
        """@private"""
        members = Members(value, "result")
        return cls(members.required("outcome", text), Snapshot.read(members.object.get("snapshot")))


@dataclass(frozen=True)
class ReconcileResult:
    """What the app has to do to have the right user signed in."""

    #: `none`, `signIn`, `signOut`, `switch`, `reauthenticate` (sign the same user in again with a new credential) or
    #: `migrate` (sign the same user in with a Sign-In Token, in place of the API key). A newer daemon may know more words.
    action: str
    snapshot: Snapshot

    @classmethod
    def read(cls, value: object) -> ReconcileResult:
        """@private"""
        members = Members(value, "result")
        return cls(members.required("action", text), Snapshot.read(members.object.get("snapshot")))


@dataclass(frozen=True)
class ApiAnswer:
    """What the provider's API answered, whatever its status."""

    #: The HTTP status.
    status: int
    #: Header fields, with names in lower case.
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    @property
    def is_success(self) -> bool:
        """Whether the status is one of success."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        """The body, read as JSON."""
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
    """Which daemon this is, and since when it runs."""

    name: str
    version: str
    protocol_version: int
    provider: str
    pid: int
    started_at: datetime
    #: For how many seconds it has run, suspend included.
    uptime: float

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
        )


@dataclass(frozen=True)
class AccessEntry:
    """One `[[access]]` entry of the configuration, by what it names."""

    #: Its place among the entries, from 0 on.
    index: int
    unit: Optional[str] = None
    #: The user and the group that it is about, by number.
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
    """Who this program is to the daemon, what it may do, and what gave it that."""

    #: The user id and the process that connected, as the kernel tells them.
    user: int
    process: int
    #: The system unit of that process, where it is in one that can be learnt.
    unit: Optional[str]
    #: What it may do: `status`, `token`, `api`, `handle`, `manage`.
    capabilities: tuple[str, ...]
    #: What that comes from: `root`, `daemonUser`, `socketGroup`, `entry`, `unitUnknown` or `none`.
    basis: str
    #: The entry that decided, where one did.
    entry: Optional[AccessEntry] = None

    @classmethod
    def read(cls, value: object) -> Caller:
        """@private"""
        members = Members(value, "result")
        entry = members.object.get("entry")
        return cls(
            members.required("user", number),
            members.required("process", number),
            members.optional("unit", text),
            members.required("capabilities", words),
            members.required("basis", text),
            None if entry is None else AccessEntry.read(entry),
        )


@dataclass(frozen=True)
class Check:
    """One thing that the daemon looked at."""

    name: str
    #: `ok`, `note` or `problem`.
    verdict: str
    detail: str
    #: What to do about it.
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
