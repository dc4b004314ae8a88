"""A string that is not shown by accident."""

from __future__ import annotations

import hmac
from typing import NoReturn, Union


class Secret:
    """A token, code or key. It is not printed, logged, formatted or pickled; only `reveal()` returns its text.

    Python cannot wipe memory. The class protects against accidental output, not against a debugger.
    """

    __slots__ = ("_text",)

    def __init__(self, text: Union[str, Secret]) -> None:
        self._text: str = text if isinstance(text, str) else text._text

    def reveal(self) -> str:
        """Returns the text."""
        return self._text

    def __repr__(self) -> str:
        return "<Secret>"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(_bytes(self._text), _bytes(other._text))

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled: ask the daemon again where it is needed")


def _bytes(text: str) -> bytes:
    # Also of half of a surrogate pair, whose `UnicodeEncodeError` would have the secret.
    return text.encode(errors="surrogatepass")
