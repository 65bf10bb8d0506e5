"""NASA: nested averaged stochastic approximation on fixed features."""

from typing import Any

from colk._validation import check_number
from colk.averaging import Averaging
from colk.dictionary import Dictionary
from colk.learners.featured import FeatureLearner
from colk.learners.parametric import NestedStream
from colk.losses import Loss
from colk.pairing import Pairing
from colk.quasigradient import QuasiGradientStream
from colk.risks import Risk
from colk.schedules import Rate

__all__ = ["NASA"]


class NASA(FeatureLearner):
    """Nested averaged stochastic approximation: one time scale, averages of g and of the gradient.

    w ← w − (τ/β)z; then, at the new w and in Jacobi's order,
    z ← (1 − aτ)z + aτ(c φ(x_θ) + c' φ(x_ξ) + λw) with the coefficients of `COLK` at the *old* g,
    and g ← (1 − bτ)g + bτ·inner. The first g is that of the first sample, the first z is 0. There
    is no constraint on w.

    Parameters
    ----------
    features : FeatureMap or fitted transformer
        φ: `RBFNetwork`, `RandomFourierFeatures`, or any fitted scikit-learn transformer.
    loss : Loss
        The loss ℓ.
    risk : Risk
        How losses are put together.
    step_size : float or PowerDecay
        τ, in (0, 1]; t^(−1/2) in the paper.
    proximity : float
        β > 0: w moves by τ/β of the averaged gradient.
    gradient_gain, tracking_gain : float
        a and b, with aτ ≤ 1 and bτ ≤ 1.
    regularization : float
        λ of λ/2‖w‖².
    pairing, gradient_bound, averaging, batch_size, n_outputs, trace
        As in `COLK`.

    References
    ----------
    Ghadimi, Ruszczyński, Wang, "A single time-scale stochastic approximation method for nested
    stochastic optimization", arXiv 1812.01094.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.features import RBFNetwork
    >>> from colk.learners import NASA
    >>> from colk.risks import Variance
    >>> X = np.random.default_rng(0).random((4000, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> learner = NASA(RBFNetwork(50, 0.06), risk=Variance(0.1)).learn(X, y)
    >>> bool(np.abs(learner.predict(X) - y).mean() < 0.05)
    True
    """

    def __init__(
        self,
        features: Any,
        loss: Loss | None = None,
        risk: Risk | None = None,
        step_size: Rate = 0.1,
        proximity: float = 1.0,
        gradient_gain: float = 5.0,
        tracking_gain: float = 1.0,
        regularization: float = 1e-6,
        pairing: Pairing = "independent",
        gradient_bound: float = 10.0,
        averaging: Averaging | None = None,
        batch_size: int = 1,
        n_outputs: int | None = None,
        trace: bool = False,
    ) -> None:
        self.proximity = check_number(proximity, "proximity", above=0.0)
        self.gradient_gain = check_number(gradient_gain, "gradient_gain", above=0.0)
        self.tracking_gain = check_number(tracking_gain, "tracking_gain", above=0.0)
        super().__init__(
            features,
            loss=loss,
            risk=risk,
            step_size=step_size,
            regularization=regularization,
            pairing=pairing,
            gradient_bound=gradient_bound,
            averaging=averaging,
            batch_size=batch_size,
            n_outputs=n_outputs,
            trace=trace,
        )
        for name in ("gradient_gain", "tracking_gain"):
            rate = getattr(self, name) * self.step_size.initial
            if rate > 1.0:
                raise ValueError(
                    f"step_size·{name} is the rate of an average and must lie in (0, 1], "
                    f"got {rate:g}; lower either"
                )

    def _make_dictionary(self, n_features: int, **shape: int) -> Dictionary:
        shape["n_rows"] += shape["n_priced"]  # those of z
        return super()._make_dictionary(n_features, **shape)

    def _make_stream(self, **common: Any) -> QuasiGradientStream:
        return NestedStream(self.proximity, self.gradient_gain, self.tracking_gain, **common)

    def _cure(self) -> str:
        return f"{super()._cure()}, or raise proximity (now {self.proximity:g})"
