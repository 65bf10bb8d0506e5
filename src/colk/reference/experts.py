"""Second-order steps, hasty ones, and first-order ones, weighed by what they lose."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from colk._validation import Array
from colk.reference import losses
from colk.reference.colk import LATEST
from colk.reference.kernels import gram
from colk.reference.komp import fit_weights, komp
from colk.reference.newton import NOVELTY_FLOOR, NewtonCOLK

__all__ = ["Experts"]


@dataclass
class Experts(NewtonCOLK):
    """`NewtonCOLK` with forgetting="auto": f is the mean of three functions by their weights p.

    Parameters
    ----------
    first_step : float
        The step size of the first-order expert, over κ(x, x).

    Examples
    --------
    >>> import numpy as np
    >>> from colk import reference
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Squared
    >>> from colk.risks import Mean
    >>> learner = reference.Experts(Gaussian(0.5), Squared(), Mean(), 1, 1, prior=2.0)
    >>> learner.learn(np.array([[0.0]]), np.array([[1.0]])).weights  # of 1/2, 4/5 and 1
    array([[0.76666667]])
    """

    first_step: float = 0.5
    p: Array = field(init=False)  # of the second-order expert, the hasty and the first-order one
    experts: list[Array] = field(init=False)  # their weights

    def __post_init__(self) -> None:
        super().__post_init__()
        self.p, self.experts = np.full(3, 1.0 / 3.0), [np.empty((0, self.n_outputs))] * 3
        self.forgetting = 1.0

    def _plan(
        self, points: Array, F: Array, targets: Array, places: Any, weights: Any
    ) -> list[Any]:
        """Plan for each expert at its own values, and weigh both."""
        K = gram(self.kernel, points, self.atoms)
        plans, lost = [], np.zeros(3)
        for e, w in enumerate(self.experts):
            values = K @ w
            plans.append(super()._plan(points, values, targets, places, weights))
            for xi, weight in zip(places[1], weights[1], strict=True):
                loss = losses.value(self.loss, values[xi], targets[xi])
                counted = np.clip(loss / (10.0 * self.level), 0.0, 1.0) if self.level > 0 else 0.0
                lost[e] += weight * counted / len(weights[1])
        falling = self.p * np.exp(-0.5 * (lost - lost[0]))
        self.p = 0.999 * falling / falling.sum() + 0.001 / 3.0
        self.forgetting = float(1.0 - 0.3 * self.p[1] - 0.15 * self.p[2])
        return list(zip(*plans, strict=True))

    def _take(self, x: Array, plan: Any, eps: float, size: int) -> None:
        """Move the experts and Q by one point."""
        at_x = gram(self.kernel, x[None], self.atoms)
        slopes, bends = [], [float(bend) for _, _, bend in plan]
        for (f, a, bend), w in zip(plan, self.experts, strict=True):
            slopes.append(a + bend * ((at_x @ w)[0] - f))
        atoms, M = np.vstack([self.atoms, x]), len(self.atoms)
        K = gram(self.kernel, atoms, atoms)
        k, own, v = K[:, -1], float(K[-1, -1]), np.linalg.solve(K[:M, :M], K[:M, -1])
        s = own - float(k[:M] @ v)
        Q, new = np.zeros((M + 1, M + 1)), np.append(-v, 1.0)
        Q[:M, :M] = self.covariance
        h, z, enters = Q @ k, np.append(v, 0.0), False
        moves = self._moves(h, z, k, slopes, bends)
        if s > 0.0:
            wide_h = h + new * (new @ k) / (self.prior * s)
            wide = self._moves(wide_h, z + new, k, slopes, bends)
            lost = [_square(K, b - a) for a, b in zip(moves, wide, strict=True)]
            prices = [move[-1] @ move[-1] * s for move in wide]
            error = float(np.sqrt(max(float(self.p @ lost), 0.0)))
            enters = s > NOVELTY_FLOOR * own and error > eps
            enters = enters and (self.max_atoms > M or self.p @ prices > self._prices().min())
            self.error += 0.0 if enters else error
        if enters:
            h, moves = wide_h, wide
            Q += np.outer(new, new) / (self.prior * s)
        rate = 1.0 / (min(self.steps + 1, LATEST) * size)
        self.mean_curvature += rate * (bends[0] - self.mean_curvature)
        variance = float(k @ h)
        gain = 1.0 / (1.0 + bends[0] * variance)
        Q -= self._amount(bends[0], gain, variance, own) * np.outer(h, h)
        left = M + 1 if enters else M
        self.experts = [
            (np.vstack([w, np.zeros(self.n_outputs)]) + move)[:left]
            for w, move in zip(self.experts, moves, strict=True)
        ]
        self.atoms, self.covariance = atoms[:left], Q[:left, :left]
        self.weights = np.einsum("e,emq->mq", self.p, self.experts)
        moved = float(self.p @ [_square(K, move) for move in moves])
        self.squared_move += rate * (moved - self.squared_move)

    def _moves(self, h: Array, z: Array, k: Array, slopes: Any, bends: Any) -> list[Array]:
        """What the experts add to their weights: two along h, one along z."""
        variance, own = float(k @ h), k[-1]
        gains = 1.0 / (1.0 + bends[0] * variance), 4.0 / (1.0 + 4.0 * bends[1] * variance)
        step = min(self.first_step, 1.0 / max(bends[2], 1e-300)) / own
        ways = gains[0] * h, gains[1] * h, step * z
        return [-np.outer(way, a) for way, a in zip(ways, slopes, strict=True)]

    def _prices(self) -> Array:
        inverse = np.linalg.inv(gram(self.kernel, self.atoms, self.atoms))
        return np.asarray((self._priced() ** 2).sum(axis=1) / np.diag(inverse), dtype=float)

    def _priced(self) -> Array:
        """Functions of which the squared norms, added, bound that of f: √p_e f_e."""
        return np.hstack([np.sqrt(p) * w for p, w in zip(self.p, self.experts, strict=True)])

    def _prune(self, eps: float) -> None:
        """KOMP of all, and Q projected as they are."""
        atoms = self.atoms
        if eps > 0.0 or len(atoms) > self.max_atoms:
            kept, _, lost, _ = komp(self.kernel, atoms, self._priced(), eps, at_most=self.max_atoms)
            self.atoms = atoms[kept]
            T = fit_weights(self.kernel, self.atoms, atoms, np.eye(len(atoms)))
            self.covariance, self.weights = T @ self.covariance @ T.T, T @ self.weights
            self.experts = [T @ w for w in self.experts]
            self.error += lost


def _square(K: Array, weights: Array) -> float:
    """The squared H-norm."""
    return float(np.sum(weights * (K @ weights)))
