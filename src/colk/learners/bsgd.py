"""BSGD: budgeted stochastic gradient descent, on the mean loss or on any risk."""

from typing import Literal

from colk.averaging import Averaging
from colk.kernels import Kernel
from colk.learners.budgeted import BudgetedLearner, as_rule, pegasos
from colk.losses import Loss
from colk.pairing import Pairing
from colk.risks import Risk
from colk.schedules import Rate
from colk.trackers import Momentum, Tracker

__all__ = ["BSGD", "CompositionalBSGD", "Maintenance"]

Maintenance = Literal["removal", "projection", "merging"]


class CompositionalBSGD(BudgetedLearner):
    """COLK's step, BSGD's maintenance: any risk on a fixed budget of atoms.

    f~ = (1 − αλ)f − α c κ(x_θ, ·) − α c' κ(x_ξ, ·) as in `COLK`; then, while there are more atoms
    than the budget, one of

    - removal: the atom with the least ‖w_p‖² κ(d_p, d_p) goes;
    - projection: the atom with the least ‖w_p‖²/(K⁻¹)_pp goes, and the others are re-fitted, which
      is the best that B atoms of these B + 1 can do;
    - merging: the atom with the least ‖w_p‖ and another one are replaced by one between them, or,
      where their signs differ, beyond the heavier; the pair, the place and the weight are those
      that change f least in H-norm.

    A sample that equals an atom adds to its weight. Removal and merging cost O(B) a step,
    projection O(B²).

    Parameters
    ----------
    kernel : Kernel
        The kernel κ; a radial one for merging.
    loss : Loss
        The loss ℓ.
    risk : Risk
        How losses are put together.
    max_atoms : int or None
        B, the most atoms; None for no bound.
    maintenance : {"removal", "projection", "merging"}
        What to do with one atom too many.
    step_size : float, PowerDecay or "pegasos"
        α; "pegasos" for 1/(λt).
    tracking_rate, regularization, tracker, pairing, gradient_bound, averaging
        As in `COLK`. Removal takes an atom out of the average too.
    batch_size, n_outputs, trace
        As in `COLK`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import CompositionalBSGD
    >>> from colk.losses import Huber
    >>> from colk.risks import Variance
    >>> X = np.random.default_rng(0).random((4000, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> learner = CompositionalBSGD(Gaussian(0.1), Huber(1.0), Variance(0.1), max_atoms=20,
    ...                             maintenance="projection")
    >>> learner = learner.learn(X, y)
    >>> learner.n_atoms, bool(np.abs(learner.predict(X) - y).mean() < 0.05)
    (20, True)
    """

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        risk: Risk | None = None,
        max_atoms: int | None = 100,
        maintenance: Maintenance = "merging",
        step_size: Rate | Literal["pegasos"] = 0.1,
        tracking_rate: Rate = 0.1,
        regularization: float = 1e-6,
        tracker: Tracker | str = Momentum(),  # noqa: B008, it is frozen
        pairing: Pairing = "independent",
        gradient_bound: float = 10.0,
        averaging: Averaging | None = None,
        batch_size: int = 1,
        n_outputs: int | None = None,
        trace: bool = False,
    ) -> None:
        self.maintenance = maintenance
        super().__init__(
            kernel,
            as_rule(maintenance, max_atoms, without=("truncation",)),
            loss=loss,
            risk=risk,
            step_size=pegasos(step_size, regularization),
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


class BSGD(CompositionalBSGD):
    """Budgeted stochastic gradient descent on the mean loss.

    f ← (1 − α_t λ)f − α_t ℓ'(f(x), y)κ(x, ·); one atom above the budget, a step of maintenance.

    Parameters
    ----------
    kernel, loss, max_atoms, maintenance, step_size, regularization, gradient_bound, averaging
        As in `CompositionalBSGD`.
    batch_size, n_outputs, trace
        As in `CompositionalBSGD`.

    References
    ----------
    Wang, Crammer, Vucetic, "Breaking the curse of kernelization: budgeted stochastic gradient
    descent for large-scale SVM training", JMLR 13, 2012. Its projection drops the atom with the
    least weight; here the one whose loss costs least.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import BSGD
    >>> from colk.losses import Hinge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = np.where((X**2).sum(axis=1) < 1.4, 1.0, -1.0)
    >>> learner = BSGD(Gaussian(0.7), Hinge(), max_atoms=50, step_size="pegasos",
    ...                regularization=1e-3)
    >>> learner = learner.learn(X, y)
    >>> learner.n_atoms, bool((learner.predict(X) * y > 0).mean() > 0.95)
    (50, True)
    """

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        max_atoms: int | None = 100,
        maintenance: Maintenance = "merging",
        step_size: Rate | Literal["pegasos"] = 0.1,
        regularization: float = 1e-6,
        gradient_bound: float = 10.0,
        averaging: Averaging | None = None,
        batch_size: int = 1,
        n_outputs: int | None = None,
        trace: bool = False,
    ) -> None:
        super().__init__(
            kernel,
            loss,
            max_atoms=max_atoms,
            maintenance=maintenance,
            step_size=step_size,
            regularization=regularization,
            gradient_bound=gradient_bound,
            averaging=averaging,
            batch_size=batch_size,
            n_outputs=n_outputs,
            trace=trace,
        )
