"""Baselines for policy evaluation: TD(0), TDC and the residual gradient."""

from colk.compressors import KOMP
from colk.kernels import Kernel
from colk.rkhs.expansion import KernelExpansion
from colk.rl.base import TrackingLearner, ValueLearner
from colk.rl.step import CorrectedStream, ResidualStream
from colk.schedules import Averaging, PolyakRuppert, Rate

__all__ = ["TDC", "KernelTD", "ResidualGradient"]


class KernelTD(ValueLearner):
    """Kernel TD(0), the semi-gradient: V ← (1 − αλ)V + αδκ(x, ·), compressed by KOMP.

    The update is not a gradient. It is stable on-policy and can diverge off-policy. The parameters
    are those of `PolicyEvaluator` without `tracking_rate`, `tracks` and `eps_ratio`; the default
    step size is 0.3.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.rl import KernelTD, LinearQuadratic, simulate
    >>> learner = KernelTD(Gaussian(0.5), discount=0.9)
    >>> learner = learner.learn(*simulate(LinearQuadratic.spiral(1), 20_000, seed=0))
    >>> abs(float(learner.value([[0.5]])[0]) + 2.5) < 0.25
    True
    """

    def __init__(
        self,
        kernel: Kernel,
        discount: float,
        step_size: Rate = 0.3,
        regularization: float = 1e-8,
        compressor: KOMP | None = None,
        averaging: Averaging | None = PolyakRuppert(growth=3.0),  # noqa: B008, it is frozen
        trace: bool = False,
    ) -> None:
        super().__init__(
            kernel, discount, step_size, None, regularization, compressor, averaging, 1.0, trace
        )


class ResidualGradient(KernelTD):
    """Residual gradient: V ← (1 − αλ)V − αδ(γκ(x', ·) − κ(x, ·)), compressed by KOMP.

    It minimises E[δ²], the Bellman error plus the variance of δ, because both factors of the square
    use the same sample of x'. It does not converge to V if transitions are random. The parameters
    are those of `KernelTD`.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.rl import LinearQuadratic, ResidualGradient, simulate
    >>> mdp = LinearQuadratic.spiral(1)
    >>> learner = ResidualGradient(Gaussian(0.5), discount=0.9)
    >>> learner = learner.learn(*simulate(mdp, 20_000, seed=0))
    >>> bool(learner.value([[1.5]])[0] > 0.7 * mdp.value([[1.5]], discount=0.9)[0])  # too flat
    True
    """

    _stream_type = ResidualStream


class TDC(TrackingLearner):
    """TD with gradient correction: V ← (1 − αλ)V + α(δκ(x, ·) − γz(x)κ(x', ·)), compressed by KOMP.

    z is the tracker of `PolicyEvaluator` before this transition. The parameters are those of
    `PolicyEvaluator`, without `tracks`.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.rl import TDC, LinearQuadratic, simulate
    >>> learner = TDC(Gaussian(0.5), discount=0.9)
    >>> learner = learner.learn(*simulate(LinearQuadratic.spiral(1), 20_000, seed=0))
    >>> abs(float(learner.value([[0.5]])[0]) + 2.5) < 0.25
    True
    """

    _stream_type = CorrectedStream

    def __init__(
        self,
        kernel: Kernel,
        discount: float,
        step_size: Rate = 0.5,
        tracking_rate: Rate = 0.2,
        regularization: float = 1e-8,
        compressor: KOMP | None = None,
        averaging: Averaging | None = PolyakRuppert(growth=3.0),  # noqa: B008, it is frozen
        eps_ratio: float = 1.0,
        trace: bool = False,
    ) -> None:
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
    def tracked(self) -> KernelExpansion:
        """The function z that tracks E[δ | x]."""
        return self._expansion(1, self._eps_ratio)
