"""POLK: parsimonious online learning with kernels, the method that COLK extends."""

from colk.averaging import Averaging, PolyakRuppert
from colk.compressors import Compressor
from colk.kernels import Kernel
from colk.learners.colk import COLK
from colk.losses import Loss
from colk.schedules import Rate

__all__ = ["POLK"]


class POLK(COLK):
    """Functional stochastic gradient descent on the mean loss, compressed by KOMP.

    f~ = (1 − αλ)f − αℓ'(f(x), y)κ(x, ·), then KOMP: COLK with the risk `Mean`, and the same path
    to the bit.

    Parameters
    ----------
    kernel, loss, step_size, regularization, compressor, gradient_bound, norm_bound, averaging
        As in `COLK`.
    batch_size, n_outputs, trace
        As in `COLK`.

    References
    ----------
    Koppel, Warnell, Stump, Ribeiro, "Parsimonious online learning with kernels via sparse
    projections in function space", 2016. Its theory for constant steps takes ε of order α^(3/2),
    its experiments α²: choose with `KOMP(eps=…)` or `KOMP(parsimony=…)`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import POLK
    >>> X = np.linspace(0.0, 1.0, 500)[:, None]
    >>> learner = POLK(Gaussian(0.2)).learn(X, np.sin(6 * X[:, 0]))
    >>> learner.n_atoms < 20
    True
    """

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        step_size: Rate = 0.1,
        regularization: float = 1e-6,
        compressor: Compressor | None = None,
        gradient_bound: float = 10.0,
        norm_bound: float = float("inf"),
        averaging: Averaging | None = PolyakRuppert(growth=3.0),  # noqa: B008, it is frozen
        batch_size: int = 1,
        n_outputs: int | None = None,
        trace: bool = False,
    ) -> None:
        super().__init__(
            kernel,
            loss,
            step_size=step_size,
            regularization=regularization,
            compressor=compressor,
            gradient_bound=gradient_bound,
            norm_bound=norm_bound,
            averaging=averaging,
            batch_size=batch_size,
            n_outputs=n_outputs,
            trace=trace,
        )
