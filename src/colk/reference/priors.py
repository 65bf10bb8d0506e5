"""λ of the second-order step chosen by losses of samples to come."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from colk._validation import Array
from colk.reference import losses
from colk.reference.kernels import gram
from colk.reference.komp import fit_weights
from colk.reference.newton import NewtonCOLK

__all__ = ["ChosenPrior"]

FIRST_TRIAL = 200
RELUCTANCE = 0.05


@dataclass
class ChosenPrior(NewtonCOLK):
    """A second-order learner that tries a tenth to ten times its prior, and takes the best.

    The inverse of Q is λK and the curvature seen: with λ' it is (λ' − λ)K more, and w becomes
    Q'Q⁻¹w. An atom too many leaves as if a sample of infinite curvature had told that its weight is
    0, and where there may be no more atoms a new direction has the variance 1/(2λ).

    Examples
    --------
    >>> import numpy as np
    >>> from colk import reference
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Squared
    >>> from colk.risks import Mean
    >>> learner = reference.ChosenPrior(Gaussian(0.5), Squared(), Mean(), 1, 1, prior=2.0)
    >>> learner.learn(np.zeros((400, 1)), np.ones((400, 1))).prior  # there is no noise
    0.2
    """

    late: ClassVar[float] = 2.0
    due: int = FIRST_TRIAL
    priors: Array = field(init=False)
    tried: list[Array] = field(init=False)  # weights of what each prior makes of f
    lost: Array = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.priors = self.prior * np.array([0.1, 0.1**0.5, 1.0, 10.0**0.5, 10.0])
        self.tried, self.lost = [np.zeros_like(self.weights) for _ in range(5)], np.zeros(5)

    def step_batch(
        self,
        X: Array,
        Y: Array,
        X_inner: Array,
        Y_inner: Array,
        weight: Array,
        weight_inner: Array,
    ) -> None:
        """Make one step; before it the losses of all that are tried, after it perhaps a choice."""
        if self.steps >= FIRST_TRIAL:
            for x, y, share in zip(X_inner, Y_inner, weight_inner, strict=True):
                k = gram(self.kernel, x[None], self.atoms)
                found = [losses.value(self.loss, (k @ w)[0], y) for w in self.tried]
                self.lost += share * np.array(found)
        super().step_batch(X, Y, X_inner, Y_inner, weight, weight_inner)
        if self.steps == self.due:
            self._choose()
            self.due = 2 * self.steps

    def _choose(self) -> None:
        K, before = gram(self.kernel, self.atoms, self.atoms), self.prior
        precision = np.linalg.inv(self.covariance)
        towards = precision @ self.weights
        if self.lost.any():
            below = np.array([1.0, 0.5, 0.0, 0.0, 0.0])
            judged = self.lost / self.lost.min() + RELUCTANCE * below
            self.prior = float(self.priors[np.argmin(judged)])
        self.tried = [
            np.linalg.solve(precision + (prior - before) * K, towards) for prior in self.priors
        ]
        if self.prior != before:
            changed = precision + (self.prior - before) * K
            self.covariance = np.asarray(np.linalg.inv(changed), dtype=float)
            self.weights = np.asarray(np.linalg.solve(changed, towards), dtype=float)
        self.lost = np.zeros(5)

    def _take(self, x: Array, plan: object, eps: float, size: int) -> None:
        super()._take(x, plan, eps, size)
        more = len(self.atoms) - len(self.tried[0])
        self.tried = [np.vstack([w, np.zeros((more, w.shape[1]))]) for w in self.tried]

    def _prune(self, eps: float) -> None:
        atoms = self.atoms
        while len(self.atoms) > self.max_atoms:
            eps -= self._leave_out(int(np.argmin(self._prices())))
        super()._prune(max(eps, 0.0))
        if len(self.atoms) < len(atoms):
            self.tried = [fit_weights(self.kernel, self.atoms, atoms, w) for w in self.tried]

    def _leave_out(self, j: int) -> float:
        """Weights and covariance given that w_j is 0; returns the H-norm of how far f moves."""
        q, w = self.covariance[:, j] / self.covariance[j, j], self.weights[j]
        K, others = gram(self.kernel, self.atoms, self.atoms), np.arange(len(self.atoms)) != j
        moved = float(np.linalg.norm(w) * np.sqrt(q @ K @ q))
        self.covariance = self.covariance - np.outer(q, self.covariance[j])
        self.covariance = self.covariance[np.ix_(others, others)]
        self.weights = (self.weights - np.outer(q, w))[others]
        self.atoms, self.error = self.atoms[others], self.error + moved
        return moved
