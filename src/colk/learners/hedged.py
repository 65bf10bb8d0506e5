"""Learners that mix functions of the mean loss and of a risk, and follow the risk if it pays."""

from typing import Any, ClassVar, Unpack

import numpy as np

from colk._engine.hedged_step import HedgedGradientStream, HedgedNewtonStream
from colk._engine.quasigradient import QuasiGradientStream
from colk._engine.risk_companion import TRACKED, count_rows
from colk._engine.window import Window, roles
from colk._validation import Array
from colk.kernels import Kernel
from colk.learners.colk import COLK, KernelLearner
from colk.learners.newton import NewtonCOLK
from colk.learners.parameters import HedgedNewtonSettings, HedgedSettings
from colk.losses import Loss
from colk.risks import Mean, Risk
from colk.trackers import MovingAverage

__all__ = ["HedgedCOLK", "HedgedNewtonCOLK"]


# The functions that a hedged learner mixes.
NAMES = ("mean", "risk", "risk_average", "mean_average")


class _Hedged(KernelLearner):
    """Base of the hedged learners: settings of the companion, and its learned functions."""

    # A sample is the ξ of its own step and the θ of the next, so that pairs overlap.
    pairing = "overlap"
    tracker = MovingAverage()
    risk_step: float

    def _check(self) -> None:
        super()._check()
        if not self.risk.is_of_losses:
            raise ValueError(
                f"{type(self).__name__} needs a risk of losses; {type(self.risk).__name__} is a "
                "risk of predictions, which COLK and NewtonCOLK take"
            )

    def _make_stream(self, width: int, shape: dict[str, int], **common: Any) -> QuasiGradientStream:
        window = common["window"]
        q = window.predictions.shape[1]
        added = count_rows() * q
        fitted = shape["n_fitted"] + added
        alone = Window(1, width, window.targets.shape[1], q, 0)
        return super()._make_stream(
            width,
            {**shape, "n_rows": fitted, "n_fitted": fitted, "block": 1},
            beside=self.risk,
            tracker_beside=self.tracker,
            risk_step=self.risk_step,
            **{**common, "risk": Mean(), "roles": roles("same", 0, 1), "window": alone},
        )

    def _start_inner(self, stream: Any, packed: dict[str, Any], g: Array, losses: Array) -> None:
        """Write the inner value to every function, and the losses as the latest ones."""
        level = float(losses.mean()) if len(losses) else 0.0
        spread = float(np.abs(losses - level).mean()) if len(losses) else 0.0
        tracked = {"g": g, "last": level, "level": level, "spread": spread}
        companion = stream.companion.pack()
        companion |= dict.fromkeys(TRACKED, tracked)
        companion["recent"] = np.resize(losses if len(losses) else 0.0, len(companion["recent"]))
        packed["window"]["g"], packed["companion"] = np.zeros(0), companion

    @property
    def mixture(self) -> dict[str, float]:
        """Weights of the four functions, averaged; empty before the first sample.

        Examples
        --------
        >>> from colk.kernels import Gaussian
        >>> from colk.learners import HedgedCOLK
        >>> learner = HedgedCOLK(Gaussian(1.0)).learn([[0.0]], [1.0])
        >>> {name: round(weight, 2) for name, weight in learner.mixture.items()}
        {'mean': 0.85, 'risk': 0.05, 'risk_average': 0.05, 'mean_average': 0.05}
        """
        state: Any = self._stream
        if state is None:
            return {}
        weights = map(float, state.companion.mixture_weights)
        return dict(zip(NAMES, weights, strict=True))

    @property
    def prequential_risk(self) -> float:
        """The risk of the latest losses, at most 1000, each before its step; NaN before the first.

        Weights of samples are not counted.
        """
        state: Any = self._stream
        if state is None or state.steps == 0:
            return float("nan")
        risk: Any = self.risk
        return float(risk.value(np.array(state.companion.recent)[: state.steps]))

    @property
    def inner_estimate(self) -> Array:
        """The tracked g of the risk's function, of shape (m,)."""
        state: Any = self._stream
        if state is None:
            return np.zeros(self.risk.n_inner)
        return np.array(state.companion.steering.pack()["g"])


