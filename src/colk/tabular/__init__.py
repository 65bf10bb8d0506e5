"""Models for tables with named columns; `colk.tabular.reading` reads tables from files."""

from typing import TYPE_CHECKING

from colk._lazy import lazy_attributes

if TYPE_CHECKING:
    from colk._encoding.columns import Column
    from colk._encoding.encoder import TableEncoder
    from colk.tabular.model import TableModel

__all__ = ["Column", "TableEncoder", "TableModel"]

__getattr__ = lazy_attributes(
    "colk.tabular",
    {
        "Column": "colk._encoding.columns",
        "TableEncoder": "colk._encoding.encoder",
        "TableModel": "colk.tabular.model",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
