"""Generalized Gauss–Newton steps with dense matrices, which specify `NewtonCOLK`.

A state holds functions f_e = Σ_j w_ej κ(d_j, ·) and the precision A of their weights: the quadratic
½(w − w_e)ᵀA(w − w_e) sums up the samples so far. A sample of slope a and curvature b at x adds
a·f(x) + ½b(f(x) − f_t(x))² to it, and the new function is the minimum. Every matrix is formed and
inverted anew. Nothing is compressed here.
"""

from dataclasses import dataclass, replace

import numpy as np

from colk import reference
from colk.losses import EpsilonInsensitive, Hinge, Logistic, Pinball, Softmax
from colk.reference import gram, losses, risks

KINKED = (EpsilonInsensitive, Hinge, Pinball)
SECOND, LARGER, FIRST = range(3)  # the experts of forgetting="auto"


@dataclass
class State:
    """Atoms (M, p), weights of the functions (E, M, q) and the precision A (M, M)."""

    atoms: np.ndarray
    weights: np.ndarray
    precision: np.ndarray

    def values(self, kernel, X):
        """Predictions of every function, of shape (E, n, q)."""
        return gram(kernel, X, self.atoms) @ self.weights


def empty(n_functions, n_outputs):
    return State(np.empty((0, 1)), np.empty((n_functions, 0, n_outputs)), np.empty((0, 0)))


def extended(kernel, state, x, prior):
    """Add x to the atoms. The samples so far know f's projection; the rest has the prior."""
    K, k = gram(kernel, state.atoms, state.atoms), gram(kernel, state.atoms, x[None])
    onto = np.linalg.solve(K, k)
    novelty = (gram(kernel, x[None], x[None]) - k.T @ onto).item()
    T = np.hstack([np.eye(len(K)), onto])
    precision = T.T @ state.precision @ T
    precision[-1, -1] += prior * novelty
    weights = np.pad(state.weights, ((0, 0), (0, 1), (0, 0)))
    return State(np.vstack([state.atoms, x]), weights, precision)


def projected(kernel, state, kept):
    """Project the functions, and the distribution of the weights, on the span of some atoms."""
    atoms = state.atoms[kept]
    T = reference.fit_weights(kernel, atoms, state.atoms, np.eye(len(state.atoms)))
    covariance = T @ np.linalg.inv(state.precision) @ T.T
    return State(atoms, T @ state.weights, np.linalg.inv(covariance))


def squared_distance(kernel, one, other):
    """‖f_e − f'_e‖² of every function, the atoms of one state being the first of the other's."""
    short, long = sorted((one, other), key=lambda state: len(state.atoms))
    more = len(long.atoms) - len(short.atoms)
    apart = long.weights - np.pad(short.weights, ((0, 0), (0, more), (0, 0)))
    K = gram(kernel, long.atoms, long.atoms)
    return np.einsum("emq,mn,enq->e", apart, K, apart)


def loss_curvature(loss, f, y, width):
    """The largest over the outputs of the secant curvature (ℓ'(f) − ℓ'(y))/(f − y).

    f counts as no nearer to y than a kink is wide. Likelihoods have their second derivative.
    """
    if isinstance(loss, Softmax):
        p = np.exp(f - np.logaddexp.reduce(f))
        return float(np.max(p * (1.0 - p)))
    if isinstance(loss, Logistic):
        p = 1.0 / (1.0 + np.exp(-f))
        return float(np.max(p * (1.0 - p)))
    apart = np.maximum(np.abs(f - y), width if isinstance(loss, KINKED) else 1e-6 * (1 + np.abs(y)))
    side = np.where(f >= y, apart, -apart)
    return float(np.max((losses.slope(loss, y + side, y) - losses.slope(loss, y, y)) / side))


