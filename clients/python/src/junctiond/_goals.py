"""The goals of `wait`."""

from __future__ import annotations

from typing import Callable, Literal, Optional, Union

from ._errors import InvalidParams, JunctionError, ReauthenticationRequired, SessionTerminated, StorageUnavailable
from ._values import Flag, Snapshot, State

Goal = Literal["signed-in", "signed-out", "fresh"]


def check(goal: Union[Goal, Callable[[Snapshot], bool]]) -> None:
    """Raises an error if this is no goal."""
    if not callable(goal) and goal not in ("signed-in", "signed-out", "fresh"):
        raise InvalidParams(f"{goal!r} is no goal: 'signed-in', 'signed-out' or 'fresh'")


def reached(goal: Union[Goal, Callable[[Snapshot], bool]], snapshot: Snapshot) -> bool:
    """Whether the snapshot reaches the goal. Raises an error for a state that does not end without an action of a person."""
    if callable(goal):
        return goal(snapshot)
    if goal == "signed-in":
        return snapshot.is_signed_in
    if goal == "signed-out":
        # A sign-in in progress is not a signed-out session.
        return not snapshot.is_signed_in and snapshot.state != State.ESTABLISHING
    if snapshot.is_fresh:
        return True
    error = obstacle(snapshot)
    if error is not None:
        raise error
    return False


def obstacle(snapshot: Snapshot) -> Optional[JunctionError]:
    """Returns why a session that is not fresh does not become fresh by waiting."""
    if not snapshot.storage.is_readable:
        remedy = snapshot.storage.reason or "run 'junctionctl doctor'"
        return StorageUnavailable(f"the daemon cannot open the stored session, which is {snapshot.storage.status}: {remedy}")
    if snapshot.state == State.TERMINATED:
        why = "it does not say why" if snapshot.termination is None else snapshot.termination.message
        error = SessionTerminated(f"the provider has ended the session: {why}: sign in again")
        error.termination = snapshot.termination
        return error
    # The token has expired, because the session is not fresh.
    is_pending = Flag.PENDING_REAUTHENTICATION in snapshot.flags and snapshot.state != State.ESTABLISHING
    if snapshot.is_signed_in and is_pending:
        return ReauthenticationRequired("the provider wants a new credential of the signed-in user: sign the same user in again")
    return None
