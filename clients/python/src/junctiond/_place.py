"""The path of the daemon's socket."""

from __future__ import annotations

import os
import re
from typing import Optional

from ._errors import InvalidSocketPath

# The size of sun_path in sockaddr_un, without the terminating zero.
LONGEST = 107
# The name becomes a part of a path.
ALLOWED = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,64}")
RULE = "the name of an instance has 1 to 64 letters (a-z, A-Z), digits, '-', '_' and '.', and does not begin with '.'"


def socket_path(explicit: Optional[str] = None, instance: Optional[str] = None) -> str:
    """Returns the path by the first of: the given path, the given instance, `$JUNCTIOND_SOCKET`, `$JUNCTIOND_INSTANCE`,
    the instance `junctiond`."""
    if explicit is not None and instance is not None:
        raise InvalidSocketPath("name the socket or the instance, not both")
    if explicit is None and instance is None:
        explicit = os.environ.get("JUNCTIOND_SOCKET") or None
    if explicit is None:
        explicit = _of(os.environ.get("JUNCTIOND_INSTANCE") or "junctiond" if instance is None else instance)
    try:
        length = len(os.fsencode(explicit))
    except UnicodeEncodeError:
        raise InvalidSocketPath(f"{explicit!r} cannot be a socket: it has half of a surrogate pair") from None
    if not 1 <= length <= LONGEST or "\0" in explicit:
        raise InvalidSocketPath(f"{explicit!r} cannot be a socket: its path has to have 1 to {LONGEST} bytes")
    return explicit


def _of(instance: str) -> str:
    if ALLOWED.fullmatch(instance) is None:
        raise InvalidSocketPath(RULE)
    directory = os.environ.get("XDG_RUNTIME_DIR")
    if directory:
        path = f"{directory}/junctiond/{instance}.sock"
        if os.path.exists(path):
            return path
    return f"/run/junctiond/{instance}.sock"
