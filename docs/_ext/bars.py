"""Escape bars in docstrings: |r| means the absolute value, not a substitution."""

import re
from typing import Any

from sphinx.application import Sphinx

# Inline code, or a bar.
CODE_OR_BAR = re.compile(r"`[^`]*`|\|")


def escape_bars(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Escape bars outside of code and examples."""
    example = False
    for i, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            lines[i] = CODE_OR_BAR.sub(lambda found: r"\|" if found[0] == "|" else found[0], line)


def setup(app: Sphinx) -> dict[str, bool]:
    """Run before numpydoc processes the docstrings."""
    app.connect("autodoc-process-docstring", escape_bars, priority=400)
    return {"parallel_read_safe": True}
