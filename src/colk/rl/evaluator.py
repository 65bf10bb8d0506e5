"""Policy evaluation as a compositional problem, the paper's second example."""

from typing import Literal, get_args

from colk.compressors import KOMP
from colk.kernels import Kernel
from colk.rkhs.expansion import KernelExpansion
from colk.rl.base import TrackingLearner
from colk.rl.step import (
    FunctionTrackingStream,
    MomentumTrackingStream,
    ScalarTrackingStream,
    ValueStream,
)
from colk.schedules import Averaging, PolyakRuppert, Rate

__all__ = ["PolicyEvaluator"]

Tracks = Literal["function", "scalar", "momentum"]

_STREAMS: dict[str, type[ValueStream]] = {
    "function": FunctionTrackingStream,
    "scalar": ScalarTrackingStream,
    "momentum": MomentumTrackingStream,
}


class PolicyEvaluator(TrackingLearner):
    """Learn the value function of a fixed policy by gradients of the Bellman error.

    It minimises ½E_x[(E[δ | x])²] + λ/2‖V‖² with δ = r + γV(x') − V(x) over a reproducing kernel
    Hilbert space. The expectation of δ is inside a square, so one sample of x' gives a biased
    gradient. Therefore a tracker z of E[δ | x] replaces one of the two factors:

        V~ = (1 − αλ)V − αz(x)(γκ(x', ·) − κ(x, ·))
        z~ = z + β(δ − z(x))κ(x, ·)

    The step of V uses z(x) from before this transition, because a z that already contains βδ would
    bring back the bias, in proportion to β. KOMP compresses both functions on one dictionary at
    every step, V to within eps and z to within eps_ratio·eps in H-norm. If x' is terminal, γV(x')
    and γκ(x', ·) are 0.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    discount : float
        The discount γ, in (0, 1].
    step_size : float or PowerDecay, default=0.5
        The step size α. Lower it if values diverge.
    tracking_rate : float or PowerDecay, default=0.2
        The rate β of the tracker, in (0, 1].
    tracks : {"function", "scalar", "momentum"}, default="function"
        "function": z is a function of x in the same space. "momentum": z is one number by the
        paper's eq. (track1), z ← (1 − β)(z − δ') + δ with δ' under the previous V. "scalar": z is
        one number, the moving average z ← (1 − β)z + βδ of PKGTD. One number tracks E[δ], not
        E[δ | x], so neither converges to V if transitions are random.
    regularization : float, default=1e-8
        λ of the penalty λ/2‖V‖².
    compressor : KOMP or None, default=None
        Bound on the compression error of V per step. None: eps = 0.04·step_size², which is 0.01 at
        the default step size. Scale eps with the rewards. The errors of all steps add up to a bias
        of order eps/step_size.
    averaging : PolyakRuppert, Exponential or None, default=PolyakRuppert(growth=3.0)
        Average of the iterates for `value` and `function`; None uses the last iterate.
    eps_ratio : float, default=1.0
        Bound on the compression error of z per step, divided by that of V.
    trace : bool, default=False
        Whether to record every step, see `PolicyTrace`.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.rl import LinearQuadratic, PolicyEvaluator, simulate
    >>> mdp = LinearQuadratic.spiral(1)
    >>> evaluator = PolicyEvaluator(Gaussian(0.5), discount=0.9)
    >>> evaluator = evaluator.learn(*simulate(mdp, 20_000, seed=0))
    >>> evaluator.n_atoms < 60
    True
    >>> round(float(mdp.value([[0.5]], discount=0.9)[0]), 2)
    -2.5
    >>> abs(float(evaluator.value([[0.5]])[0]) + 2.5) < 0.25
    True
    """

    def __init__(
        self,
        kernel: Kernel,
        discount: float,
        step_size: Rate = 0.5,
        tracking_rate: Rate = 0.2,
        tracks: Tracks = "function",
        regularization: float = 1e-8,
        compressor: KOMP | None = None,
        averaging: Averaging | None = PolyakRuppert(growth=3.0),  # noqa: B008, it is frozen
        eps_ratio: float = 1.0,
        trace: bool = False,
    ) -> None:
        if tracks not in get_args(Tracks):
            raise ValueError(f"tracks must be one of {list(get_args(Tracks))}, got {tracks!r}")
        self.tracks = tracks
        self._stream_type = _STREAMS[tracks]
        super().__init__(
            kernel,
            discount,
            step_size,
            tracking_rate,
            regularization,
            compressor,
            averaging,
            eps_ratio,
            trace,
        )

    @property
    def tracked(self) -> KernelExpansion | float:
        """The tracker z, a function of x or a number."""
        if self.tracks != "function":
            return float(self._state().window.g[0])
        return self._expansion(1, self._eps_ratio)
