"""What has to hold after a power cut, and whether it holds."""

import dataclasses

from suite.connection import Refused

# How long the device is off: a short time if a renewal was under way, so that the refresh retry is in the provider's grace.
# Otherwise long after it, because the newest tokens have to be on the disk.
SHORT_OUTAGE = 5
LONG_OUTAGE = 3_600


class Defect(Exception):
    """What does not hold."""


@dataclasses.dataclass
class Expectation:
    # The families that may be signed in. `None`: no user may be.
    outcomes: set
    # A request was under way.
    is_open: bool
    # The daemon had said `durable: false`, or the disk was full during a request. Then the tokens may be lost.
    is_volatile: bool
    # The family whose codes were told. The person approves them before the daemon starts.
    waiting: str | None
    provider: tuple

    def __init__(self, events):
        told = [index for index, event in enumerate(events) if event.kind == "told"]
        durable = [index for index in told if events[index].facts["durable"]]
        last = durable[-1] if durable else -1
        began = [event for event in events[last + 1:] if event.kind == "begun"]
        self.outcomes = {events[last].facts["family"] if durable else None}
        self.outcomes.update(family for event in began for family in event.facts["outcomes"])
        self.is_open = bool(began)
        spaces = [event.kind for event in events if event.kind in ("full", "free")]
        is_full = spaces[-1:] == ["full"]
        self.is_volatile = told[-1:] != durable[-1:] or is_full and self.is_open
        codes = [event.facts["family"] for event in events[max(told, default=-1) + 1:] if event.kind == "codes"]
        self.waiting = codes[-1] if codes else None
        self.provider = next((event.facts["state"] for event in reversed(events) if event.kind == "provider"), None)


def judge(daemon, provider, expected, grace):
    """Starts the daemon on an image, and returns what was found. Raises `Defect` if something does not hold."""
    if expected.provider:
        provider.restore(expected.provider, SHORT_OUTAGE if expected.is_open else LONG_OUTAGE, grace)
    thefts = provider.state.thefts
    outcomes = expected.outcomes
    is_approved = expected.waiting is not None and provider.is_waiting(expected.waiting)
    if is_approved:
        provider.approve(expected.waiting)
        outcomes = {expected.waiting}
    try:
        daemon.start()
    except EOFError as end:
        raise Defect(f"the daemon does not start: {end}") from None

    snapshot = daemon.call("session.status")
    if snapshot["storage"]["status"] != "ok":
        raise Defect(f"storage.status is {snapshot['storage']['status']}: {snapshot['storage'].get('reason')}")
    if is_approved:
        snapshot = daemon.until(lambda snapshot: snapshot["userId"] or has_no_sign_in(snapshot))
    user = snapshot["userId"]
    if user is None:
        if None in outcomes:
            return "signed out"
        raise Defect(f"no user is signed in, and {names(provider, outcomes)} was told")
    owners = {family for family in outcomes if family and provider.state.families[family].user == user}
    if not owners:
        raise Defect(f"{user} is signed in, and {names(provider, outcomes)} was told")
    try:
        check_family(daemon, provider, owners)
        patiently(daemon, "session.renew")
        if not check_family(daemon, provider, owners):
            raise Defect(f"{user} gets a token that is not from the last renewal, or is revoked")
    except Refused as refused:
        loss = f"{user} gets no fresh token ({refused.kind}: {refused})"
        if refused.kind != "reauthenticationRequired":
            raise Defect(loss) from None
        if expected.is_volatile:
            return "lost, not durable"
        if expected.is_open and grace == 0:
            return "lost, no grace"
        raise Defect(loss) from None
    if provider.state.thefts != thefts:
        raise Defect("the daemon has sent a refresh token that is too old, and the provider has revoked its family")
    return "signed in"


def has_no_sign_in(snapshot):
    return snapshot["state"] == "notLoggedIn" and snapshot["authorization"] is None


def check_family(daemon, provider, owners):
    """Returns whether the served token is fresh."""
    family, is_fresh = provider.owner(patiently(daemon, "token.get")["accessToken"])
    if family not in owners:
        raise Defect(f"a token of {names(provider, {family})} is served, and {names(provider, owners)} was told")
    return is_fresh


def patiently(daemon, method):
    """Calls a method. If the machine was too slow for the daemon's request, the daemon's own next attempt decides."""
    while True:
        try:
            return daemon.call(method)
        except Refused as refused:
            if refused.kind not in ("providerUnavailable", "tokenExpired"):
                raise
        daemon.until(lambda snapshot: snapshot["renewal"]["phase"] == "scheduled" or "pendingReauthentication" in snapshot["flags"])


def names(provider, families):
    return " or ".join(
        f"{provider.state.families[family].user} ({family})" if family else "no user" for family in sorted(families, key=str)
    )
