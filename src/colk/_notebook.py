"""Small HTML tables that show objects in a notebook."""

from collections.abc import Mapping
from html import escape

__all__ = ["facts_table"]


def facts_table(title: str, facts: Mapping[str, object]) -> str:
    """Return HTML with a title and a table of names and values.

    Examples
    --------
    >>> facts_table("f", {"kernel": "a < b"})
    '<b>f</b><table><tr><th>kernel</th><td>a &lt; b</td></tr></table>'
    """
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
        for name, value in facts.items()
    )
    return f"<b>{escape(title)}</b><table>{rows}</table>"