class HedgedCOLK(_Hedged, COLK):
    """COLK under a risk, hedged by the mean loss, so that it loses little if the risk does not pay.

    Four functions share one dictionary: "mean", the function of the mean loss, which chooses the
    atoms and makes the steps of `POLK`, bit for bit; "risk", which descends along the risk on these
    atoms; "risk_average" and "mean_average", the averages of both over about the latest 5000
    samples. `predict` uses their mixture. At first the mean's function has the weight 0.85. The
    weights descend along the risk of the mixture at samples before they are learned (exponentiated
    gradient with a fixed share, see References), so that they find the best mixture, not the best
    of the four. Derivatives are measured in units of their own spread, so that a risk of rare
    losses needs more evidence. `mixture` is the average of the weights over about 1000 samples.

    When an atom leaves, the function of the mean is projected on the others. The functions beside
    it are refitted to their values at the atoms, the one that leaves included, by least squares.

    A step takes slightly longer than a step on the mean loss, because there are four more rows of
    weights.

    Parameters
    ----------
    kernel, loss, compressor, averaging, n_outputs, trace
        As in `COLK`.
    risk : Risk
        The risk, of losses.
    step_size, regularization, gradient_bound, implicit
        As in `POLK`, for the mean's function.
    risk_step : float
        Step size of the risk's function, as a share of `step_size`. Default: 1.
    tracking_rate : float or PowerDecay
        β of the tracker of g, in (0, 1]. Default: 0.1. The tracker is a moving average. g of the
        risk's function moves at the rate β/10, after a faster start.

    References
    ----------
    Kivinen, Warmuth, "Exponentiated gradient versus gradient descent for linear predictors",
    Information and Computation, 1997. Herbster, Warmuth, "Tracking the best expert", Machine
    Learning, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.compressors import KOMP
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import HedgedCOLK
    >>> from colk.risks import CVaR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((4000, 1))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 0] * rng.exponential(size=4000)
    >>> learner = HedgedCOLK(Gaussian(0.3), risk=CVaR(0.1), compressor=KOMP(max_atoms=30))
    >>> learner.learn(X, y).mixture["mean"] < 0.5
    True
    """

    stream_type = HedgedGradientStream

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        risk: Risk | None = None,
        **settings: Unpack[HedgedSettings],
    ) -> None:
        self._assign(settings, kernel=kernel, loss=loss, risk=risk)


class HedgedNewtonCOLK(_Hedged, NewtonCOLK):
    """NewtonCOLK under a risk, hedged by the mean loss: `HedgedCOLK` with second-order steps.

    The mean's function makes the steps of `NewtonCOLK` under the mean loss, bit for bit. The risk's
    function makes gradient steps within the span of the atoms. Second-order steps would fit the few
    samples of a tail too closely, and a curvature of its own would be 0 wherever a risk of the tail
    sees no sample.

    Parameters
    ----------
    kernel, loss, prior, forgetting, compressor, trust, restart, n_outputs, trace
        As in `NewtonCOLK`.
    risk, tracking_rate
        As in `HedgedCOLK`.
    risk_step : float
        Step size of the risk's function. Default: 0.05.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import HedgedNewtonCOLK
    >>> from colk.risks import CVaR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((4000, 1))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 0] * rng.exponential(size=4000)
    >>> learner = HedgedNewtonCOLK(Gaussian(0.3), risk=CVaR(0.1)).learn(X, y)
    >>> learner.mixture["mean"] < 0.5
    True
    """

    newton_type = HedgedNewtonStream
    _defaults: ClassVar[dict[str, Any]] = {"risk_step": 0.05}

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        risk: Risk | None = None,
        **settings: Unpack[HedgedNewtonSettings],
    ) -> None:
        self._assign(settings, kernel=kernel, loss=loss, risk=risk)
