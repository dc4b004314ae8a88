"""One connection to the daemon. Nothing here blocks.

The synchronous client waits with `poll`, the asynchronous one in its event loop; `wants_to_write` says whether to wait
for writability. Then they call `flush` and `receive`.
"""

from __future__ import annotations

import errno
import os
import socket
from collections import deque
from collections.abc import Iterator
from typing import Optional

from ._calls import Call, T
from ._errors import ConnectionLost, DaemonUnreachable, JunctionError, LocalFailure, PermissionDenied
from ._lines import LineSplitter
from ._messages import Message, RequestId, error_line, messages, request_line, result_line

# The most bytes that one `receive` reads before it handles them, so that a burst of snapshots becomes one.
_AT_ONCE = 1 << 20


class _End(socket.socket):
    """One end of a connection. Its destructor closes it, so an app need not close a client."""

    def __del__(self) -> None:
        self.close()


class Channel:
    """A socket and the messages that are sent over it."""

    def __init__(self, end: _End) -> None:
        self._end = end
        self._lines = LineSplitter()
        self._last_id = 0
        # Lines that are not sent yet, in order, each with the id of its call.
        self._outgoing: deque[tuple[Optional[int], memoryview]] = deque()
        self._process = os.getpid()
        #: Sending failed. The daemon may still have sent answers.
        self.is_refused = False
        self.is_closed = False

    @classmethod
    def connect(cls, path: str) -> Optional[Channel]:
        """Connects. Returns `None` if the daemon's backlog is full: the kernel offers no way to wait for space."""
        try:
            end = _End(socket.AF_UNIX, socket.SOCK_STREAM)
        except OSError as error:
            raise LocalFailure(f"this program cannot have a socket: {os.strerror(error.errno or 0)}") from None
        try:
            end.setblocking(False)
            end.connect(path)
        except BlockingIOError:
            end.close()
            return None
        except OSError as error:
            end.close()
            raise _unreachable(path, error) from None
        except BaseException:
            end.close()
            raise
        return cls(end)

    def fileno(self) -> int:
        return self._end.fileno()

    @property
    def is_usable(self) -> bool:
        """Whether calls can be made. False in a child that this process has forked."""
        return not self.is_closed and not self.is_refused and not self.is_inherited

    @property
    def is_inherited(self) -> bool:
        """Whether the connection belongs to the parent process. A child must not use it."""
        return self._process != os.getpid()

    @property
    def wants_to_write(self) -> bool:
        return bool(self._outgoing)

    def close(self) -> None:
        self.is_closed = True
        self._outgoing.clear()
        self._end.close()

    # Sending.

    def ask(self, call: Call[T]) -> int:
        """Queues a call and returns its id."""
        line = request_line(self._last_id + 1, call.method, call.params)
        self._last_id += 1
        self._outgoing.append((self._last_id, memoryview(line)))
        return self._last_id

    def answer(self, id: RequestId, result: object) -> None:
        """Queues the answer to a question of the daemon."""
        self._outgoing.append((None, memoryview(result_line(id, result))))

    def refuse(self, id: RequestId, code: int, message: str) -> None:
        """Queues an error as the answer to a question."""
        self._outgoing.append((None, memoryview(error_line(id, code, message))))

    def flush(self) -> list[int]:
        """Sends as much as the socket accepts. Returns the ids of the calls that the daemon did not receive completely."""
        while self._outgoing and not self.is_inherited:
            id, line = self._outgoing[0]
            try:
                sent = self._end.send(line, socket.MSG_NOSIGNAL)
            except (BlockingIOError, InterruptedError):
                return []
            except OSError:
                # Earlier requests may still be answered. A request that was sent partly never will be.
                self.is_refused = True
                lost = [id for id, _ in self._outgoing if id is not None]
                self._outgoing.clear()
                return lost
            if sent < len(line):
                self._outgoing[0] = (id, line[sent:])
            else:
                self._outgoing.popleft()
        return []

    # Receiving.

    def receive(self) -> Iterator[Message]:
        """Yields the received messages. Raises an error at the end of the connection and at an unreadable message."""
        if self.is_inherited:
            raise ConnectionLost("the connection belongs to the parent process")
        received = 0
        while received < _AT_ONCE:
            try:
                data = self._end.recv(1 << 16)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                data = b""
            if not data:
                if received == 0:
                    raise ConnectionLost("the daemon closed the connection before it answered")
                break
            self._lines.feed(data)
            received += len(data)
        for line in self._lines.lines():
            yield from messages(line)


def not_taken() -> JunctionError:
    """Returns the error of a call that the daemon did not receive completely."""
    error = ConnectionLost("the daemon closed the connection before it took the request")
    error.was_not_taken = True
    return error


def _unreachable(path: str, error: OSError) -> JunctionError:
    if error.errno in (errno.EACCES, errno.EPERM):
        return PermissionDenied(f"this user may not open the socket {path}")
    if error.errno == errno.ENOENT:
        return DaemonUnreachable(f"there is no socket {path}")
    if error.errno == errno.ECONNREFUSED:
        return DaemonUnreachable(f"nobody listens on the socket {path}")
    return DaemonUnreachable(f"cannot connect to {path}: {os.strerror(error.errno or 0)}")
