"""Relevance of features: their rates by marginal likelihood.

The rate of a feature is 1/length, and 0 if the feature does not matter. With many features, the
search drops those whose rates are small. It adds features again if their values, squares or
products with other features are correlated with the residuals.
"""

from dataclasses import dataclass

import numpy as np

from colk._validation import Array
from colk.selection.left_out_losses import RaceSamples
from colk.selection.marginal_likelihood import MarginalLikelihood, Process
from colk.selection.rate_distances import Places

__all__ = ["MOST_ROWS", "RelevanceSearch", "as_laplacian", "rows_for_relevance"]

# Number of samples for the search; it is larger with more than _MANY features. With at most _FEW
# features, blocks are small and no feature is dropped.
_FEW, _MANY = 12, 40
_ROWS, _ROWS_FOR_MANY = 500, 1000
_BLOCK, _BLOCK_FOR_MORE = 165, 250

# Largest number of samples in a race, for the comparison and for the search.
MOST_ROWS = 2000

# Iterations of the first search, of the search with the remaining features, of a search with
# features that were added again, and of a search that starts from a result on other samples.
_FIRST, _SECOND, _AGAIN, _REFINED = 15, 10, 15, 8
_ROUNDS = 3

# Features are dropped if their rates are below this share of the largest rate, or of 1 if that is
# less. The second share applies after the remaining features have been fitted.
_SMALL, _NOTHING = 0.15, 0.02

# Smallest rate of a feature in a kernel, as a share of the largest.
_LEAST = 1e-3

# At most _TAKEN_BACK features are added again at a time. They start with the share _START of the
# largest rate. Their correlation must exceed the value expected by chance by _MARGIN standard
# errors.
_TAKEN_BACK, _START, _MARGIN = 10, 0.3, 0.5

# The Laplacian compares all pairs along each feature, so its rates are searched for at most this
# many features.
_MOST_OF_LAPLACIAN = 30


def rows_for_relevance(n_features: int) -> int:
    """Return how many samples the search should have.

    Examples
    --------
    >>> rows_for_relevance(10), rows_for_relevance(100)
    (500, 1000)
    """
    return _ROWS if n_features <= _MANY else _ROWS_FOR_MANY


def as_laplacian(rates: Array) -> Array:
    """Return rates with which L1 distances are about as large as Euclidean ones with `rates`.

    Examples
    --------
    >>> as_laplacian(np.array([1.0, 0.0, 1.0, 2.0, 2.0]))
    array([0.5, 0. , 0.5, 1. , 1. ])
    """
    return np.asarray(rates / np.sqrt(max(int(np.count_nonzero(rates)), 1)))


