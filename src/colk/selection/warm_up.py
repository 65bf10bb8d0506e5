"""The first samples of a stream, kept until there are enough of them to choose a kernel."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._validation import Array
from colk.errors import FileFormatError

__all__ = ["WARM_UP", "KeptSamples"]

# Number of samples by which a stream chooses its kernel.
WARM_UP = 500


@stored.stores(
    points=stored.Optional(
        stored.Array(
            stored.Size("n_samples", at_least=1, at_most=WARM_UP - 1),
            stored.Size("n_features", at_least=1),
        )
    ),
    targets=stored.Optional(
        stored.Either(stored.Array("n_samples"), stored.Array("n_samples", "n_targets"))
    ),
    weights=stored.Optional(stored.Array("n_samples", at_least=0.0)),
)
@dataclass(frozen=True, eq=False)
class KeptSamples:
    """The first samples of a stream; an immutable object.

    Parameters
    ----------
    parts : tuple of tuples of arrays
        Points, targets and weights of each part of the stream.
    count : int
        Number of samples.

    Examples
    --------
    >>> kept = KeptSamples().including(np.zeros((3, 1)), np.zeros(3), np.ones(3))
    >>> kept = kept.including(np.ones((2, 2)), np.ones(2), np.ones(2))
    >>> kept.lacking, kept.arrays()[0].shape
    (495, (5, 2))
    """

    parts: tuple[tuple[Array, Array, Array], ...] = ()
    count: int = 0

    def _to_file(self) -> dict[str, Any]:
        arrays = self.arrays() if self.count else (None, None, None)
        return dict(zip(("points", "targets", "weights"), arrays, strict=True))

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "KeptSamples":
        points, targets, weights = values["points"], values["targets"], values["weights"]
        if points is None and targets is None and weights is None:
            return cls()
        if points is None or targets is None or weights is None:
            raise FileFormatError("kept samples must have points, targets and weights")
        return cls().including(points, targets, weights)

    @property
    def lacking(self) -> int:
        """Number of samples that are still missing."""
        return max(WARM_UP - self.count, 0)

    def including(self, X: Array, Y: Array, weight: Array) -> "KeptSamples":
        """Return these samples and more.

        Parameters
        ----------
        X, Y, weight : arrays
            Samples; X may have more features than the samples before.
        """
        part = (X.copy(), Y.copy(), weight.copy())
        return KeptSamples((*self.parts, part), self.count + len(X))

    def arrays(self) -> tuple[Array, Array, Array]:
        """Return all points, targets and weights; a feature is 0 before it appeared."""
        width = max(X.shape[1] for X, _, _ in self.parts)
        points = [np.pad(X, ((0, 0), (0, width - X.shape[1]))) for X, _, _ in self.parts]
        targets, weights = ([part[i] for part in self.parts] for i in (1, 2))
        return np.concatenate(points), np.concatenate(targets), np.concatenate(weights)
