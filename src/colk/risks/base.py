"""The base class of risks: derivatives on a sample, wherever its rows are."""

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from colk._engine.contracts import RiskContract
from colk._validation import Array, check_vector
from colk.losses import Loss
from colk.losses.base import as_rows
from colk.risks.samples import Bends, HeldSample, Joint, LossPart, LossSample, Slopes, Statistics

Rows = ArrayLike  # (n,) or (n, q)


def shares(n: int, sample_weight: ArrayLike | None) -> Array:
    """Return weights of n samples that sum to 1; equal weights by default."""
    if n == 0:
        raise ValueError("a risk needs at least one sample")
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    weights = check_vector(sample_weight, n, "sample_weight")
    if (weights < 0.0).any() or weights.sum() == 0.0:
        raise ValueError("sample_weight must be at least 0, and not 0 everywhere")
    return weights / weights.sum()


def average(values: Array, weights: Array) -> Array:
    """Return the mean of the rows of `values`, by weights that sum to 1.

    It uses a pairwise sum, which is more accurate than BLAS and does not wake its threads.
    """
    return np.sum((values.T * weights).T, axis=0)


class Risk(RiskContract):
    """A functional of predictions and targets, evaluated on a sample or tracked on a stream.

    A convex and monotone risk is convex in the predictions if the loss is.

    Examples
    --------
    >>> from colk.risks import Risk, Variance
    >>> issubclass(Variance, Risk), Variance(0.5).n_inner
    (True, 1)
    """

    _hooks: ClassVar[tuple[str, ...]] = ()  # a base class, without a formula
    _sealed: ClassVar[tuple[str, ...]] = ("start_at", "track_at_row", "chain_at", "outer_at_row")

    # Name of the parameter that turns the risk into the mean as it goes to 0; "" if there is none.
    _strength: ClassVar[str] = ""

    is_of_losses: ClassVar[bool] = False

    # The call of an estimator that fits under this risk, if a table cannot be fitted under it.
    estimator_call: ClassVar[str] = ""

    needs_groups: ClassVar[bool] = False  # whether it needs the groups of samples
    is_of_pairs: ClassVar[bool] = False  # whether only the order of predictions counts
    # Whether weights are those of a sample if there are many rows.
    keeps_weights_of_sample: ClassVar[bool] = False
    can_grow: ClassVar[bool] = True  # whether a fit may add atoms after the first ones

    # Number of outputs that the risk was made for; None for any.
    n_outputs: ClassVar[int | None] = None

    n_inner = property(lambda self: 0, doc="Number m of tracked values, the size of g.")
    is_convex = property(lambda self: True, doc="Whether the risk is convex in the losses.")
    is_monotone = property(lambda self: True, doc="Whether it never falls when a loss rises.")
    is_smooth = property(lambda self: True, doc="Whether it has a gradient everywhere.")
    is_sum = property(lambda self: False, doc="Whether it is a sum over samples.")
    has_kink = property(lambda self: False, doc="Whether `smoothing` smooths a kink in the losses.")
    starts_from_mean = property(
        lambda self: False, doc="Whether a fit takes atoms and λ from the mean loss."
    )
    takes_short_steps = property(
        lambda self: self.n_inner > 0, doc="Whether some slopes are far larger than for the mean."
    )

    def check_sizes(self, n_outputs: int, n_targets: int) -> None:
        """Raise ValueError if the risk was made for other sizes of predictions and targets."""

    def check_targets(
        self, loss: Loss, X: Array, y: ArrayLike, n_outputs: int | None = None
    ) -> Array:
        """Return what a learner stores with the points X, of shape (n, r): checked targets.

        By default the loss checks them, and there is an output for each column of y.
        """
        columns = np.shape(y)[1] if np.ndim(y) == 2 else 1
        return loss.check_targets(y, n_outputs or max(columns, 1), len(X))

    def check_loss(self, loss: Loss) -> None:
        """Raise ValueError if the risk cannot be used with this loss."""

    def check_stream(self) -> None:
        """Raise ValueError if the risk cannot be learned from a stream."""

    def blended(self, share: float) -> "Risk | None":
        """Return a risk between the mean and this risk, at a share in (0, 1] of the way, or None.

        The weight or the tilt of the risk is multiplied by the share. If the risk has no such
        parameter, the result is None for a share below 1.
        """
        if share == 1.0:
            return self
        if self._strength not in self._fields:
            return None
        strength = share * float(getattr(self, self._strength))
        return self.replace(**{self._strength: strength})

    def softened(self, smoothing: float) -> "Risk":
        """Return the risk with its kink, if it has one, smoothed over at least this width."""
        if not self.has_kink:
            return self
        return self.replace(smoothing=max(smoothing, float(self._parameters()["smoothing"])))

    # -- on a sample, wherever its rows are --------------------------------------------------

    def statistics(self, sample: LossSample) -> Statistics:
        """Return what couples the rows of a sample, and the exact risk."""
        raise NotImplementedError(f"{type(self).__name__} must define the method statistics")

    def slopes(self, found: Statistics, part: LossPart) -> Slopes:
        """Return the first derivatives at some rows."""
        raise NotImplementedError(f"{type(self).__name__} must define the method slopes")

    def joint(self, found: Statistics, sample: LossSample) -> Joint | None:
        """Return how the second derivative couples the rows, or None if it is not known."""
        raise NotImplementedError(f"{type(self).__name__} must define the method joint")

    def bends(self, found: Statistics, part: LossPart, joint: Joint) -> Bends:
        """Return the second derivatives at some rows; with no columns in `joint`, no vectors."""
        raise NotImplementedError(f"{type(self).__name__} must define the method bends")

    def product(self, found: Statistics, part: LossPart, change: Array) -> Array:
        """Return the second derivative of each row times a change (n, q) of its predictions.

        Unlike the diagonal of `bends`, it includes the coupling of the outputs of a row.
        """
        raise NotImplementedError(f"{type(self).__name__} must define the method product")

    # -- on predictions and targets ----------------------------------------------------------

    def estimate_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> Array:
        """Return the exact g of shape (m,) at predictions `f` of targets `y`."""
        return self.statistics(held(f, y, sample_weight)).g

    def value_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> float:
        """Return the exact empirical risk of predictions `f` of targets `y`."""
        return self.statistics(held(f, y, sample_weight)).value

    def gradient_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> Array:
        """Return the gradient of `value_at` in the predictions, in the shape of `f`."""
        return self.value_and_gradient_at(loss, f, y, sample_weight)[1]

    def value_and_gradient_at(
        self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None
    ) -> tuple[float, Array]:
        """Return `value_at` and `gradient_at` together."""
        sample = held(f, y, sample_weight)
        found = self.statistics(sample)
        return found.value, self.slopes(found, sample).slopes.reshape(np.shape(f))


def held(f: Rows, y: Rows, sample_weight: Rows | None) -> HeldSample:
    """Return a sample of predictions and targets in memory."""
    F = as_rows(f, "f")
    Y = as_rows(y, "y", len(F))
    return HeldSample(shares(len(F), sample_weight), predictions=F, targets=Y)
