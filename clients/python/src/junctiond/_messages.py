"""JSON-RPC 2.0: writes and reads lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Optional, Union

from ._errors import InvalidParams, JunctionError, RequestTooLarge, UnreadableAnswer, error_from_wire
from ._lines import LONGEST_REQUEST
from ._members import as_list, as_object

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

# Error codes that a client answers with.
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INVALID_CREDENTIAL = 1002

RequestId = Union[str, int, float, None]


@dataclass(frozen=True)
class Answer:
    """An answer to the request with this id."""

    id: int
    #: The result, or an error.
    outcome: object


@dataclass(frozen=True)
class Complaint:
    """An error without an id, such as too many connections or a line that is too long."""

    error: JunctionError


@dataclass(frozen=True)
class Notification:
    """A notification of the daemon."""

    method: str
    params: object


@dataclass(frozen=True)
class Question:
    """A request of the daemon."""

    id: RequestId
    method: str
    params: object


Message = Union[Answer, Complaint, Notification, Question]


# Reading.


def messages(line: bytes) -> Iterator[Message]:
    """Yields the messages of a line: one, or several in an array."""
    value = _parsed(line)
    for message in as_list(value) or [value]:
        found = _sorted(message)
        if found is not None:
            yield found


def _parsed(line: bytes) -> object:
    try:
        text = line.decode()
        value: object = json.loads(text, parse_constant=_no_constant)
        if _HALF_A_PAIR.search(text):
            # An escape may write half of a surrogate pair, which is not valid text.
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except (ValueError, RecursionError) as error:
        # The message does not contain the line, which may hold a secret.
        raise UnreadableAnswer(f"the daemon's answer cannot be read: {type(error).__name__}") from None


_HALF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _sorted(value: object) -> Optional[Message]:
    message = as_object(value)
    if message is None:
        raise UnreadableAnswer("the daemon's answer cannot be read: a message is an object")
    id = message.get("id")
    method = message.get("method")
    if method is None and ("result" in message or "error" in message):
        return _answer(message, id)
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str) or not _is_id(id):
        raise UnreadableAnswer("the daemon's answer cannot be read: it is no JSON-RPC 2.0 message")
    params = message.get("params")
    return Question(id, method, params) if "id" in message else Notification(method, params)


def _is_id(value: object) -> TypeGuard[RequestId]:
    return value is None or (isinstance(value, (str, int, float)) and not isinstance(value, bool))


def _answer(value: dict[str, object], id: object) -> Union[Answer, Complaint, None]:
    error = value.get("error")
    outcome = value.get("result") if error is None and "result" in value else error_from_wire(error)
    if isinstance(id, int) and not isinstance(id, bool):
        return Answer(id, outcome)
    # A result without an integer id is ignored.
    return Complaint(outcome) if isinstance(outcome, JunctionError) else None


# Writing.


def request_line(id: int, method: str, params: Mapping[str, object]) -> bytes:
    """Returns the line of a request."""
    return _line({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def result_line(id: RequestId, result: object) -> bytes:
    """Returns the line of a result."""
    return _line({"jsonrpc": "2.0", "id": id, "result": result})


def error_line(id: RequestId, code: int, message: str) -> bytes:
    """Returns the line of an error."""
    return _line({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})


def _line(message: Mapping[str, object]) -> bytes:
    line = _encoded(message)
    # The daemon would answer a longer line with an error without an id, and close the connection.
    if len(line) > LONGEST_REQUEST:
        raise RequestTooLarge(f"the request or the answer is longer than {LONGEST_REQUEST} bytes, which is what the daemon accepts")
    return line + b"\n"


def _encoded(message: Mapping[str, object]) -> bytes:
    try:
        return json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        why = "a text has half of a surrogate pair, which is not valid Unicode"
    except (TypeError, ValueError, RecursionError) as error:
        why = str(error)
    # Outside the blocks, so that it is not chained to a `UnicodeEncodeError`, which has the whole text: that may be a secret.
    raise InvalidParams(f"the request or the answer cannot be sent: {why}")
