"""Link names in code to their API pages, trim code blocks, and mark cells with numbers."""

import re
from importlib import import_module
from pathlib import Path

from docutils import nodes
from inventory import names_in, public_modules
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

# A name, or a call.
NAME = re.compile(r"([A-Za-z_][\w.]*)(\([^()]*\))?")
# A table cell that must not wrap: a number, or two numbers with an arrow or a ±.
NUMBERS = re.compile(r"[-+−±→%×.,\d e]+")
# Two classes may share a name; the name then links to the one for scikit-learn.
LATER = "colk.river"


def homes() -> dict[str, str]:
    """Return a dict from each name as written in a text to its full name."""
    found = {}
    for module in sorted(public_modules()[1:], key=lambda name: name == LATER):
        found[module] = module
        for name in names_in(import_module(module)):
            found.setdefault(name, f"{module}.{name}")
            found[f"{module}.{name}"] = f"{module}.{name}"
    return found


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Link inline code that is a public name to its API page."""
    page = app.env.docname
    if Path(app.env.doc2path(page)).suffix == ".md":
        names = homes()
        for literal in list(doctree.findall(nodes.literal)):
            name = NAME.fullmatch(literal.astext())
            above = literal.parent
            if not name or name[1] not in names or isinstance(above, nodes.reference | nodes.title):
                continue
            link = pending_xref(
                "", refdoc=page, refdomain="py", reftype="obj", reftarget=names[name[1]]
            )
            above.replace(literal, link)
            link += literal


def end_blocks(app: Sphinx, doctree: nodes.document) -> None:
    """Drop the empty line that doctest needs at the end of a code block."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext()
        if block.rawsource == text and text.startswith(">>>"):
            block.rawsource = text.rstrip()
            block.children = [nodes.Text(block.rawsource)]


def keep_numbers(app: Sphinx, doctree: nodes.document) -> None:
    """Add the class `number` to table cells that hold only numbers."""
    for cell in doctree.findall(nodes.entry):
        if NUMBERS.fullmatch(cell.astext()):
            cell["classes"].append("number")


def setup(app: Sphinx) -> dict[str, bool]:
    """Process every page after it is parsed."""
    app.connect("doctree-read", link_names)
    app.connect("doctree-read", end_blocks)
    app.connect("doctree-read", keep_numbers)
    return {"parallel_read_safe": True}
