"""The part of an encoder that fills gaps and marks them."""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from colk._encoding.dates import seconds_of, years_of
from colk._encoding.gaps import FEWEST_ROWS, MOST_COLUMNS, GapFiller
from colk._encoding.stored import FEW_VALUES
from colk._validation import Array

__all__ = ["MISSING", "GapColumns"]

# Code of a category for a gap.
MISSING = 0.0


class GapColumns:
    """The part of a `TableEncoder` that fills gaps in numbers and dates, and marks them."""

    gaps: list[str]
    n_values: Callable[[str], int]
    _held: Callable[[Array, bool], Array]
    _codes: dict[str, dict[str | None, float]]
    _cycles: dict[str, tuple[str, ...]]
    _typical: dict[str, float]
    _filler: GapFiller | None
    _predictors: dict[str, int]

    @property
    @abstractmethod
    def n_measured(self) -> int:
        """Number of leading columns that are numbers and dates."""

    @property
    @abstractmethod
    def _n_circles(self) -> int:
        """Number of points on circles."""

    @property
    @abstractmethod
    def n_fixed(self) -> int:
        """Number of leading columns: numbers, dates, circles and codes."""

    def meet(self, fixed: Array) -> tuple[Array, Array]:
        """Learn the constant columns and the first gaps of rows; return the rows and their marks.

        Parameters
        ----------
        fixed : array of shape (n, n_fixed)
            Rows with gaps, from `with_gaps`.
        """
        new = [place for place, name in enumerate(self._typical) if name not in self.gaps]
        firsts = [(np.flatnonzero(np.isnan(fixed[:, place]))[:1].tolist(), place) for place in new]
        names = list(self._typical)
        # sorted by the rows of the first gaps, so that parts of a stream of any size are the same
        self.gaps = self.gaps + [names[place] for first, place in sorted(firsts) if first]
        return self._held(fixed, True), self.marks(fixed)

    def seen(self, fixed: Array) -> tuple[Array, Array]:
        """Return new rows, with the known values of constant columns, and their marks.

        Parameters
        ----------
        fixed : array of shape (n, n_fixed)
            Rows with gaps, from `with_gaps`.
        """
        return self._held(fixed, False), self.marks(fixed)

    def find_filler(self, fixed: Array) -> None:
        """Estimate from rows with gaps how the cells of a row depend on each other."""
        counts = {name: self.n_values(name) for name in self._codes}
        self._predictors = {name: n for name, n in counts.items() if 1 < n <= FEW_VALUES}
        n_cells = self.n_measured + 2 * self._n_circles + sum(self._predictors.values())
        cells = self._cells(fixed)
        if 1 < n_cells <= MOST_COLUMNS and len(cells) >= FEWEST_ROWS:
            self._filler = GapFiller.of(cells)

    def settle(self, fixed: Array, means: Array) -> None:
        """Find how later gaps are filled: from the first rows of a stream, or with the means.

        Parameters
        ----------
        fixed : array of shape (n, n_fixed)
            The first rows, with gaps.
        means : array of shape (n_measured,)
            Means of the numbers and dates of encoded rows.
        """
        pairs = zip(self._typical, means.tolist(), strict=True)
        self._typical = {
            name: float(seconds_of(np.array(mean))) if name in self._cycles else mean
            for name, mean in pairs
        }
        self.find_filler(fixed)

    def filled(self, fixed: Array) -> Array:
        """Return rows without gaps, as the filler or the typical values fill them."""
        n_kept = self.n_fixed - len(self._codes)
        return np.column_stack([self._filled(self._cells(fixed)), fixed[:, n_kept:]])

    def marks(self, fixed: Array) -> Array:
        """Return the indicators of gaps of rows, from `with_gaps`."""
        places = {name: place for place, name in enumerate(self._typical)}
        return np.isnan(fixed[:, [places[name] for name in self.gaps]]).astype(np.float64)

    def _cells(self, fixed: Array) -> Array:
        """Return numbers, dates and circles with their gaps, and indicators for the filler."""
        n_kept = self.n_fixed - len(self._codes)
        parts = [fixed[:, :n_kept]]
        for place, name in enumerate(self._codes, n_kept):
            n_values = self._predictors.get(name, 0)
            if n_values:
                codes = fixed[:, [place]]
                indicators = codes == np.arange(1, n_values + 1)
                parts.append(np.where(codes == MISSING, np.nan, indicators))
        return np.column_stack(parts)

    def _filled(self, cells: Array) -> Array:
        """Return numbers, dates and circles without gaps."""
        n_kept = self.n_measured + 2 * self._n_circles
        if self._filler is not None and np.isnan(cells).any():
            return self._filler.filled(cells)[:, :n_kept]
        kept = cells[:, :n_kept]
        return np.where(np.isnan(kept), self.typical_cells, kept)

    @property
    def typical_cells(self) -> Array:
        """The values that fill gaps in numbers, dates and circles without a filler."""
        typical = np.zeros(self.n_measured + 2 * self._n_circles)
        typical[: self.n_measured] = [
            float(years_of(np.array(value))) if name in self._cycles else value
            for name, value in self._typical.items()
        ]
        return typical

    @property
    def filler(self) -> GapFiller | None:
        """What fills gaps from the other cells of a row; None for `typical_cells`."""
        return self._filler

    @property
    def predictors(self) -> dict[int, int]:
        """Places, among the codes, of the categories that the filler uses; numbers of values."""
        counts = [self._predictors.get(name, 0) for name in self._codes]
        return {place: count for place, count in enumerate(counts) if count}

    @property
    def cycles(self) -> dict[str, tuple[str, ...]]:
        """The cycles of each date."""
        return dict(self._cycles)

    @property
    def gap_places(self) -> list[int]:
        """Places, among the columns, of the numbers and dates whose gaps are marked."""
        names = list(self._typical)
        return [names.index(name) for name in self.gaps]
