"""Risks of pairs of samples: the area under the ROC curve as an objective."""

import numpy as np

from colk._engine.contracts import TrackerContract
from colk._validation import Array
from colk.losses import Loss
from colk.losses.base import as_rows
from colk.risks.base import Risk, Rows, average, shares

# On a stream, the share of the positive class moves by this times the tracking rate.
_SLOWER = 0.01


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
    >>> AUC().value_at(Logistic(), f, y)  # the mean of (1 − 0.5 − 1)² and (1 − 0 − 1)²
    0.125
    """

    _fields = ()
    n_inner = property(lambda self: 3)

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

    def outer_at_row(self, F: Array, Y: Array, theta: int, g: Array, work: Array) -> float:
        f, apart = F[theta, 0], 1.0 - g[1] + g[2]
        if Y[theta, 0] > 0.0:
            return ((f - g[1]) ** 2 - 2.0 * apart * f) / g[0] + apart * (2.0 - apart)
        return ((f - g[2]) ** 2 + 2.0 * apart * f) / (1.0 - g[0]) + apart * (2.0 - apart)

    # -- on a sample -------------------------------------------------------------------------

    def estimate_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> Array:
        values, of_positive, of_negative, share = _classes(f, y, sample_weight)
        return np.array([share, average(values, of_positive), average(values, of_negative)])

    def value_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> float:
        values, of_positive, of_negative, _ = _classes(f, y, sample_weight)
        above, below = average(values, of_positive), average(values, of_negative)
        spread = average((values - above) ** 2, of_positive)
        spread += average((values - below) ** 2, of_negative)
        return float(spread + (1.0 - above + below) ** 2)

    def gradient_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> Array:
        values, of_positive, of_negative, _ = _classes(f, y, sample_weight)
        above, below = average(values, of_positive), average(values, of_negative)
        slopes = of_positive * (values - 1.0 - below) + of_negative * (values + 1.0 - above)
        return np.asarray(2.0 * slopes).reshape(np.shape(f))

    def second_derivative_at(
        self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None
    ) -> tuple[Array, Array, Array]:
        _, positive, negative, _ = _classes(f, y, sample_weight)
        both, apart = positive + negative, positive - negative
        return 2.0 * both, np.column_stack([both, apart]), np.array([-1.0, 1.0])


def _classes(f: Rows, y: Rows, sample_weight: Rows | None) -> tuple[Array, Array, Array, float]:
    """Return predictions (n,), weights within each class, and the share of the positive class."""
    F = as_rows(f, "f")
    Y = as_rows(y, "y", len(F))
    AUC().check_sizes(F.shape[1], Y.shape[1])
    values, is_positive = F[:, 0], Y[:, 0] > 0.0
    weights = shares(len(values), sample_weight)
    share = float(weights[is_positive].sum())
    if not 0.0 < share < 1.0:
        raise ValueError("the risk AUC needs samples of both classes, with weights above 0")
    positive, negative = np.where(is_positive, weights, 0.0), np.where(is_positive, 0.0, weights)
    return values, positive / share, negative / negative.sum(), share
