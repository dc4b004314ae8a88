"""Credentials for a sign-in. A secret may be a `str` or a `Secret`; it is stored as `Secret`.

```python
client.sign_in(credentials.SignInToken(token))
```
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar, Optional, Union

from ._secret import Secret

__all__ = [
    "ApiKey",
    "AuthorizationCode",
    "Credential",
    "Device",
    "LinkCode",
    "RefreshToken",
    "Registration",
    "RegistrationSignature",
    "SelfSigned",
    "SignInToken",
    "TokenExchange",
    "UserLogin",
]

#: The types of a secret argument.
Text = Union[str, Secret]


class Credential:
    """The base of all credentials."""

    #: The scheme, which decides about the other members on the wire.
    scheme: ClassVar[str]

    def __post_init__(self) -> None:
        box_secrets(self)

    def wire(self) -> dict[str, object]:
        """@private"""
        return {"scheme": self.scheme, **wire_members(self)}


def wire_members(value: object) -> dict[str, object]:
    """Returns the members of a dataclass with their names on the wire, without those that are `None`."""
    members: dict[str, object] = {}
    for each in fields(value):  # type: ignore[arg-type]
        member = getattr(value, each.name)
        if member is None:
            continue
        first, *rest = each.name.split("_")
        # A number is sent as text, because a 64-bit float would round a large one.
        members[first + "".join(word.title() for word in rest)] = (
            member.reveal() if isinstance(member, Secret) else str(member)
        )
    return members


def box_secrets(value: object) -> None:
    """Wraps the strings in the secret members of a dataclass, which are those of the type `Text`."""
    for each in fields(value):  # type: ignore[arg-type]
        text = getattr(value, each.name)
        if each.type in ("Text", "Optional[Text]") and text is not None:
            object.__setattr__(value, each.name, Secret(text))


@dataclass(frozen=True)
class SignInToken(Credential):
    """Junction: a Sign-In Token from the app's backend."""

    scheme: ClassVar[str] = "signInToken"
    token: Text


@dataclass(frozen=True)
class LinkCode(Credential):
    """Junction: the twelve characters of a link code."""

    scheme: ClassVar[str] = "linkCode"
    code: Text


@dataclass(frozen=True)
class ApiKey(Credential):
    """Junction: a team API key, for evaluation only. A missing member has its configured value."""

    scheme: ClassVar[str] = "apiKey"
    api_key: Optional[Text] = None
    user_id: Optional[str] = None
    environment: Optional[str] = None
    region: Optional[str] = None


@dataclass(frozen=True)
class UserLogin(Credential):
    """social.plus: a user id, and an auth token if the network is in secure mode."""

    scheme: ClassVar[str] = "userLogin"
    user_id: str
    display_name: Optional[str] = None
    auth_token: Optional[Text] = None


@dataclass(frozen=True)
class Registration(Credential):
    """Sinch: a registration token; without one the daemon asks a session handler."""

    scheme: ClassVar[str] = "registration"
    user_id: str
    token: Optional[Text] = None


@dataclass(frozen=True)
class RegistrationSignature(Credential):
    """Sinch: the legacy signature."""

    scheme: ClassVar[str] = "registrationSignature"
    user_id: str
    signature: Text
    sequence: int


@dataclass(frozen=True)
class SelfSigned(Credential):
    """Sinch: the daemon signs with the configured application secret."""

    scheme: ClassVar[str] = "selfSigned"
    user_id: str


@dataclass(frozen=True)
class Device(Credential):
    """OAuth: device sign-in (RFC 8628). The result has the codes, in `Snapshot.authorization`."""

    scheme: ClassVar[str] = "device"


@dataclass(frozen=True)
class AuthorizationCode(Credential):
    """OAuth: the authorization code from the redirect of `authorization_page`."""

    scheme: ClassVar[str] = "authorizationCode"
    code: Text
    redirect_uri: str
    code_verifier: Text


@dataclass(frozen=True)
class RefreshToken(Credential):
    """OAuth: the refresh token of another program's login, which the daemon takes over."""

    scheme: ClassVar[str] = "refreshToken"
    refresh_token: Text


@dataclass(frozen=True)
class TokenExchange(Credential):
    """OAuth: a token of another issuer, to be exchanged (RFC 8693); the type is a URI of its section 3."""

    scheme: ClassVar[str] = "tokenExchange"
    subject_token: Text
    subject_token_type: str
