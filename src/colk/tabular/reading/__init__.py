"""Tables in files and pipes, read in batches of bounded memory: CSV, Parquet, JSON lines, LIBSVM.

Rows that cannot be used are told apart from the others, with their line and a reason.
"""

try:
    import pyarrow  # noqa: F401  # to say what to install where it is missing
except ImportError as error:
    raise ImportError("colk.tabular.reading needs pyarrow: pip install 'colk[data]'") from error

from colk.tabular.reading.rows import Columns, Position, Reject, Rows
from colk.tabular.reading.source import FORMATS, Source, format_of, listed

__all__ = ["FORMATS", "Columns", "Position", "Reject", "Rows", "Source", "format_of", "listed"]