@dataclass
class GaussNewton(reference.COLK):
    """Slopes, curvatures and running means of the samples; moves states by them.

    Windows, g and the quasi-gradient are those of `reference.COLK`.
    """

    prior: float = 0.5
    forgetting: float = 1.0
    trust: float = 10.0
    pairing: str = "same"
    first_step: float = 0.0  # of the first-order expert; 0 without experts
    level: float = 0.0
    spread: float = 0.0
    distance: float = 0.0
    mean_curvature: float = 0.0
    largest_target: float = 0.0

    def __post_init__(self):
        super().__post_init__()
        self.pairing = "same" if len(self.g) == 0 else self.pairing
        n_experts = 3 if self.first_step else 1
        self.p, self.last = np.full(n_experts, 1.0 / n_experts), None
        self.state = empty(n_experts, self.n_outputs)
        self.former = self.p, self.state  # weights of the experts and state one step ago

    @property
    def now(self):
        return self.p, self.state

    def mixture(self, p, state, X):
        """Σ_e p_e f_e(X), of shape (n, q)."""
        return np.einsum("e,enq->nq", p, state.values(self.kernel, X))

    def step_batch(self, X, Y, X_inner, Y_inner, weight, weight_inner):
        """Assess a window: afterwards `self.last` has its points with slopes and curvatures."""
        if self.pairing == "same":
            points, targets, thetas, xis = X, Y, np.arange(len(X)), np.arange(len(X))
            window_weights = weight
        elif self.pairing == "overlap":
            points, targets = np.vstack([X, X_inner[-1:]]), np.vstack([Y, Y_inner[-1:]])
            window_weights = np.append(weight, weight_inner[-1])
            thetas, xis = np.arange(len(X)), np.arange(len(X)) + 1
        else:
            window_weights = np.column_stack([weight, weight_inner]).ravel()
            points = np.stack([X, X_inner], axis=1).reshape(2 * len(X), -1)
            targets = np.stack([Y, Y_inner], axis=1).reshape(2 * len(X), -1)
            thetas, xis = 2 * np.arange(len(X)), 2 * np.arange(len(X)) + 1
        self.largest_target = max(self.largest_target, float(np.abs(targets).max()))
        F, F_before = self.mixture(*self.now, points), self.mixture(*self.former, X_inner)
        self.g = np.mean(
            [
                self._tracked(
                    self._sample(f, y), self._sample(F[xi], y), min(self.tracking_rate * w, 1.0)
                )
                for f, xi, y, w in zip(F_before, xis, Y_inner, weight_inner, strict=True)
            ],
            axis=0,
        )
        self.follow_means(F, targets)
        experts = self.state.values(self.kernel, points)
        pairs = list(zip(thetas, xis, weight, weight_inner, strict=True))
        slopes, bends = zip(*(self.assess(f, targets, pairs) for f in experts), strict=True)
        self.former = self.now
        self.share_weights(experts, targets, pairs)
        self.last = points, experts, np.array(slopes), np.array(bends)
        self.assessed = points, targets, window_weights
        self.steps += 1

    def follow_means(self, F, targets):
        """Means of the losses, of their distance from that mean, and of |f − y|."""
        for f, y in zip(F, targets, strict=True):
            loss, columns = losses.value(self.loss, f, y), min(len(f), len(y))
            gap = np.abs(f[:columns] - y[:columns]).mean()
            rate = 1.0 / ((self.steps + 1) * len(F))
            apart = abs(loss) if self.steps == 0 else abs(loss - self.level)
            old = np.zeros(3) if self.steps == 0 else [self.spread, self.level, self.distance]
            change = rate * (np.array([apart, loss, gap]) - old)
            self.spread, self.level, self.distance = (
                np.array([self.spread, self.level, self.distance]) + change
            )

    def assess(self, F, targets, pairs):
        """Slopes (n, q) and curvatures (n,) at the points of a window, θ and ξ by their weights."""
        slopes, bends = np.zeros_like(F), np.zeros(len(F))
        for theta, xi, weight, weight_inner in pairs:
            pair = F[theta], targets[theta], F[xi], targets[xi]
            share = weight / len(pairs) * np.array([1.0, weight_inner])
            for at, w, slope, bend in zip(
                (theta, xi), share, self._coefficients(*pair), self.curvatures(*pair), strict=True
            ):
                slopes[at] += w * slope
                bends[at] += w * bend
        reach = self.trust * (1.0 + self.largest_target)
        return slopes, np.maximum(bends, np.linalg.norm(slopes, axis=1) / reach)

    def curvatures(self, f, y, f_inner, y_inner):
        """Gauss–Newton in the outer function, at θ and at ξ; slopes count by their size."""
        sample, inner = self._sample(f, y), self._sample(f_inner, y_inner)
        outer, inner_slope = (
            risks.outer(self.risk, sample, self.g), risks.inner_slope(self.risk, inner, self.g)
        )  # fmt: skip
        if risks.kind(self.risk) == "Composition":
            return self.composed_curvatures(f, y, outer, inner_slope)
        through = abs(sum(b * s for b, s in zip(outer.slope_inner, inner_slope, strict=True) if s))
        wide = max(self.spread, 1e-6 * (1.0 + abs(sample)))
        rise = (
            risks.outer(self.risk, sample + wide, self.g).slope_loss
            - risks.outer(self.risk, sample - wide, self.g).slope_loss
        ) / (2.0 * wide)
        own, other = (
            factor * loss_curvature(self.loss, at, target, self.distance)
            + max(rise, 0.0) * np.sum(losses.slope(self.loss, at, target) ** 2)
            for factor, at, target in (
                (abs(outer.slope_loss), f, y), (through, f_inner, y_inner)
            )
        )  # fmt: skip
        return own, other if through > 0.0 else 0.0

    def composed_curvatures(self, f, y, outer, inner_slope):
        """Curvature of the outer function along its slope; at ξ in proportion to the slope."""
        slope, length = outer.slope_loss, np.linalg.norm(outer.slope_loss)
        if length == 0.0:
            return 0.0, 0.0
        apart = 1e-6 * (1.0 + np.abs(f).sum())
        there = risks.outer(self.risk, (f - apart * slope / length, y), self.g).slope_loss
        own = abs(slope @ (slope - there)) / (length * apart)
        return own, own * np.linalg.norm(outer.slope_inner @ inner_slope) / length

    def share_weights(self, experts, targets, pairs):
        """Fixed share (Herbster and Warmuth, 1998): η = 0.5, a share of 0.001 is spread evenly.

        A loss counts in units of ten mean losses, and at most as one.
        """
        if not self.first_step:
            return
        counted = np.zeros(3)
        for _, xi, _, weight_inner in pairs:
            lost = np.array([losses.value(self.loss, F[xi], targets[xi]) for F in experts])
            unit = 10.0 * self.level
            counted += weight_inner / len(pairs) * (np.clip(lost / unit, 0, 1) if unit > 0 else 0)
        p = self.p * np.exp(-0.5 * counted)
        self.p = 0.999 * p / p.sum() + 0.001 / 3.0
        self.forgetting = float(1.0 - 0.3 * self.p[LARGER] - 0.15 * self.p[FIRST])

    def note_curvature(self, bend, size):
        self.mean_curvature += (bend - self.mean_curvature) / (self.steps * size)

    def slopes_at(self, state, i):
        """Slopes at point i of the window, where the points before it have left the functions."""
        points, experts, slopes, bends = self.last
        now = state.values(self.kernel, points[i][None])[:, 0]
        return slopes[:, i] + bends[:, i, None] * (now - experts[:, i])

    def moved(self, state, i):
        """The state after point i of the window, in the span of its atoms."""
        x, change, weights = self.last[0][i], self.last[3][:, i], state.weights.copy()
        k = gram(self.kernel, state.atoms, x[None])[:, 0]
        K, own = gram(self.kernel, state.atoms, state.atoms), gram(self.kernel, x[None], x[None])
        a = self.slopes_at(state, i)
        for e, w in enumerate(weights):
            if e == FIRST:
                step = min(self.first_step, 1.0 / max(change[e], 1e-300)) / own.item()
                w -= step * np.outer(np.linalg.solve(K, k), a[e])
            else:
                trusted = state.precision / (4.0 if e == LARGER else 1.0)
                w -= np.outer(np.linalg.solve(trusted + change[e] * np.outer(k, k), k), a[e])
        precision = state.precision + change[0] * np.outer(k, k)
        if self.forgetting < 1.0 and change[0] > 0.0:
            precision = self.forgotten(precision, k, own.item(), change[0])
        return replace(state, weights=weights, precision=precision)

    def forgotten(self, precision, k, own, bend):
        """Let the variance at the sample grow by 1/γ, up to the prior's, and no other direction."""
        Q = np.linalg.inv(precision)
        variance = k @ Q @ k
        lapse = (1.0 / self.forgetting - 1.0) * min(bend / self.mean_curvature, 1.0)
        wanted = min((1.0 + lapse) * variance, max(own / self.prior, variance))
        h = Q @ k / variance
        return np.linalg.inv(Q + (wanted - variance) * np.outer(h, h))
