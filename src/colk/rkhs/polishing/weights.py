"""Polishing: optimal weights for the atoms of a function."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from colk import _stored as stored
from colk._engine.blas_threads import one_blas_thread
from colk._validation import Array, check_count, check_number, check_points
from colk.losses import Loss
from colk.risks import Mean, Risk
from colk.risks.base import shares
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing.block_sums import HeldBlock
from colk.rkhs.polishing.leave_one_out import Choice, choose_regularization, left_out_and_kept
from colk.rkhs.polishing.newton import Search
from colk.rkhs.polishing.span import Solver, Span
from colk.rkhs.polishing.stages import solve

__all__ = ["Polished", "polish", "predict_left_out"]


@stored.stores(
    function=stored.Object(KernelExpansion),
    value=stored.Number(finite=False),
    value_before=stored.Number(finite=False),
    regularization=stored.Number(finite=False),
    gap=stored.Number(finite=False),
    n_steps=stored.Count(),
    converged=stored.Flag(),
    candidates=stored.Array("n_candidates", 2, finite=False),
    n_outliers=stored.Count(),
)
@dataclass(frozen=True)
class Polished:
    """The result of `polish`.

    Attributes
    ----------
    function : KernelExpansion
        The function with its new weights.
    value, value_before : float
        The objective after and before; it never increases, and never exceeds that of f = 0.
    gap : float
        Upper bound on the objective minus its minimum on these atoms; infinite if the objective is
        not convex.
    n_steps : int
        Number of steps of Newton's method.
    converged : bool
        Whether the tolerance was met.
    regularization : float
        λ, given or chosen.
    candidates : tuple of (float, float)
        If λ was chosen: each λ that was tried, and its leave-one-out risk.
    n_outliers : int
        Number of samples that an estimator left out as gross outliers.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> from colk.losses import Squared
    >>> f = KernelExpansion(Linear(), [[1.0]], [0.0])
    >>> found = polish(f, [[1.0], [2.0]], [2.0, 4.0], Squared(), regularization=1e-12)
    >>> found.function.weights.round(6), found.converged, found.value < found.value_before
    (array([2.]), True, True)
    """

    function: KernelExpansion
    value: float
    value_before: float
    regularization: float
    gap: float
    n_steps: int
    converged: bool
    candidates: tuple[tuple[float, float], ...] = ()
    n_outliers: int = 0

    def _to_file(self) -> dict[str, Any]:
        names = ("value", "value_before", "regularization", "gap")
        return {
            "function": self.function,
            **{name: float(getattr(self, name)) for name in names},
            "n_steps": self.n_steps,
            "converged": bool(self.converged),
            "candidates": np.array(self.candidates, dtype=np.float64).reshape(-1, 2),
            "n_outliers": self.n_outliers,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "Polished":
        pairs = tuple((first, second) for first, second in values["candidates"].tolist())
        return cls(**{**values, "candidates": pairs})


# Number of samples used to choose λ: this many per atom, within bounds.
_SAMPLES_PER_ATOM = 2.5
_FEWEST, _MOST = 500, 1000


@one_blas_thread()
def polish(
    function: KernelExpansion,
    X: ArrayLike,
    y: ArrayLike,
    loss: Loss,
    risk: Risk | None = None,
    regularization: float = 1e-6,
    *,
    choose: bool = False,
    sample_weight: ArrayLike | None = None,
    tolerance: float = 1e-4,
    max_steps: int = 100,
    span: Span | None = None,
) -> Polished:
    r"""Minimise the empirical risk plus λ/2 ‖f‖²_H over the weights of a function.

    The atoms do not change. A step of Newton's method takes O(nM²) time for n samples and M atoms,
    and O(M² + n) memory besides a table of kernel values, which is stored if it is small. Kinks of
    losses and of CVaR are smoothed over decreasing widths until the objective is certified to be
    within the tolerance of its minimum.

    Parameters
    ----------
    function : KernelExpansion
        The atoms and the initial weights.
    X : array of shape (n, p)
        Points.
    y : array of shape (n,) or (n, r)
        Targets.
    loss : Loss
        The loss.
    risk : Risk, optional
        `Mean()` by default.
    regularization : float
        λ > 0. Default: 1e-6.
    choose : bool
        Whether to choose λ ≥ `regularization` by the leave-one-out risk, in closed form, of 500 to
        1000 samples. Default: False.
    sample_weight : array of shape (n,), optional
        Weights of the samples.
    tolerance : float
        Accuracy at which to stop. Default: 1e-4. With kinks, and for a convex risk other than the
        mean, it bounds the gap relative to the objective; otherwise the norm of the gradient
        relative to that at f = 0.
    max_steps : int
        Largest number of steps of Newton's method. Default: 100.
    span : Span, optional
        The span of these atoms at these points, if several polishes share it. In this case no
        sample may have the weight 0.

    Returns
    -------
    Polished
        The function with its new weights, and the accuracy of the solution.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Pinball
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(500, 1))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 0] * rng.normal(size=500)
    >>> f = KernelExpansion(Gaussian(0.3), np.linspace(0.0, 1.0, 10)[:, None], np.zeros(10))
    >>> found = polish(f, X, y, Pinball(0.9), regularization=1e-4)
    >>> found.converged, round(float(np.mean(y < found.function(X))), 2)
    (True, 0.9)
    """
    points = check_points(X, function.n_features)
    risk = Mean() if risk is None else risk
    decay = check_number(regularization, "regularization", above=0.0)
    check_number(tolerance, "tolerance", above=0.0)
    check_count(max_steps, "max_steps")
    share = shares(len(points), sample_weight)
    targets = np.asarray(y, dtype=np.float64)
    if (share == 0.0).any():  # drop samples of weight 0
        points, targets, share = (rows[share > 0.0] for rows in (points, targets, share))
    candidates: tuple[tuple[float, float], ...] = ()
    if function.n_atoms == 0:
        value = risk.value_at(loss, function(points), targets, share)
        return Polished(function, value, value, decay, np.inf, 0, False)
    span = Span(function.kernel, points, function.atoms) if span is None else span
    given = start = span.coordinates(function.weights.reshape(function.n_atoms, -1))
    rows, terms = HeldBlock(span, targets, share), (loss, risk)
    factor: Solver | None = None
    if choose:
        choice = _chosen(rows, start, loss, risk, decay)
        decay, candidates, start = choice.regularization, choice.candidates, choice.coordinates
        factor = choice.factor
    search = Search.held(rows, *terms, decay, function.n_outputs)
    before = search.value_at(given)
    first = before if start is given else search.value_at(start)
    if not first <= search.value_at(0.0 * start):
        start, factor = 0.0 * start, None
    found = solve(
        rows, *terms, decay, start, tolerance=tolerance, max_steps=max_steps, factor=factor
    )
    weights = (span.basis @ found.coordinates).reshape(function.weights.shape)
    is_better = found.value < before
    return Polished(
        KernelExpansion(function.kernel, function.atoms, weights) if is_better else function,
        found.value if is_better else before,
        before,
        decay,
        found.gap,
        found.n_steps,
        found.converged,
        candidates,
    )


def _chosen(rows: HeldBlock, start: Array, loss: Loss, risk: Risk, least: float) -> Choice:
    """Choose λ by evenly spaced samples; λ is scaled to the number of all samples."""
    size = min(max(int(_SAMPLES_PER_ATOM * rows.span.rank), _FEWEST), _MOST)
    some = np.unique(np.linspace(0, len(rows.share) - 1, size).astype(int))
    part = float(rows.share[some].sum())
    few = HeldBlock(rows.span.part(some), rows.targets[some], rows.share[some] / part)
    found = choose_regularization(few, loss, risk, least / part, start)
    return Choice(
        found.regularization * part,
        found.coordinates,
        found.factor.with_regularization(found.regularization * part) if found.factor else None,
        tuple((decay * part, risk) for decay, risk in found.candidates),
    )


@one_blas_thread()
def predict_left_out(
    function: KernelExpansion,
    X: ArrayLike,
    y: ArrayLike,
    loss: Loss,
    regularization: float,
    *,
    sample_weight: ArrayLike | None = None,
    span: Span | None = None,
) -> Array:
    """Return leave-one-out predictions of a function that minimises the mean loss.

    They are in closed form, with kinks of the loss smoothed, and exact for the squared loss.

    Parameters
    ----------
    function : KernelExpansion
        A minimiser, such as a result of `polish`.
    X : array of shape (n, p)
        Points.
    y : array of shape (n,) or (n, r)
        Targets.
    loss : Loss
        The loss.
    regularization : float
        λ > 0 of the minimisation.
    sample_weight : array of shape (n,), optional
        Weights of the samples.
    span : Span, optional
        As in `polish`.

    Returns
    -------
    array of shape (n,) or (n, n_outputs)
        In the shape of the predictions of the function.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> from colk.losses import Squared
    >>> X, y = np.ones((3, 1)), np.array([0.0, 3.0, 6.0])
    >>> mean = KernelExpansion(Linear(), np.ones((1, 1)), np.array([3.0]))
    >>> predict_left_out(mean, X, y, Squared(), regularization=1e-12).round(6)
    array([4.5, 3. , 1.5])
    """
    points = check_points(X, function.n_features)
    share = shares(len(points), sample_weight)
    span = Span(function.kernel, points, function.atoms) if span is None else span
    rows = HeldBlock(span, np.asarray(y, dtype=np.float64), share)
    start = span.coordinates(function.weights.reshape(function.n_atoms, -1))
    left_out, kept = left_out_and_kept(rows, loss, regularization, start)
    values = function(points)
    return np.asarray(values + (left_out - kept).reshape(values.shape))
