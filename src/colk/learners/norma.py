"""NORMA: the naive online risk minimisation algorithm, which forgets."""

from typing import Any

from colk._validation import check_fraction
from colk.averaging import Averaging
from colk.compressors import Truncation
from colk.kernels import Kernel
from colk.learners.budgeted import BudgetedLearner
from colk.learners.tube import TubeStream
from colk.losses import EpsilonInsensitive, Loss
from colk.losses.regression import AdaptiveTube
from colk.quasigradient import QuasiGradientStream
from colk.schedules import Rate

__all__ = ["NORMA"]


class NORMA(BudgetedLearner):
    """Kernel stochastic gradient descent with forgetting and truncation.

    f ← (1 − αλ)f − αℓ'(f(x), y)κ(x, ·); beyond `max_atoms` atoms the oldest goes. Its weight has
    shrunk by (1 − αλ)^max_atoms by then, so that λ and the bound together say how much is lost.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    loss : Loss
        The loss ℓ.
    max_atoms : int or None
        Most atoms; None for no bound.
    step_size : float or PowerDecay
        α.
    regularization : float
        λ, with αλ < 1.
    nu : float, optional
        For `EpsilonInsensitive`: let the width ε of its tube follow the stream, so that a share ν
        of the samples lies outside: ε ← ε + α(1 − ν) outside, ε − αν inside. The loss gives its
        first value.
    gradient_bound, averaging, n_outputs, trace
        As in `COLK`.

    References
    ----------
    Kivinen, Smola, Williamson, "Online learning with kernels", IEEE Transactions on Signal
    Processing 52, 2004; its section on regression for ν.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import NORMA
    >>> X = np.random.default_rng(0).random((2000, 1))
    >>> learner = NORMA(Gaussian(0.2), max_atoms=200, step_size=0.2, regularization=0.05)
    >>> learner = learner.learn(X, np.sin(6 * X[:, 0]))
    >>> learner.n_atoms
    200

    A tube that leaves out a fifth of the samples:

    >>> from colk.losses import EpsilonInsensitive
    >>> y = np.sin(6 * X[:, 0]) + 0.3 * np.random.default_rng(1).normal(size=2000)
    >>> learner = NORMA(Gaussian(0.2), EpsilonInsensitive(0.1), nu=0.2, step_size=0.05)
    >>> learner = learner.learn(X, y)
    >>> 0.25 < learner.tube < 0.55
    True
    """

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        max_atoms: int | None = 500,
        step_size: Rate = 0.1,
        regularization: float = 0.01,
        nu: float | None = None,
        gradient_bound: float = 10.0,
        averaging: Averaging | None = None,
        n_outputs: int | None = None,
        trace: bool = False,
    ) -> None:
        self.nu = None if nu is None else check_fraction(nu, "nu")
        super().__init__(
            kernel,
            Truncation(max_atoms),
            loss=loss,
            step_size=step_size,
            regularization=regularization,
            gradient_bound=gradient_bound,
            averaging=averaging,
            n_outputs=n_outputs,
            trace=trace,
        )
        if nu is not None and not isinstance(self.loss, EpsilonInsensitive):
            raise TypeError(
                f"nu adapts the tube of EpsilonInsensitive; {type(self.loss).__name__} has none"
            )
        self._tube = self.loss.tube if isinstance(self.loss, EpsilonInsensitive) else 0.0

    def _make_stream(self, **common: Any) -> QuasiGradientStream:
        if self.nu is None:
            return super()._make_stream(**common)
        common["loss"] = AdaptiveTube(self._tube, self.nu)
        return TubeStream(compressor=self.compressor, norm_bound=self.norm_bound, **common)

    @property
    def tube(self) -> float:
        """The half width ε of the tube that `nu` adapts."""
        if self.nu is None or self._stream is None:
            return self._tube
        loss: Any = self._stream.loss
        return float(loss.tube)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_tube": self.tube}
