"""Real streams that come with River and colk, and real tables read as streams."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from river import datasets

from colk.data import load_bike_rentals
from colk_lab.data.classification import CLASSIFICATION_SETS
from colk_lab.data.regression import REGRESSION_SETS
from colk_lab.data.sets import check_part, part_of

__all__ = ["STREAMS", "RealStream"]

Sample = tuple[dict[str, Any], Any]
# Targets that a series has behind the next one.
_LAGS = 12


@dataclass(frozen=True)
class RealStream:
    """A real stream.

    Parameters
    ----------
    name : str
        Its name.
    read : callable
        Returns all samples for a seed.
    rows : int
        Number of samples.
    is_classifier : bool, default=False
        Whether the targets are labels.
    chosen : str, default=""
        The rule of colk that was chosen on it. Default: none.
    note : str, default=""
        A fact that a reader must know.
    is_drawn : bool, default=False
        Whether the order depends on the seed.
    source : str, default="river"
        The package that has it.
    family : str, default=name
        A name that data with the same rows share.

    Examples
    --------
    >>> from colk_lab.data import STREAMS
    >>> len(list(STREAMS["Bananas"].samples(0, 100)))
    100
    """

    name: str
    read: Callable[[int], Iterator[Sample]]
    rows: int
    is_classifier: bool = False
    chosen: str = ""
    note: str = ""
    is_drawn: bool = False
    source: str = "river"
    family: str = ""

    @property
    def part(self) -> str:
        """Return "development" or "final"."""
        return part_of(self.family or self.name, self.chosen)

    def samples(self, seed: int, size: int) -> list[Sample]:
        """Return the first samples; a final stream needs a final run."""
        check_part(self.name, self.part)
        return list(islice(self.read(seed), size))


def _of(name: str) -> Callable[[int], Iterator[Sample]]:
    return lambda seed: iter(getattr(datasets, name)())


def _series(name: str) -> Callable[[int], Iterator[Sample]]:
    """Read a series of numbers; the features are its latest values."""

    def read(seed: int) -> Iterator[Sample]:
        values = [float(y) for _, y in getattr(datasets, name)()]
        for k in range(_LAGS, len(values)):
            yield {f"lag {j}": values[k - j] for j in range(1, _LAGS + 1)}, values[k]

    return read


def _flares(seed: int) -> Iterator[Sample]:
    for x, y in _of("SolarFlare")(seed):
        yield x, float(y["c-class-flares"])


def _bikes(seed: int) -> Iterator[Sample]:
    yield from load_bike_rentals()


def _table(name: str, *, is_drawn: bool) -> RealStream:
    """Read a table as a stream, in the order of its rows or in a drawn order."""
    known = {**REGRESSION_SETS, **CLASSIFICATION_SETS}[name]

    def read(seed: int) -> Iterator[Sample]:
        X, y = known.load()
        order = np.arange(len(y))
        if is_drawn:
            order = np.random.default_rng([seed, *name.encode()]).permutation(order)
        columns = list(X.columns)
        rows = X.to_numpy(dtype=object)
        for k in order:
            # A missing category is NaN, which is not a text.
            cells = [None if value != value else value for value in rows[k]]
            yield dict(zip(columns, cells, strict=True)), y[k].item()

    order = "in a drawn order" if is_drawn else "in the order of the file"
    return RealStream(
        f"{name}, {'drawn' if is_drawn else 'as it comes'}",
        read,
        known.rows,
        known.task == "classification",
        known.chosen,
        f"The rows of the table {name}, {order}.",
        is_drawn,
        known.source,
        known.family or name,
    )


_COMPARED = "defaults of the classes for River"
_ALL = (
    RealStream("TrumpApproval", _of("TrumpApproval"), 1001, chosen=_COMPARED),
    RealStream("ChickWeights", _of("ChickWeights"), 578, chosen=_COMPARED),
    RealStream("bike rentals", _bikes, 8645, chosen=_COMPARED, source="colk"),
    RealStream("AirlinePassengers", _series("AirlinePassengers"), 132, note="Twelve lags."),
    RealStream("WaterFlow", _series("WaterFlow"), 1256, note="Twelve lags."),
    RealStream("SP500Stocks", _of("SP500Stocks"), 1257, note="Ten stocks of the same day."),
    RealStream("SolarFlare", _flares, 1066, note="The number of flares of class C."),
    _table("abalone", is_drawn=True),
    _table("winequality_white", is_drawn=False),
    _table("electrical_grid_stability", is_drawn=True),
    _table("ccpp", is_drawn=True),
    _table("skillcraft1", is_drawn=False),
    _table("casp", is_drawn=True),
    RealStream("Bananas", _of("Bananas"), 5300, True, chosen=_COMPARED),
    RealStream("Phishing", _of("Phishing"), 1250, True, chosen=_COMPARED),
    RealStream("ImageSegments", _of("ImageSegments"), 2310, True, chosen=_COMPARED),
    RealStream("Shuttle", _of("Shuttle"), 49097, True),
    _table("nursery", is_drawn=False),
    _table("kr-vs-k", is_drawn=False),
    _table("page-blocks", is_drawn=True),
    _table("letter", is_drawn=True),
    _table("satimage", is_drawn=False),
    _table("magic", is_drawn=True),
    _table("mushroom", is_drawn=True),
    _table("yeast", is_drawn=True),
)

STREAMS = {each.name: each for each in _ALL}
