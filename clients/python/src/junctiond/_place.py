"""The path of the daemon's socket."""

from __future__ import annotations

import os
from typing import Optional

from ._errors import InvalidSocketPath

# The size of sun_path in sockaddr_un, without the terminating zero.
LONGEST = 107


def socket_path(explicit: Optional[str] = None) -> str:
    """Returns the explicit path, or else the one from the environment, or else that of the system service."""
    if explicit is None:
        explicit = os.environ.get("JUNCTIOND_SOCKET") or _of_the_session() or "/run/junctiond/junctiond.sock"
    length = len(os.fsencode(explicit))
    if not 1 <= length <= LONGEST or "\0" in explicit:
        raise InvalidSocketPath(f"{explicit!r} cannot be a socket: its path has to have 1 to {LONGEST} bytes")
    return explicit


def _of_the_session() -> Optional[str]:
    directory = os.environ.get("XDG_RUNTIME_DIR")
    if not directory:
        return None
    path = f"{directory}/junctiond/junctiond.sock"
    return path if os.path.exists(path) else None
