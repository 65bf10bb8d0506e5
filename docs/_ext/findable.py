"""Leave pages of measurements out of the search; only their titles are found."""

from docutils import nodes
from sphinx.application import Sphinx

PAGES = ("tables/", "defaults", "pairing")


def leave_out(app: Sphinx, _: nodes.document) -> None:
    """Mark a page that was read, if it has measurements."""
    if app.env.docname.startswith(PAGES):
        app.env.metadata[app.env.docname]["nosearch"] = True


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("doctree-read", leave_out)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
