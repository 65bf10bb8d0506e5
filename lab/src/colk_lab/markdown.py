"""Tables of results in Markdown."""

from collections.abc import Sequence

__all__ = ["table"]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, without a newline at its end.

    Examples
    --------
    >>> print(table(["peer", "error"], [["colk", "0.1"]]))
    | peer | error |
    | --- | --- |
    | colk | 0.1 |
    """
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
