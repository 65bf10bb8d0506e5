"""Learning from the rows of a table: columns by name, categories, running scales."""

from colk.tabular.model import TableModel

__all__ = ["TableModel"]
