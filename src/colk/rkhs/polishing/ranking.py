"""The polish of `fit` for the area under the ROC curve (AUC)."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from colk._validation import Array
from colk.losses import Loss
from colk.risks import AUC, Mean, Risk
from colk.risks.base import shares
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing.block_sums import HeldBlock
from colk.rkhs.polishing.span import Span
from colk.rkhs.polishing.stages import solve
from colk.rkhs.polishing.weights import Polished, polish

__all__ = ["area_under_roc", "polish_auc"]

# Largest number of samples of each class for the choice of λ and of the model; number of folds.
_MOST_OF_CLASS = 1500
_FOLDS = 5
# The held-out area must grow by more standard errors than this.
_ERRORS = 2.0
# λ in units of one sample of the rarer class.
_STRENGTHS = (128.0, 32.0, 8.0, 2.0, 0.5, 0.12, 0.03)
# Accuracy of the fits of the folds.
_ACCURACY, _STEPS = 1e-3, 50


def area_under_roc(
    scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Return the share of pairs in which the positive sample has the larger score; ties count ½.

    Examples
    --------
    >>> area_under_roc([0.1, 0.4, 0.4, 0.9], [-1.0, -1.0, 1.0, 1.0])
    0.875
    """
    values, is_positive = np.ravel(scores), np.ravel(y) > 0.0
    share = shares(len(values), sample_weight)
    place = np.unique(values, return_inverse=True)[1]
    positive = np.bincount(place, np.where(is_positive, share, 0.0))
    negative = np.bincount(place, np.where(is_positive, 0.0, share))
    below = np.cumsum(negative) - 0.5 * negative
    return float(positive @ below / (positive.sum() * negative.sum()))


def polish_auc(
    mean: Polished,
    X: Array,
    y: Array,
    loss: Loss,
    regularization: float,
    *,
    path: bool = True,
    sample_weight: ArrayLike | None = None,
    tolerance: float = 1e-3,
) -> Polished:
    """Return the weights for the risk `AUC`, or those of the mean loss if they rank as well.

    The chosen λ has the largest area on held-out folds. The model of the mean is kept unless the
    held-out area grows by more than two standard errors.

    Parameters
    ----------
    mean : Polished
        Weights for the mean loss.
    X, y, loss, sample_weight, tolerance
        As in `polish`; the targets are ±1.
    regularization : float
        The least λ > 0.
    path : bool
        Whether the model of the mean may be kept. Default: True.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> from colk.losses import Logistic
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.where(X[:, 0] + rng.normal(size=300) > 2.0, 1.0, -1.0)
    >>> f = KernelExpansion(Linear(), np.eye(2), np.zeros(2))
    >>> mean = polish(f, X, y, Logistic(), regularization=1e-6)
    >>> found = polish_auc(mean, X, y, Logistic(), 1e-6, path=False)
    >>> bool(area_under_roc(found.function(X), y) > 0.85)
    True
    """
    AUC().check_sizes(mean.function.n_outputs, 1)
    folds = _Folds(mean.function, X, np.ravel(y), loss, shares(len(X), sample_weight))
    if len(folds.parts) < 2:
        return mean
    areas = {decay: folds.areas(AUC(), decay) for decay in folds.decays(regularization)}
    best = max(areas, key=lambda decay: float(areas[decay].mean()))
    if path:
        gains = areas[best] - folds.areas(Mean(), mean.regularization)
        if not gains.mean() > _ERRORS * gains.std(ddof=1) / np.sqrt(len(gains)):
            return mean
    found = polish(
        mean.function,
        X,
        y,
        loss,
        AUC(),
        best,
        sample_weight=sample_weight,
        tolerance=tolerance,
    )
    return replace(found, candidates=mean.candidates)


class _Folds:
    """Held-out areas of fits, over folds with equal shares of both classes.

    An atom is a sample, and rare samples are more often atoms than others. A fit that has a
    held-out sample as an atom, but not its label, would put it on the wrong side. Each fold is
    therefore fitted without the atoms among its samples.
    """

    def __init__(
        self, function: KernelExpansion, X: Array, y: Array, loss: Loss, share: Array
    ) -> None:
        rows, folds = _comparison_rows(y, share)
        self.loss, self.y, self.share, self.parts = loss, y[rows], share[rows], []
        for fold in np.unique(folds):
            held = folds == fold
            atoms = _other_atoms(function.atoms, function.kernel.points(X[rows[held]]))
            if len(atoms) > 0:
                self.parts.append((held, Span(function.kernel, X[rows], atoms)))

    def decays(self, least: float) -> list[float]:
        """Return the λ to try, in units of a sample of the rarer class."""
        positive = np.where(self.y > 0.0, self.share, 0.0)
        heaviest = max(
            float(np.sum(weights**2)) / float(weights.sum()) ** 2
            for weights in (positive, self.share - positive)
        )
        one = 2.0 * heaviest * self.parts[0][1].size
        return list(dict.fromkeys(max(least, strength * one) for strength in _STRENGTHS))

    def areas(self, risk: Risk, decay: float) -> Array:
        """Return the areas of the folds, each predicted by a fit without it."""
        areas = []
        for held, span in self.parts:
            weights = self.share[~held] / self.share[~held].sum()
            rows = HeldBlock(span.part(~held), self.y[~held], weights)
            terms = self.loss, risk, decay, np.zeros((span.rank, 1))
            found = solve(rows, *terms, tolerance=_ACCURACY, max_steps=_STEPS)
            scores = span.part(held).predict(found.coordinates)
            areas.append(area_under_roc(scores, self.y[held], self.share[held]))
        return np.array(areas)


def _other_atoms(atoms: Array, points: Array) -> Array:
    """Return the atoms that are not among these points."""
    left_out = {point.tobytes() for point in np.ascontiguousarray(points)}
    return atoms[[atom.tobytes() not in left_out for atom in np.ascontiguousarray(atoms)]]


def _comparison_rows(y: Array, share: Array) -> tuple[Array, Array]:
    """Return rows, evenly spaced in both classes, and the fold of each."""
    classes = [np.flatnonzero(side & (share > 0.0)) for side in (y > 0.0, y <= 0.0)]
    n_folds = min(_FOLDS, *(len(each) for each in classes))
    if n_folds < 2:
        return np.zeros(0, int), np.zeros(0, int)
    rows, folds = [], []
    for each in classes:
        size = min(len(each), _MOST_OF_CLASS)
        rows.append(each[np.linspace(0, len(each) - 1, size).astype(int)])
        folds.append(np.arange(size) % n_folds)
    return np.concatenate(rows), np.concatenate(folds)
