"""The members of an object from the wire, taken by name; what does not fit is refused with that name."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Callable, Optional, TypeVar, cast

T = TypeVar("T")


class Mismatch(Exception):
    """A value from the wire that is not what its place takes."""


def as_object(value: object) -> Optional[dict[str, object]]:
    """A JSON object."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def as_list(value: object) -> Optional[list[object]]:
    """A JSON array."""
    return cast("list[object]", value) if isinstance(value, list) else None


class Members:
    """An object. Members that nobody asks for are passed over: a newer daemon may say more than we know.

    An optional member that is `null` counts as absent.
    """

    def __init__(self, value: object, place: str) -> None:
        found = as_object(value)
        if found is None:
            raise Mismatch(f"'{place}' must be an object")
        self.object = found
        self._place = place

    def required(self, name: str, read: Callable[[object], Optional[T]]) -> T:
        """A member that has to be there."""
        value = self.optional(name, read)
        if value is None:
            raise Mismatch(f"'{self._place}.{name}' is missing")
        return value

    def optional(self, name: str, read: Callable[[object], Optional[T]]) -> Optional[T]:
        """A member that may be absent or `null`."""
        value = self.object.get(name)
        if value is None:
            return None
        found = read(value)
        if found is None:
            raise Mismatch(f"'{self._place}.{name}' cannot be read")
        return found


# What a member can be; each returns nothing for what it cannot read.


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
    """A time of RFC 3339 in any offset, as UTC; what is finer than a microsecond is cut off."""
    match = _RFC3339.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    date, minute, second, fraction, sign, hours, minutes = match.groups()
    try:
        moment = datetime.fromisoformat(f"{date}T{minute}:00+00:00")
        if int(second) > 60 or (sign and (int(hours) > 23 or int(minutes) > 59)):
            return None
        offset = timedelta(hours=int(hours), minutes=int(minutes)) if sign else timedelta()
        # A leap second is the first second of the next minute, as it is for the system clock.
        moment += timedelta(seconds=int(second), microseconds=int((fraction or "0")[:6].ljust(6, "0")))
        return (moment + offset if sign == "-" else moment - offset).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return None
