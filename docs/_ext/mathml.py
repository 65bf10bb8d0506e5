"""Render mathematics as MathML. Browsers display it without scripts and without downloads."""

from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx

# Separates the lines of a formula.
LINES = r"\\"


def visit_math(writer: Any, node: nodes.math) -> None:
    """Write an inline formula."""
    writer.body.append(str(latex2mathml.tex2mathml(node.astext())))
    raise nodes.SkipNode


def visit_display(writer: Any, node: nodes.math_block) -> None:
    """Write a displayed formula."""
    text = node.astext()
    if LINES in text and r"\begin" not in text:
        text = rf"\begin{{align}}{text}\end{{align}}"
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(str(latex2mathml.tex2mathml(text, as_block=True)))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_display, None))
    return {"parallel_read_safe": True}
