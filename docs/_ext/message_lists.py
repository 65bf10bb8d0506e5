"""The directive `{messages}`: list the error messages that a section of troubleshooting covers.

Each line of the directive is a text; a message is listed if it contains one of them. A line such as
`FileFormatError:` covers all messages of that class.
"""

from docutils import nodes
from messages import all_messages, matches
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Messages(SphinxDirective):
    """A collapsed list of messages."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the list."""
        texts = [line for line in self.content if line.strip()]
        lines = sorted({message.line for message in all_messages() if matches(message, texts)})
        opening = f"<details class='messages'><summary>Messages: {len(lines)}</summary>"
        listed = nodes.bullet_list()
        for line in lines:
            listed += nodes.list_item("", nodes.paragraph("", "", nodes.literal("", line)))
        return [
            nodes.raw("", opening, format="html"),
            listed,
            nodes.raw("", "</details>", format="html"),
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("messages", Messages)
    return {"parallel_read_safe": True}
