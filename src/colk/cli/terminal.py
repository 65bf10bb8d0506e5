"""Show text on the terminal: no name or value of a table can send it a code."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["beneath", "plain_output", "shown"]

# Control characters but tab and newline, marks that reverse the order of text or end a line, and
# halves of characters, which cannot be encoded.
_CODES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: str) -> str:
    r"""Return a text in which characters that a terminal would obey are written as escapes.

    Examples
    --------
    >>> shown("a\x1b[31mred")
    'a\\x1b[31mred'
    """
    return _CODES.sub(lambda found: ascii(found[0])[1:-1], text)


class _PlainStream:
    """A stream of text that writes control characters as escapes."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text; return its length."""
        self.stream.write(shown(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def plain_output() -> Iterator[None]:
    """Return a context in which standard output and standard error obey no codes.

    Bytes that are written to `sys.stdout.buffer` are not changed.
    """
    before: Any = sys.stdout, sys.stderr
    plain: Any = [None if stream is None else _PlainStream(stream) for stream in before]
    sys.stdout, sys.stderr = plain
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def beneath(stream: Any) -> Any:
    """Return the stream that obeys codes, for a line of progress without names and values."""
    return stream.stream if isinstance(stream, _PlainStream) else stream
