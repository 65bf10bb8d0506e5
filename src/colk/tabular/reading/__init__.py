"""Read tables in batches, in bounded memory: CSV, Parquet, JSON lines and LIBSVM.

Unusable rows are reported separately, with their line and a reason.
"""

try:
    import pyarrow  # noqa: F401  # fails with advice if it is not installed
except ImportError as error:
    raise ImportError("colk.tabular.reading needs pyarrow: pip install 'colk[data]'") from error

from colk.tabular.reading.prefix import Prefix
from colk.tabular.reading.rows import Columns, Position, Reject, RowBatch
from colk.tabular.reading.source import FORMATS, Source, format_of, listed

__all__ = [
    "FORMATS",
    "Columns",
    "Position",
    "Prefix",
    "Reject",
    "RowBatch",
    "Source",
    "format_of",
    "listed",
]
