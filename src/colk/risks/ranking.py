"""Risks of pairs of samples: the area under the ROC curve as an objective."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from colk._engine.c_types import ConstMatrix, ConstVector, Vector
from colk._engine.contracts import TrackerContract
from colk._validation import Array
from colk.losses import Loss
from colk.risks.base import Risk
from colk.risks.samples import Bends, Joint, LossPart, LossSample, Slopes, Statistics

# On a stream, the share of the positive class moves by this times the tracking rate.
_SLOWER: float = 0.01


class AUC(Risk):
    """E (1 − f(x₊) + f(x₋))² over pairs of a positive and a negative sample.

    A small value means a large area under the ROC curve (AUC): the probability that f ranks a
    positive sample above a negative one. With the means a = E[f | +] and b = E[f | −] it is

        Var[f | +] + Var[f | −] + (1 − a + b)²,

    a composition of predictions and targets ±1, so no pairs are formed. The loss is not used.
    Convex. g is (p, a, b), where p is the share of the positive class. The variances are least at a
    and b, and (1 − a + b)² is the largest 2d(1 − a + b) − d², so that a and b are stationary and do
    not enter the gradient. On a stream, a moves by positive samples only and b by negative ones. p
    starts at ½ and is tracked at 1/100 of the tracking rate, because a rare class has few samples.

    References
    ----------
    Y. Ying, L. Wen and S. Lyu, "Stochastic online AUC maximization", NeurIPS 2016.

    Examples
    --------
    >>> from colk.losses import Logistic
    >>> f, y = [0.5, 0.0, -1.0], [1.0, 1.0, -1.0]
    >>> round(AUC().value_at(Logistic(), f, y), 12)  # the mean of (1 − 0.5 − 1)² and (1 − 0 − 1)²
    0.125
    """

    _fields = ()
    estimator_call = "COLKClassifier(risk='auc').fit(X, y)"
    n_inner = property(lambda self: 3)
    starts_from_mean = True
    is_of_pairs: ClassVar[bool] = True
    keeps_weights_of_sample: ClassVar[bool] = True
    can_grow: ClassVar[bool] = False

    def check_sizes(self, n_outputs: int, n_targets: int) -> None:
        if n_outputs != 1 or n_targets != 1:
            raise ValueError("the risk AUC is for two classes, with one output and targets ±1")

    def check_loss(self, loss: Loss) -> None:
        if loss.kind != "binary":
            raise ValueError(
                "the risk AUC is for classifiers of two classes, with a loss such as 'logistic'"
            )

    # -- on a stream -------------------------------------------------------------------------

    def start_at(self, F: Array, Y: Array, xi: int, g: Array) -> int:
        g[0] = 0.5
        g[1] = F[xi, 0] if Y[xi, 0] > 0.0 else 0.0
        g[2] = 0.0 if Y[xi, 0] > 0.0 else F[xi, 0]
        return 0

    def track_at_row(
        self, F: Array, before: Array, Y: Array, xi: int, g: Array, tracker: TrackerContract,
        rate: float, work: Array,
    ) -> int:  # fmt: skip
        if rate >= 1.0:
            return self.start_at(F, Y, xi, g)
        if Y[xi, 0] > 0.0:
            g[0] += _SLOWER * rate * (1.0 - g[0])
            g[1] = tracker.update(g[1], before[xi, 0], F[xi, 0], rate)
        else:
            g[0] -= _SLOWER * rate * g[0]
            g[2] = tracker.update(g[2], before[xi, 0], F[xi, 0], rate)
        return 0

    def chain_at(
        self, F: Array, Y: Array, theta: int, xi: int, g: Array, slopes: Array, work: Array
    ) -> int:
        """c_θ = 2(f − 1 − b)/p for a positive sample, 2(f + 1 − a)/(1 − p) for a negative one."""
        if Y[theta, 0] > 0.0:
            slopes[0, 0] = 2.0 * (F[theta, 0] - 1.0 - g[2]) / g[0]
        else:
            slopes[0, 0] = 2.0 * (F[theta, 0] + 1.0 - g[1]) / (1.0 - g[0])
        slopes[1, 0] = 0.0
        return 0

    # cdef
    def outer_at_row(
        self, F: ConstMatrix, Y: ConstMatrix, theta: int, g: ConstVector, work: Vector
    ) -> float:
        f, apart = F[theta, 0], 1.0 - g[1] + g[2]  # type: float, float
        if Y[theta, 0] > 0.0:
            return ((f - g[1]) ** 2 - 2.0 * apart * f) / g[0] + apart * (2.0 - apart)
        return ((f - g[2]) ** 2 + 2.0 * apart * f) / (1.0 - g[0]) + apart * (2.0 - apart)

    # -- on a sample -------------------------------------------------------------------------

    def statistics(self, sample: LossSample) -> Statistics:
        positive, above, below = sample.total(_class_sums)
        if not 0.0 < positive < 1.0:
            raise ValueError("the risk AUC needs samples of both classes, with weights above 0")
        g = np.array([positive, above / positive, below / (1.0 - positive)])
        spread = float(sample.total(_spread, g)[0])
        value = spread + float(1.0 - g[1] + g[2]) ** 2
        return Statistics(value, g, np.zeros(3), np.abs(g))

    def slopes(self, found: Statistics, part: LossPart) -> Slopes:
        f, is_positive, within = _within(part, found.g)
        _, above, below = found.g
        values = within * (f - np.where(is_positive, above, below)) ** 2
        slopes = 2.0 * within * (f + np.where(is_positive, -1.0 - below, 1.0 - above))
        return Slopes(values, np.zeros(len(f)), slopes[:, None])

    def joint(self, found: Statistics, sample: LossSample) -> Joint:
        return Joint(np.arange(2), 2, np.eye(2), np.array([-1.0, 1.0]))

    def bends(self, found: Statistics, part: LossPart, joint: Joint) -> Bends:
        _, is_positive, within = _within(part, found.g)
        vectors = np.column_stack([within, np.where(is_positive, within, -within)])
        return Bends(2.0 * within[:, None], vectors[:, : len(joint.columns), None])

    def product(self, found: Statistics, part: LossPart, change: Array) -> Array:
        return np.asarray(2.0 * _within(part, found.g)[2][:, None] * change)


def _within(part: LossPart, g: Array) -> tuple[Array, NDArray[np.bool_], Array]:
    """Return predictions (n,), which are of the positive class, and weights within the classes."""
    is_positive = _are_positive(part)
    within = part.share / np.where(is_positive, g[0], 1.0 - g[0])
    return part.predictions[:, 0], is_positive, within


def _are_positive(part: LossPart) -> NDArray[np.bool_]:
    F, Y = part.predictions, part.targets.reshape(len(part.share), -1)
    AUC().check_sizes(F.shape[1], Y.shape[1])
    return np.asarray(Y[:, 0] > 0.0)


def _class_sums(part: LossPart) -> tuple[float, float, float]:
    """Return the share of the positive class, and the sums of f in both classes."""
    is_positive, weighted = _are_positive(part), part.share * part.predictions[:, 0]
    sums = part.share[is_positive], weighted[is_positive], weighted[~is_positive]
    positive, above, below = (float(each.sum()) for each in sums)
    return positive, above, below


def _spread(part: LossPart, g: Array) -> tuple[float]:
    """Return the sum of the variances of f within the classes."""
    f, is_positive, within = _within(part, g)
    return (float(np.sum(within * (f - np.where(is_positive, g[1], g[2])) ** 2)),)
