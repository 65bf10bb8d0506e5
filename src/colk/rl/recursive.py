"""Recursive kernel LSTD: V solves the LSTD system of all transitions seen so far."""

from typing import Any

from colk._validation import check_number
from colk.compressors import KOMP
from colk.errors import DivergenceError
from colk.kernels import Kernel
from colk.rl.base import ValueLearner
from colk.rl.least_squares import LeastSquaresStream

__all__ = ["KernelLSTD"]


class KernelLSTD(ValueLearner):
    """Recursive least-squares temporal differences in an RKHS, compressed by KOMP.

    V = Σ_j w_j κ(d_j, ·) solves Σ δ κ(x, ·) = λV in the span of the atoms, with
    δ = r + γV(x') − V(x). Up to the prior, the temporal differences of all transitions so far are
    then orthogonal to the atoms' functions. There is no step size. A transition takes O(M²)
    operations for M atoms, as KOMP does. `kernel_lstd` solves the same system in one batch.

    Learn on-policy, because the system is then positive definite. A state becomes an atom if
    leaving it out would change the step of V by more than eps in H-norm.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    discount : float
        The discount γ, in (0, 1].
    prior : float, default=0.5
        The prior λ, in units of transitions. If λ ≥ γκ(x, x)/2, the system of a single trajectory
        is positive definite. Raise it if the system becomes singular.
    compressor : KOMP or None, default=None
        Bound on the compression error of V per step, in units of rewards. None: `KOMP(eps=0.01)`.
    trace : bool, default=False
        Whether to record every step, see `PolicyTrace`.

    References
    ----------
    S. J. Bradtke and A. G. Barto, "Linear least-squares algorithms for temporal difference
    learning", Machine Learning 22 (1996). X. Xu, D. Hu and X. Lu, "Kernel-based least squares
    policy iteration for reinforcement learning", IEEE Transactions on Neural Networks 18 (2007).

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.rl import KernelLSTD, LinearQuadratic, simulate
    >>> mdp = LinearQuadratic.spiral(1)
    >>> learner = KernelLSTD(Gaussian(0.5), discount=0.9)
    >>> learner = learner.learn(*simulate(mdp, 5_000, seed=0))
    >>> learner.n_atoms < 60
    True
    >>> round(float(mdp.value([[0.5]], discount=0.9)[0]), 2)
    -2.5
    >>> abs(float(learner.value([[0.5]])[0]) + 2.5) < 0.25
    True
    """

    _stream_type = LeastSquaresStream

    def __init__(
        self,
        kernel: Kernel,
        discount: float,
        prior: float = 0.5,
        compressor: KOMP | None = None,
        trace: bool = False,
    ) -> None:
        self.prior = check_number(prior, "prior", above=0.0)
        rule = KOMP(eps=0.01) if compressor is None else compressor
        super().__init__(kernel, discount, 1.0, None, 0.0, rule, None, 1.0, trace)

    def _check(self) -> None:
        super()._check()
        if self.compressor.parsimony is not None or self.compressor.fraction is not None:
            raise ValueError(
                "KernelLSTD needs KOMP with eps or max_atoms, because it has no step size; "
                f"got {self.compressor}"
            )

    def _own_settings(self) -> dict[str, Any]:
        return {"prior": self.prior}

    def _cure(self) -> str:
        return f"raise prior (now {self.prior:g})"

    def divergence(self, sample: int = 0, heaviest: float = 1.0) -> DivergenceError:
        """Return the error to raise if the system of this transition would be singular."""
        stream: Any = self._state()
        if not stream.is_singular:
            return super().divergence(sample, heaviest)
        return DivergenceError(
            f"{type(self).__name__} would diverge at step {self.steps} "
            f"(transition {sample} of this call): the system for V becomes singular; raise prior "
            f"(now {self.prior:g}), and learn from transitions of the policy itself"
        )
