"""The goals of `wait`."""

from __future__ import annotations

from typing import Callable, Literal, Union

from ._values import Snapshot, State

Goal = Literal["signed-in", "signed-out", "fresh"]


def reached(goal: Union[Goal, Callable[[Snapshot], bool]], snapshot: Snapshot) -> bool:
    """Whether the snapshot reaches the goal."""
    if callable(goal):
        return goal(snapshot)
    if goal == "signed-in":
        return snapshot.is_signed_in
    if goal == "signed-out":
        # A sign-in in progress is not a signed-out session.
        return not snapshot.is_signed_in and snapshot.state != State.ESTABLISHING
    if goal == "fresh":
        return snapshot.is_fresh
    raise ValueError(f"{goal!r} is no goal: 'signed-in', 'signed-out' or 'fresh'")
