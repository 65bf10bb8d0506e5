"""COLK: compositional online learning with kernels, the paper's Algorithm 1."""

import numpy as np

from colk.averaging import Averaging, PolyakRuppert
from colk.compressors import KOMP, Compressor
from colk.kernels import Kernel
from colk.learners.functional import KernelLearner
from colk.losses import Loss
from colk.pairing import Pairing
from colk.risks import Risk
from colk.schedules import Rate
from colk.trackers import Momentum, Tracker

__all__ = ["COLK"]


class COLK(KernelLearner):
    """Compositional online learning with kernels.

    Minimises E_θ[outer(ℓ(f(x_θ), y_θ), g)] + λ/2‖f‖² with g = E_ξ[inner(ℓ(f(x_ξ), y_ξ))] over a
    reproducing kernel Hilbert space, one step of the two-time-scale stochastic quasi-gradient
    method for each pair of samples, and compresses f after each step.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    loss : Loss
        The loss ℓ.
    risk : Risk
        How losses are put together: inner and outer.
    step_size : float or PowerDecay
        α. A constant keeps following a target that moves; f then hovers about the optimum at a
        distance of order √α, which averaging removes.
    tracking_rate : float or PowerDecay
        β of the tracker of g, in (0, 1].
    regularization : float
        λ.
    compressor : Compressor
        What a step may forget, `KOMP(eps=0.005)` by default.
    tracker : Tracker or {"momentum", "average"}
        `Momentum()`, the paper's eq. (track1), g ← (1 − β)(g − inner at f_{t−1}) + inner at f_t
        with f_{t−1} evaluated exactly at the new sample; or SCGD's `MovingAverage()`.
    pairing : {"independent", "overlap", "same"}
        Which samples play θ and ξ. "independent": two consecutive samples a step, as in the
        paper; unbiased given g, half as many steps as samples. "overlap": ξ is the new sample, θ
        the one before it; a step a sample, every sample once in each role; f has already moved
        a little by θ when it meets it, a bias of order α. "same": one sample in both roles; a step
        a sample at half the cost, but the product of two expectations becomes the expectation of a
        product, a bias that does not vanish with α. A risk without inner value (Mean) makes a
        step with every sample, whatever the pairing.
    gradient_bound : float
        Assumption 5: the coefficients (c, c') of a pair are scaled back to this norm. The default
        lets the paper's printed settings run on targets that are not scaled.
    norm_bound : float
        f is kept in the ball ‖f‖_H ≤ norm_bound.
    averaging : PolyakRuppert, Exponential or None
        Average of the iterates that `predict` and `function` use; None for the last iterate.
    batch_size : int
        Pairs a step; their gradients are averaged.
    n_outputs : int, optional
        Numbers in one prediction; needed for Softmax, the number of classes.
    trace : bool
        Whether to record what every step does, see `Trace`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.compressors import KOMP
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import COLK
    >>> from colk.losses import Huber
    >>> from colk.risks import Variance
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((4000, 1))
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=4000)
    >>> learner = COLK(Gaussian(0.1), Huber(1.0), Variance(0.1), step_size=0.2,
    ...                compressor=KOMP(eps=0.02))
    >>> learner = learner.learn(X, y)
    >>> learner.n_atoms < 30
    True
    >>> bool(np.abs(learner.predict(X) - np.sin(6 * X[:, 0])).mean() < 0.05)
    True
    """

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        risk: Risk | None = None,
        step_size: Rate = 0.1,
        tracking_rate: Rate = 0.1,
        regularization: float = 1e-6,
        compressor: Compressor | None = None,
        tracker: Tracker | str = Momentum(),  # noqa: B008, it is frozen
        pairing: Pairing = "independent",
        gradient_bound: float = 10.0,
        norm_bound: float = np.inf,
        averaging: Averaging | None = PolyakRuppert(growth=3.0),  # noqa: B008, it is frozen
        batch_size: int = 1,
        n_outputs: int | None = None,
        trace: bool = False,
    ) -> None:
        super().__init__(
            kernel,
            KOMP(eps=0.005) if compressor is None else compressor,
            norm_bound,
            loss=loss,
            risk=risk,
            step_size=step_size,
            tracking_rate=tracking_rate,
            regularization=regularization,
            tracker=tracker,
            pairing=pairing,
            gradient_bound=gradient_bound,
            averaging=averaging,
            batch_size=batch_size,
            n_outputs=n_outputs,
            trace=trace,
        )

    def _cure(self) -> str:
        return f"{super()._cure()}, or set norm_bound"
