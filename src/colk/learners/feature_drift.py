"""Means of features over blocks of samples, and which of them changed."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._validation import Array

__all__ = ["FeatureMeans"]

# A feature has changed if its mean differs by this many standard errors. Fewer blocks before do not
# show how large its blocks vary.
CLEAR, FEWEST = 5.0, 30


@stored.stores(
    names=stored.ListOf(stored.Anything(), size="n_names"),
    block=stored.Array(2, "n_names"),
    blocks=stored.Array("n_blocks", 2, "n_names"),
)
class FeatureMeans:
    """Sums and counts of features over blocks of samples.

    Examples
    --------
    >>> means = FeatureMeans()
    >>> for t in range(100):
    ...     means.add({"a": t % 2, "b": 4.0 * (t >= 80) + t % 3})
    ...     if t % 2 == 1:
    ...         means.close_block()
    >>> list(means.changed(10))
    ['b']
    """

    def __init__(self) -> None:
        self._names: list[Hashable] = []
        self._known: set[Hashable] = set()
        self._block = np.zeros((2, 0))  # sums and counts
        self._blocks: list[Array] = []

    def add(self, features: Mapping[Any, float]) -> None:
        """Add a sample; NaN and features that are missing do not count.

        Parameters
        ----------
        features : dict
            Numbers by name.
        """
        self._admit(features)
        values = np.array([features.get(name, math.nan) for name in self._names], dtype=np.float64)
        known = np.isfinite(values)
        self._block += np.where(known, values, 0.0), known

    def add_sums(self, names: Sequence[Hashable], sums: Array) -> None:
        """Add samples of one block.

        Parameters
        ----------
        names : sequence
            The features.
        sums : array of shape (2, p)
            Sum and count of each feature.
        """
        self._admit(names)
        places = [self._names.index(name) for name in names]
        self._block[:, places] += sums

    def _admit(self, names: Iterable[Hashable]) -> None:
        new = [name for name in names if name not in self._known]
        if new:
            self._names = self._names + new
            self._known = set(self._names)
            self._block = self._widened(self._block)

    def _widened(self, block: Array) -> Array:
        """Return a block with a column for each name."""
        return np.pad(block, ((0, 0), (0, len(self._names) - block.shape[1])))

    def close_block(self) -> None:
        """Keep the sums of a block."""
        if self._names:
            self._blocks.append(self._block)
            self._block = np.zeros_like(self._block)

    def keep(self, n_blocks: int) -> None:
        """Drop the oldest blocks.

        Parameters
        ----------
        n_blocks : int
            Blocks that stay.
        """
        del self._blocks[: max(len(self._blocks) - n_blocks, 0)]

    def changed(self, window: int) -> dict[Hashable, float]:
        """Return the features whose means changed, and by how many standard deviations of a sample.

        Parameters
        ----------
        window : int
            The latest blocks, which are compared with those before.
        """
        if len(self._blocks) <= window + FEWEST:
            return {}
        sums, counts = self._sums().transpose(1, 0, 2)
        old, new = slice(None, -window), slice(-window, None)
        n_old, n_new = (np.maximum(counts[part].sum(axis=0), 1e-12) for part in (old, new))
        before, after = sums[old].sum(axis=0) / n_old, sums[new].sum(axis=0) / n_new
        # The blocks vary by the variance of a sample times the samples in them.
        spread = np.sqrt(((sums[old] - counts[old] * before) ** 2).sum(axis=0) / n_old) + 1e-12
        gaps = (after - before) / spread
        clear = (np.abs(gaps) > CLEAR / np.sqrt(n_new)) & (n_old > FEWEST)
        order = np.argsort(-np.abs(gaps))
        return {self._names[k]: float(gaps[k]) for k in order if clear[k]}

    def _sums(self) -> Array:
        """Return the sums and counts of all blocks."""
        blocks = [self._widened(block) for block in self._blocks]
        return np.array(blocks).reshape(len(blocks), *self._block.shape)

    def _to_file(self) -> dict[str, Any]:
        return {"names": self._names, "block": self._block, "blocks": self._sums()}

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "FeatureMeans":
        means = cls()
        means._names, means._block = values["names"], values["block"].copy()
        means._known = set(means._names)
        means._blocks = list(values["blocks"])
        return means
