"""Typed access to the members of a JSON object. An error names the member."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Callable, Optional, TypeVar, cast

T = TypeVar("T")


class Mismatch(Exception):
    """A value of the wrong type."""


def as_object(value: object) -> Optional[dict[str, object]]:
    """A JSON object."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def as_list(value: object) -> Optional[list[object]]:
    """A JSON array."""
    return cast("list[object]", value) if isinstance(value, list) else None


class Members:
    """An object. Unknown members are ignored, because a newer daemon may send more.

    An optional member that is `null` counts as absent.
    """

    def __init__(self, value: object, place: str) -> None:
        found = as_object(value)
        if found is None:
            raise Mismatch(f"'{place}' must be an object")
        self.object = found
        self._place = place

    def required(self, name: str, read: Callable[[object], Optional[T]]) -> T:
        """Returns a member that must be present."""
        value = self.optional(name, read)
        if value is None:
            raise Mismatch(f"'{self._place}.{name}' is missing")
        return value

    def optional(self, name: str, read: Callable[[object], Optional[T]]) -> Optional[T]:
        """Returns a member, or `None` if it is absent or `null`."""
        value = self.object.get(name)
        if value is None:
            return None
        found = read(value)
        if found is None:
            raise Mismatch(f"'{self._place}.{name}' cannot be read")
        return found


# Readers of member values. Each returns `None` for a value of another type.


def text(value: object) -> Optional[str]:
    return value if isinstance(value, str) else None


def number(value: object) -> Optional[int]:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def seconds(value: object) -> Optional[float]:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def boolean(value: object) -> Optional[bool]:
    return value if isinstance(value, bool) else None


def words(value: object) -> Optional[tuple[str, ...]]:
    listed = as_list(value)
    if listed is None:
        return None
    found = tuple(word for word in listed if isinstance(word, str))
    return found if len(found) == len(listed) else None


def texts(value: object) -> Optional[dict[str, str]]:
    named = as_object(value)
    if named is None:
        return None
    found = {name: each for name, each in named.items() if isinstance(each, str)}
    return found if len(found) == len(named) else None


_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)


def time(value: object) -> Optional[datetime]:
    """Reads an RFC 3339 time with any offset as UTC, truncated to microseconds."""
    match = _RFC3339.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    date, minute, second, fraction, sign, hours, minutes = match.groups()
    try:
        moment = datetime.fromisoformat(f"{date}T{minute}:00+00:00")
        if int(second) > 60 or (sign and (int(hours) > 23 or int(minutes) > 59)):
            return None
        offset = timedelta(hours=int(hours), minutes=int(minutes)) if sign else timedelta()
        # A leap second counts as the first second of the next minute, as in the system clock.
        moment += timedelta(seconds=int(second), microseconds=int((fraction or "0")[:6].ljust(6, "0")))
        return (moment + offset if sign == "-" else moment - offset).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return None
