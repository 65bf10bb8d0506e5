"""Code on the pages leads to the pages of its names, and blocks end with their last line."""

import re
from importlib import import_module
from pathlib import Path

from docutils import nodes
from inventory import public_modules
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

# A name alone, or a call.
NAME = re.compile(r"([A-Za-z_][\w.]*)(\([^()]*\))?")
# A cell of a table that is broken nowhere: a number, two with an arrow or a deviation.
NUMBERS = re.compile(r"[-+−±→%×.,\d e]+")
# Of two classes of one name the one for scikit-learn is meant.
LATER = "colk.river"


def homes() -> dict[str, str]:
    """Public names and modules, as they are written in a sentence, and in full."""
    found = {}
    for module in sorted(public_modules()[1:], key=lambda name: name == LATER):
        found[module] = module
        for name in import_module(module).__all__:
            found.setdefault(name, f"{module}.{name}")
            found[f"{module}.{name}"] = f"{module}.{name}"
    return found


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Make references of code that is a public name and stands in a sentence."""
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
    """Drop the empty line that doctest wants at the end of a block."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext()
        if block.rawsource == text and text.startswith(">>>"):
            block.rawsource = text.rstrip()
            block.children = [nodes.Text(block.rawsource)]


def keep_numbers(app: Sphinx, doctree: nodes.document) -> None:
    """Mark the cells that hold numbers."""
    for cell in doctree.findall(nodes.entry):
        if NUMBERS.fullmatch(cell.astext()):
            cell["classes"].append("number")


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page once it is read."""
    app.connect("doctree-read", link_names)
    app.connect("doctree-read", end_blocks)
    app.connect("doctree-read", keep_numbers)
    return {"parallel_read_safe": True}
