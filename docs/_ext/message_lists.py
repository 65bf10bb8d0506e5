"""`{messages}` lists, below a cure on the page of troubleshooting, the messages that it is for.

In it are texts of which a message has one. A class of this package stands for all of its messages,
written `FileFormatError:`.
"""

from docutils import nodes
from messages import all_messages, matches
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Messages(SphinxDirective):
    """The messages of a family, in a list that unfolds."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Write the list."""
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
    """Enter the directive."""
    app.add_directive("messages", Messages)
    return {"parallel_read_safe": True}
