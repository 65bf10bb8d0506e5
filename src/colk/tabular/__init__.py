"""Models for tables with named columns; `colk.tabular.reading` reads tables from files."""

from typing import TYPE_CHECKING

from colk._lazy import lazy_attributes

if TYPE_CHECKING:
    from colk.tabular.columns import Column
    from colk.tabular.encoder import TableEncoder
    from colk.tabular.model import TableModel

__all__ = ["Column", "TableEncoder", "TableModel"]

__getattr__ = lazy_attributes(
    "colk.tabular",
    {
        "Column": "colk.tabular.columns",
        "TableEncoder": "colk.tabular.encoder",
        "TableModel": "colk.tabular.model",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
