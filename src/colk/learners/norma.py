"""NORMA: the naive online risk minimisation algorithm, which forgets."""

from typing import ClassVar

from colk.averaging import Averaging
from colk.kernels import Kernel
from colk.learners.budgeted import BudgetedLearner
from colk.losses import Loss
from colk.schedules import Rate

__all__ = ["NORMA"]


class NORMA(BudgetedLearner):
    """Kernel stochastic gradient descent with forgetting and truncation.

    f ← (1 − αλ)f − αℓ'(f(x), y)κ(x, ·); beyond `truncation` atoms the oldest goes. Its weight has
    shrunk by (1 − αλ)^truncation by then, so that λ and the truncation together say how much is
    lost.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    loss : Loss
        The loss ℓ.
    truncation : int or None
        Most atoms; None for no bound.
    step_size : float or PowerDecay
        α.
    regularization : float
        λ, with αλ < 1.
    gradient_bound, averaging, n_outputs, trace
        As in `COLK`.

    References
    ----------
    Kivinen, Smola, Williamson, "Online learning with kernels", IEEE Transactions on Signal
    Processing 52, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import NORMA
    >>> X = np.random.default_rng(0).random((2000, 1))
    >>> learner = NORMA(Gaussian(0.2), truncation=200, step_size=0.2, regularization=0.05)
    >>> learner = learner.learn(X, np.sin(6 * X[:, 0]))
    >>> learner.n_atoms
    200
    """

    _maintenances: ClassVar[tuple[str, ...]] = ("truncation",)

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        truncation: int | None = 500,
        step_size: Rate = 0.1,
        regularization: float = 0.01,
        gradient_bound: float = 10.0,
        averaging: Averaging | None = None,
        n_outputs: int | None = None,
        trace: bool = False,
    ) -> None:
        super().__init__(
            kernel,
            truncation,
            "truncation",
            loss=loss,
            risk=None,
            step_size=step_size,
            tracking_rate=1.0,
            regularization=regularization,
            tracker="average",
            pairing="same",
            gradient_bound=gradient_bound,
            averaging=averaging,
            batch_size=1,
            n_outputs=n_outputs,
            trace=trace,
        )
