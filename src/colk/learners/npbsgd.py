"""NPBSGD: nonparametric budgeted stochastic gradient descent, whose budget may grow."""

from typing import Literal

from colk.averaging import Averaging
from colk.compressors import Growing
from colk.kernels import Kernel
from colk.learners.budgeted import BudgetedLearner, as_rule, pegasos
from colk.losses import Loss
from colk.schedules import Rate

__all__ = ["NPBSGD"]


class NPBSGD(BudgetedLearner):
    """BSGD with a budget that a coin lets grow.

    With the steps α_t = 1/(λt), f ← (1 − 1/t)f − α_t ℓ'(f(x), y)κ(x, ·). Where that makes one
    atom too many, maintenance follows with probability min(1, βN/t); otherwise B ← B + 1.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    loss : Loss
        The loss ℓ.
    max_atoms : int or None
        The first budget B; None for no bound.
    growth : float
        β > 0. From 1 on the budget is fixed for the whole horizon.
    horizon : int
        N, the length of the stream, or as much of it as is planned for.
    maintenance : {"removal", "projection"}
        As in `BSGD`.
    step_size : "pegasos", float or PowerDecay
        The method's own 1/(λt), or any other rate.
    regularization : float
        λ.
    seed : int
        Seed of the coin. Step t tosses the same coin whatever came before.
    gradient_bound, averaging, n_outputs, trace
        As in `COLK`.

    References
    ----------
    Le, Nguyen, Nguyen, Phung, "Nonparametric budgeted stochastic gradient descent", AISTATS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import NPBSGD
    >>> from colk.losses import Hinge
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = np.where((X**2).sum(axis=1) < 1.4, 1.0, -1.0)
    >>> fixed = NPBSGD(Gaussian(0.7), Hinge(), max_atoms=50, horizon=2000).learn(X, y)
    >>> grown = NPBSGD(Gaussian(0.7), Hinge(), max_atoms=50, growth=0.5, horizon=2000).learn(X, y)
    >>> fixed.n_atoms, 50 < grown.n_atoms < 1000
    (50, True)
    """

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        max_atoms: int | None = 100,
        growth: float = 1.0,
        horizon: int = 10_000,
        maintenance: Literal["removal", "projection"] = "removal",
        step_size: Rate | Literal["pegasos"] = "pegasos",
        regularization: float = 1e-3,
        seed: int = 0,
        gradient_bound: float = 10.0,
        averaging: Averaging | None = None,
        n_outputs: int | None = None,
        trace: bool = False,
    ) -> None:
        rule = as_rule(maintenance, max_atoms, without=("merging", "truncation"))
        self.maintenance = maintenance
        super().__init__(
            kernel,
            Growing(rule, growth, horizon, seed),
            loss=loss,
            step_size=pegasos(step_size, regularization),
            regularization=regularization,
            gradient_bound=gradient_bound,
            averaging=averaging,
            n_outputs=n_outputs,
            trace=trace,
        )
        self.growth, self.horizon, self.seed = growth, horizon, seed
