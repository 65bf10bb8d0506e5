"""HTML pages from Jinja2 templates.

A page is one file. It loads nothing from elsewhere and follows the reader's light or dark mode.
"""

import re
from functools import cache
from typing import Any

from colk._extras import needed_for
from colk._pages.colors import DARK, FAINT, PALETTE
from colk._pages.formulas import typeset

with needed_for("an HTML page", extra="cli"):
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

__all__ = ["inline", "render"]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("colk._pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["typeset"] = typeset
    environment.globals |= {"light": PALETTE, "dark": DARK}
    return environment


def render(template: str, **values: Any) -> str:
    """Fill a template of the folder `templates`.

    Parameters
    ----------
    template : str
        Its file name without `.html.j2`: such as "report" or "model".
    **values
        The variables of the template. Text is escaped; `markupsafe.Markup` is not.

    Examples
    --------
    >>> empty = {"summary": {}, "figures": [], "worst": None, "rejects": [], "settings": {}}
    >>> empty["relevance"] = []
    >>> page = render("model", title="a < b", **empty)
    >>> "<h1>a &lt; b</h1>" in page
    True
    """
    return _environment().get_template(f"{template}.html.j2").render(**values)


def inline(picture: bytes, name: str, title: str) -> Markup:
    """Make an SVG image part of a page.

    Its colours become the page's variables, so that they follow light and dark mode. Its ids get
    a prefix, because several images share one page.

    Parameters
    ----------
    picture : bytes
        The SVG file that matplotlib wrote.
    name : str
        Prefix of the ids.
    title : str
        Description for screen readers.
    """
    text = picture.decode()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.S)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", text)
    for color, value in {**PALETTE, "faint": FAINT, "paper": "#ffffff"}.items():
        text = text.replace(value.lower(), f"var(--{color})")
    head = f'<svg role="img" aria-label="{escape(title)}" '
    return Markup(text.replace("<svg ", head, 1).strip())