@dataclass(frozen=True, eq=False)
class RelevanceSearch:
    """Finds the rates of the features on given samples.

    Parameters
    ----------
    samples : RaceSamples
        Samples.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> samples = RaceSamples(X, np.sin(2.0 * X[:, :1]), np.ones(200), are_labels=False)
    >>> rates = RelevanceSearch(samples).rates()
    >>> bool(rates[0] > 20.0 * rates[1])
    True
    """

    samples: RaceSamples

    def rates(self) -> Array:
        """Return the rates for Euclidean distances, in the units of the features, of shape (p,)."""
        varies = self.samples.spread > 0.0
        if not varies.any():
            return np.zeros(len(varies))
        likelihood = self._likelihood(is_l1=False)
        features = np.flatnonzero(varies)
        equal = np.full(len(features), 1.0 / (np.sqrt(0.5 * len(features)) + 0.5))
        process = likelihood.minimise(features, Process(equal, 1.0, 0.1), _FIRST)
        if len(features) > _FEW:
            features, process = self._selected(likelihood, features, process)
        return self._in_units(features, process)

    def laplacian_rates(self, start: Array, n_iterations: int = _FIRST) -> Array:
        """Return the rates for L1 distances.

        Parameters
        ----------
        start : array of shape (p,)
            Rates for L1 distances to begin with.
        n_iterations : int
            Largest number of iterations.
        """
        features = np.flatnonzero((start > 0.0) & (self.samples.spread > 0.0))
        if not 0 < len(features) <= _MOST_OF_LAPLACIAN:
            return start
        process = Process(start[features] * self.samples.spread[features], 1.0, 0.1)
        process = self._likelihood(is_l1=True).minimise(features, process, n_iterations)
        return self._in_units(features, process)

    def refined(self, rates: Array, is_l1: bool) -> Array:
        """Refine rates that were found on other samples, by a few iterations on these.

        Parameters
        ----------
        rates : array of shape (p,)
            The rates; those that are 0 stay 0.
        is_l1 : bool
            Whether they are for L1 distances.
        """
        if is_l1:
            return self.laplacian_rates(rates, _REFINED)
        features = np.flatnonzero((rates > 0.0) & (self.samples.spread > 0.0))
        process = Process(rates[features] * self.samples.spread[features], 1.0, 0.1)
        process = self._likelihood(is_l1=False).minimise(features, process, _REFINED)
        return self._in_units(features, process)

    def _likelihood(self, is_l1: bool) -> MarginalLikelihood:
        samples = self.samples
        spread = np.where(samples.spread > 0.0, samples.spread, 1.0)
        centre = samples.X.mean(axis=0)
        centre[list(samples.categorical)] = 0.0
        X = samples.X - centre
        Y = samples.Y - samples.Y.mean(axis=0)
        size = Y.std(axis=0)
        return MarginalLikelihood(
            X / spread,
            Y / np.where(size > 0.0, size, 1.0),
            samples.weight,
            is_l1,
            samples.categorical,
            _BLOCK if X.shape[1] <= _FEW else _BLOCK_FOR_MORE,
        )

    def _in_units(self, features: Places, process: Process) -> Array:
        rates = np.zeros(len(self.samples.spread))
        shares = np.maximum(process.rates, _LEAST * process.rates.max())
        rates[features] = shares / self.samples.spread[features]
        return rates

    # -- many features -----------------------------------------------------------------------

    def _selected(
        self, likelihood: MarginalLikelihood, features: Places, process: Process
    ) -> tuple[Places, Process]:
        """Drop the features that do not matter, and add those again that do."""
        everything = features
        features, process = self._without_small(features, process, _SMALL)
        # The features that are gone had explained a part of the noise.
        process = process._replace(noise=max(process.noise, 0.1))
        process = likelihood.minimise(features, process, _SECOND)
        for _ in range(_ROUNDS):
            features, process = self._without_small(features, process, _NOTHING)
            gone = np.setdiff1d(everything, features)
            residuals = likelihood.left_out(features, process)
            found = _correlated(likelihood.X, residuals, features, gone)
            if not len(found):
                break
            begin = np.full(len(found), _START * min(process.rates.max(), 1.0))
            features = np.append(features, found)
            process = process._replace(rates=np.append(process.rates, begin))
            process = likelihood.minimise(features, process, _AGAIN)
        return features, process

    def _without_small(
        self, features: Places, process: Process, share: float
    ) -> tuple[Places, Process]:
        """Drop features with small rates; keep categories, because they cannot be added again."""
        least = share * min(process.rates.max(), 1.0)
        kept = (process.rates > least) | np.isin(features, self.samples.categorical)
        return features[kept], process._replace(rates=process.rates[kept])


def _correlated(X: Array, residuals: Array, features: Places, gone: Places) -> Places:
    """Return the features that explain residuals: alone, or in a product with one that is kept.

    A feature is returned if the residuals, or their products with a kept feature, correlate with it
    or with its square by more than the largest correlation that is expected by chance.
    """
    if not len(gone):
        return gone
    n = len(X)
    values = np.clip(X[:, gone], -3.0, 3.0)
    bases = [_standardised(values), _standardised(values * values)]
    factors = np.column_stack([np.ones(n), np.clip(X[:, features], -3.0, 3.0)])
    largest = np.zeros(len(gone))
    for residual in residuals.T:
        products = _standardised(residual[:, None] * factors, centred=False)
        for basis in bases:
            largest = np.maximum(largest, np.abs(products.T @ basis).max(axis=0) / np.sqrt(n))
    n_tests = len(bases) * len(gone) * factors.shape[1] * residuals.shape[1]
    least = np.sqrt(2.0 * np.log(n_tests)) + _MARGIN
    order = np.argsort(-largest)[:_TAKEN_BACK]
    return np.asarray(gone[order[largest[order] > least]])


def _standardised(columns: Array, centred: bool = True) -> Array:
    if centred:
        columns = columns - columns.mean(axis=0)
    size = np.sqrt((columns * columns).mean(axis=0))
    return np.asarray(columns / np.where(size > 0.0, size, 1.0))
