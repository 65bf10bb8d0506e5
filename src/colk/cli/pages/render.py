"""HTML pages from Jinja2 templates.

A page is one file. It loads nothing from elsewhere and follows the reader's light or dark mode.
"""

import re
from functools import cache
from typing import Any

from colk._extras import needed_for
from colk.cli.pages.colors import DARK, FAINT, PALETTE

with needed_for("an HTML page", extra="cli"):
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

__all__ = ["Markup", "inline", "render", "templates"]


@cache
def templates(*packages: str) -> Environment:
    """Return the templates of packages, which may extend those of this one.

    Parameters
    ----------
    *packages : str
        Packages with a folder `templates`.

    Examples
    --------
    >>> "base.html.j2" in templates().list_templates()
    True
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, __package__)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"light": PALETTE, "dark": DARK}
    return environment


def render(template: str, **values: Any) -> str:
    """Fill a template of the folder `templates`.

    Parameters
    ----------
    template : str
        Its file name without `.html.j2`: such as "model" or "watch".
    **values
        The variables of the template. Text is escaped; `markupsafe.Markup` is not.

    Examples
    --------
    >>> empty = {"summary": {}, "figures": [], "worst": None, "rejects": [], "settings": {}}
    >>> empty |= {"relevance": [], "directions": [], "form": None}
    >>> page = render("model", title="a < b", **empty)
    >>> "<h1>a &lt; b</h1>" in page
    True
    """
    return templates().get_template(f"{template}.html.j2").render(**values)


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
