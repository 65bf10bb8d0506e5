"""Policy evaluation as a compositional problem: the paper's second example."""

from typing import Literal, get_args

from colk.compressors import KOMP
from colk.kernels import Kernel
from colk.rkhs.expansion import KernelExpansion
from colk.rl.base import ValueLearner
from colk.rl.step import FunctionTrackingStream, ScalarTrackingStream
from colk.schedules import Averaging, PolyakRuppert, PowerDecay, Rate

__all__ = ["PolicyEvaluator"]

Tracks = Literal["function", "scalar"]


class PolicyEvaluator(ValueLearner):
    """The value function of a fixed policy, by the gradient of the Bellman error.

    Minimises ½E_x[(E[δ | x])²] + λ/2‖V‖² with δ = r + γV(x') − V(x) over a reproducing kernel
    Hilbert space. The expectation of δ sits inside a square, so that one sample of x' does not
    give an unbiased gradient: a tracker z of E[δ | x] stands in for one of the two factors.

        V~ = (1 − αλ)V − αz(x)(γκ(x', ·) − κ(x, ·))
        z~ = z + β(δ − z(x))κ(x, ·)

    V moves with z(x) as it was before it saw this transition's δ: a z that already contains βδ
    brings the bias of one sample back, in proportion to β. Both functions are compressed by KOMP
    on one dictionary, V to within eps and z to within eps_ratio·eps in H-norm, at every step.
    After a terminal state γV(x') and γκ(x', ·) are left out.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    discount : float
        γ, in (0, 1].
    step_size : float or PowerDecay
        α.
    tracking_rate : float or PowerDecay
        β, in (0, 1].
    tracks : {"function", "scalar"}
        What z is. "function": z is a function of x in the same space. "scalar": z is one number,
        z ← (1 − β)z + βδ, as in the paper's formula and in PKGTD. It tracks E[δ], not E[δ | x],
        and ends elsewhere than at V where transitions are random.
    regularization : float
        λ.
    compressor : KOMP
        What V may forget in a step, 0.04·step_size² by default: 0.01 at the default step size. Its
        unit is that of the rewards: scale it with them. What is forgotten at every step adds up
        to a bias of order eps/step_size.
    averaging : PolyakRuppert, Exponential or None
        Average of the iterates that `value` and `function` use; None for the last iterate.
    eps_ratio : float
        Bound on what z may forget in a step, in units of the compressor's.
    trace : bool
        Whether to record what every step does, see `PolicyTrace`.

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
            raise ValueError(f"tracks must be 'function' or 'scalar', got {tracks!r}")
        self.tracks = tracks
        self._stream_type = FunctionTrackingStream if tracks == "function" else ScalarTrackingStream
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
    def tracking_rate(self) -> PowerDecay:
        """β."""
        return self._tracking_rate

    @property
    def eps_ratio(self) -> float:
        """Bound on what z may forget in a step, in units of V's."""
        return self._eps_ratio

    @property
    def tracked(self) -> KernelExpansion | float:
        """z: a function of x, or a number."""
        if self.tracks == "scalar":
            return float(self._state().window.g[0])
        return self._expansion(1, self._eps_ratio)
