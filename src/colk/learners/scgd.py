"""SCGD: stochastic compositional gradient descent on fixed features, plain and accelerated."""

from typing import Any, ClassVar

from colk.averaging import Averaging
from colk.learners.featured import FeatureLearner
from colk.learners.parametric import ExtrapolatingStream, FeatureStream
from colk.losses import Loss
from colk.pairing import Pairing
from colk.risks import Risk
from colk.schedules import Rate
from colk.trackers import Extrapolation, MovingAverage, Tracker

__all__ = ["SCGD", "AcceleratedSCGD"]


class SCGD(FeatureLearner):
    """Stochastic compositional gradient descent: two time scales, a moving average of g.

    g ← (1 − β)g + β·inner(ℓ(f(x_ξ), y_ξ)); w ← (1 − αλ)w − α(c φ(x_θ) + c' φ(x_ξ)), with the
    coefficients c and c' of `COLK` at the fresh g.

    Parameters
    ----------
    features : FeatureMap or fitted transformer
        φ: `RBFNetwork`, `RandomFourierFeatures`, or any fitted scikit-learn transformer.
    loss : Loss
        The loss ℓ.
    risk : Risk
        How losses are put together.
    step_size, tracking_rate : float or PowerDecay
        α and β. For its rates the theory lets them fall as t^(−3/4) and t^(−1/2); the accelerated
        method's as t^(−5/7) and t^(−4/7).
    regularization : float
        λ of λ/2‖w‖².
    pairing, gradient_bound, averaging, batch_size, n_outputs, trace
        As in `COLK`.

    References
    ----------
    Wang, Fang, Liu, "Stochastic compositional gradient descent: algorithms for minimizing
    compositions of expected-value functions", Mathematical Programming 161, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.features import RBFNetwork
    >>> from colk.learners import SCGD
    >>> from colk.losses import Huber
    >>> from colk.risks import Variance
    >>> X = np.random.default_rng(0).random((4000, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> learner = SCGD(RBFNetwork(50, 0.06), Huber(1.0), Variance(0.1)).learn(X, y)
    >>> learner.n_components, bool(np.abs(learner.predict(X) - y).mean() < 0.05)
    (50, True)
    """

    _tracker: ClassVar[Tracker] = MovingAverage()

    def __init__(
        self,
        features: Any,
        loss: Loss | None = None,
        risk: Risk | None = None,
        step_size: Rate = 0.1,
        tracking_rate: Rate = 0.1,
        regularization: float = 1e-6,
        pairing: Pairing = "independent",
        gradient_bound: float = 10.0,
        averaging: Averaging | None = None,
        batch_size: int = 1,
        n_outputs: int | None = None,
        trace: bool = False,
    ) -> None:
        super().__init__(
            features,
            loss=loss,
            risk=risk,
            step_size=step_size,
            tracking_rate=tracking_rate,
            regularization=regularization,
            tracker=self._tracker,
            pairing=pairing,
            gradient_bound=gradient_bound,
            averaging=averaging,
            batch_size=batch_size,
            n_outputs=n_outputs,
            trace=trace,
        )


class AcceleratedSCGD(SCGD):
    """SCGD that tracks g at an extrapolated point, which takes the lag out of the average.

    g ← (1 − β)g + β·inner at w_{t−1} + (w_t − w_{t−1})/β: the points that g averages then have w_t
    itself as their mean, so that a moving w costs no bias of first order.

    Parameters
    ----------
    features, loss, risk, step_size, tracking_rate, regularization, pairing, gradient_bound
        As in `SCGD`.
    averaging, batch_size, n_outputs, trace
        As in `SCGD`.

    References
    ----------
    Wang, Fang, Liu, "Stochastic compositional gradient descent: algorithms for minimizing
    compositions of expected-value functions", Mathematical Programming 161, 2017, algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.features import RBFNetwork
    >>> from colk.learners import AcceleratedSCGD
    >>> from colk.risks import Variance
    >>> X = np.random.default_rng(0).random((4000, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> learner = AcceleratedSCGD(RBFNetwork(50, 0.06), risk=Variance(0.1)).learn(X, y)
    >>> bool(np.abs(learner.predict(X) - y).mean() < 0.05)
    True
    """

    _tracker: ClassVar[Tracker] = Extrapolation()
    _stream_type: ClassVar[type[FeatureStream]] = ExtrapolatingStream
