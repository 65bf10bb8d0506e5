"""The second-order step: a covariance of the weights, formed anew at every sample."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from colk._validation import Array
from colk.reference import losses, risks
from colk.reference.colk import COLK, LATEST, VANISHING, _rate_at
from colk.reference.kernels import gram
from colk.reference.komp import fit_weights, komp

__all__ = ["NewtonCOLK"]

# A point of less novelty than this share of κ(x, x) is inside the span.
NOVELTY_FLOOR = 1e-9
# How far apart two slopes are taken whose difference is a curvature, relative to 1 + a size.
DIFFERENCE = 1e-6


@dataclass
class NewtonCOLK(COLK):
    """COLK with curvature, one step a call: the weights w have the covariance Q.

    Before the first sample a direction of H has the variance 1/λ: a point of novelty s, whose part
    outside of the span is κ(x, ·) − Σ_j v_j κ(d_j, ·), adds (−v, 1)(−v, 1)ᵀ/(λs) to Q. A sample of
    slope a and curvature b then has h = Qk and the variance τ = kᵀh there; w moves by −a·gain·h and
    Q by −b·gain·hhᵀ, with gain = 1/(1 + bτ). All that is forgotten is forgotten by projection.

    Parameters
    ----------
    prior, forgetting, trust, restart
        As in `colk.learners.NewtonCOLK`; what is not named here, as in `COLK`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import reference
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Squared
    >>> from colk.risks import Mean
    >>> learner = reference.NewtonCOLK(Gaussian(0.5), Squared(), Mean(), 1, 1, prior=2.0)
    >>> learner.learn(np.array([[0.0]]), np.array([[1.0]])).weights  # of (w - 1)² + w²
    array([[0.5]])
    """

    late: ClassVar[float] = 1.0  # prior of a direction for which an atom has to leave, over λ
    prior: float = 0.3
    forgetting: float = 1.0
    trust: float = 10.0
    covariance: Array = field(init=False)
    level: float = 0.0
    spread: float = 0.0
    distance: float = 0.0
    largest_target: float = 0.0
    restart: bool = False
    mean_curvature: float = 0.0
    tail_loss: float = 0.0
    beyond: float = 0.0
    restarts: int = 0
    rested_until: int = LATEST

    def __post_init__(self) -> None:
        super().__post_init__()
        self.covariance = np.empty((0, 0))

    def step_batch(
        self,
        X: Array,
        Y: Array,
        X_inner: Array,
        Y_inner: Array,
        weight: Array,
        weight_inner: Array,
    ) -> None:
        """Make one step with B pairs of θ, the rows of (X, Y), and ξ, those of the inner ones."""
        points, targets, thetas, xis = _window(X, Y, X_inner, Y_inner)
        self.largest_target = max(self.largest_target, float(np.abs(targets).max()))
        F = gram(self.kernel, points, self.atoms) @ self.weights
        before = gram(self.kernel, X_inner, self.previous[0]) @ self.previous[1]
        rate = _rate_at(self.tracking_rate, self.steps)
        self.g = np.mean(
            [
                self._tracked(
                    self._sample(before[b], Y_inner[b]),
                    self._sample(F[xi], Y_inner[b]),
                    min(rate * weight_inner[b], 1.0),
                )
                for b, xi in enumerate(xis)
            ],
            axis=0,
        )
        self._follow_spreads(F, targets)
        if self.restart and self._has_changed(F, targets):
            inverse = np.linalg.inv(gram(self.kernel, self.atoms, self.atoms))
            self.covariance = np.asarray(inverse / self.prior, dtype=float)
            self.rested_until, self.restarts = self.steps + LATEST, self.restarts + 1
        plans = self._plan(points, F, targets, (thetas, xis), (weight, weight_inner))
        # one point after the other: its slope where the others have left f
        self.previous = (self.atoms, self.weights)
        eps = self.eps + self.fraction * np.sqrt(self.squared_move)
        self.error, known = 0.0, len(self.atoms)
        for x, plan in zip(points, plans, strict=True):
            if gram(self.kernel, x[None], x[None])[0, 0] >= VANISHING:
                self._take(x, plan, eps - self.error, len(points))
        if len(self.atoms) > known:
            self._prune(max(eps - self.error, 0.0))
        self.steps += 1

    def _plan(
        self, points: Array, F: Array, targets: Array, places: Any, weights: Any
    ) -> list[Any]:
        """Value, slope and curvature at every point: those of θ and ξ by their weights."""
        (thetas, xis), (weight, weight_inner) = places, weights
        slopes, bends = np.zeros((len(F), self.n_outputs)), np.zeros(len(F))
        for b, (theta, xi) in enumerate(zip(thetas, xis, strict=True)):
            pair = F[theta], targets[theta], F[xi], targets[xi]
            share = weight[b] / len(weight) * np.array([1.0, weight_inner[b]])
            c, c_inner = self._coefficients(*pair)
            own, inner = self._curvatures(*pair)
            slopes[theta] += share[0] * c
            slopes[xi] += share[1] * c_inner
            bends[theta] += share[0] * own
            bends[xi] += share[1] * inner
        reach = self.trust * (1.0 + self.largest_target)
        bends = np.asarray(np.maximum(bends, np.linalg.norm(slopes, axis=1) / reach), dtype=float)
        return list(zip(F, slopes, bends, strict=True))

    def _follow_spreads(self, F: Array, targets: Array) -> None:
        """How far losses are from their mean, and predictions from their targets."""
        for f, y in zip(F, targets, strict=True):
            loss = losses.value(self.loss, f, y)
            columns = min(len(f), len(y))
            gap = np.abs(f[:columns] - y[:columns]).mean()
            if self.steps == 0:
                change = np.array([loss, abs(loss), gap])
            else:
                now = np.array([loss, abs(loss - self.level), gap])
                change = now - np.array([self.level, self.spread, self.distance])
                change /= min(self.steps + 1, LATEST)
            change /= len(F)
            self.level += change[0]
            self.spread += change[1]
            self.distance += change[2]

    def _has_changed(self, F: Array, targets: Array) -> bool:
        """Whether most of the latest losses lie beyond the former upper tenth of them all."""
        for f, y in zip(F, targets, strict=True):
            loss = losses.value(self.loss, f, y)
            self.tail_loss = loss if self.steps == 0 else self.tail_loss
            above = float(loss > self.tail_loss)
            self.beyond += 0.05 * (above - self.beyond)
            self.tail_loss -= 0.01 * np.sqrt(0.1) * self.spread * (1.0 - 10.0 * above)
        return self.beyond > 0.6 and self.steps >= self.rested_until

    def _curvatures(self, f: Array, y: Array, f_inner: Array, y_inner: Array) -> Array:
        """Curvatures at θ and at ξ: Gauss–Newton in the outer function, slopes by their size."""
        if risks.kind(self.risk) == "Composition":
            outer = risks.outer(self.risk, (f, y), self.g)
            passed = outer.slope_inner @ risks.inner_slope(self.risk, (f_inner, y_inner), self.g)
            own, length = self._directional(f, y), np.linalg.norm(outer.slope_loss)
            return own * np.array([1.0, np.linalg.norm(passed) / length if length else 0.0])
        value, width = losses.value(self.loss, f, y), self.distance
        bend = losses.curvature(self.loss, f, y, width)
        apart = max(self.spread, DIFFERENCE * (1.0 + abs(value)))
        low, here, high = (
            risks.outer(self.risk, value + shift, self.g).slope_loss
            for shift in (-apart, 0.0, apart)
        )
        by_inner = risks.outer(self.risk, value, self.g).slope_inner
        inner_slope = risks.inner_slope(
            self.risk, losses.value(self.loss, f_inner, y_inner), self.g
        )
        moving = np.flatnonzero(inner_slope)
        through = by_inner[moving] @ inner_slope[moving]
        rise = max((high - low) / (2.0 * apart), 0.0)
        own = abs(here) * bend + rise * np.sum(losses.slope(self.loss, f, y) ** 2)
        if through == 0.0:
            return np.array([own, 0.0])
        inner = abs(float(through)) * losses.curvature(self.loss, f_inner, y_inner, width)
        inner += rise * np.sum(losses.slope(self.loss, f_inner, y_inner) ** 2)
        return np.array([own, inner])

    def _directional(self, f: Array, y: Array) -> float:
        """Curvature of a composition's outer function along its own slope."""
        slope = risks.outer(self.risk, (f, y), self.g).slope_loss
        length = np.linalg.norm(slope)
        if length == 0.0:
            return 0.0
        apart = DIFFERENCE * (1.0 + np.abs(f).sum())
        there = risks.outer(self.risk, (f - apart * slope / length, y), self.g).slope_loss
        return abs(float(slope @ (slope - there)) / float(length * apart))

    def _take(self, x: Array, plan: Any, eps: float, size: int) -> None:
        """Move w and Q by one point; it enters where leaving it out would cost more than eps."""
        f, a, b = plan
        a = a + b * ((gram(self.kernel, x[None], self.atoms) @ self.weights)[0] - f)
        atoms, M = np.vstack([self.atoms, x]), len(self.atoms)
        K, length = gram(self.kernel, atoms, atoms), np.linalg.norm(a)
        k, own = K[:, -1], K[-1, -1]
        v = np.linalg.solve(K[:M, :M], k[:M])
        s = own - k[:M] @ v
        Q, wide = np.zeros((M + 1, M + 1)), np.append(-v, 1.0)
        Q[:M, :M] = self.covariance
        h = Q @ k
        gain = 1.0 / (1.0 + b * (k @ h))
        enters = False
        prior = self.prior if self.max_atoms > M else self.late * self.prior
        if s > NOVELTY_FLOOR * own:
            wide_h = h + wide * (wide @ k) / (prior * s)
            wide_gain = 1.0 / (1.0 + b * (k @ wide_h))
            lost = gain * h - wide_gain * wide_h
            error = length * np.sqrt(lost @ K @ lost)
            price = (length * wide_gain) ** 2 * s / prior**2
            enters = error > eps and (self.max_atoms > M or price > self._prices().min())
            self.error += 0.0 if enters else error
        if enters:
            h, gain = wide_h, wide_gain
            Q += np.outer(wide, wide) / (prior * s)
        rate = 1.0 / (min(self.steps + 1, LATEST) * size)
        self.mean_curvature += rate * (b - self.mean_curvature)
        Q -= self._amount(float(b), float(gain), float(k @ h), float(own)) * np.outer(h, h)
        weights = np.vstack([self.weights, np.zeros_like(a)]) - gain * np.outer(h, a)
        left = M + 1 if enters else M
        self.atoms, self.weights, self.covariance = atoms[:left], weights[:left], Q[:left, :left]
        move = float((length * gain) ** 2 * (h @ K @ h))
        self.squared_move += rate * (move - self.squared_move)

    def _amount(self, b: float, gain: float, variance: float, own: float) -> float:
        """By what multiple of hhᵀ Q falls; less where it forgets, no further than the prior."""
        amount, forgetting = b * gain, float(self.forgetting)
        if forgetting < 1.0 and b > 0.0 and variance > 1e-9:
            lapse = (1.0 / forgetting - 1.0) * min(b / self.mean_curvature, 1.0)
            most = min((1.0 - own / (self.prior * variance)) / variance, amount)
            amount = max(gain * (b - lapse / variance), most)
        return amount

    def _prices(self) -> Array:
        """The squared H-norms that dropping an atom costs."""
        inverse = np.linalg.inv(gram(self.kernel, self.atoms, self.atoms))
        return np.asarray((self.weights**2).sum(axis=1) / np.diag(inverse), dtype=float)

    def _prune(self, eps: float) -> None:
        """KOMP of f, and Q projected as f is."""
        atoms = self.atoms
        if eps > 0.0 or len(atoms) > self.max_atoms:
            kept, self.weights, lost, _ = komp(
                self.kernel, atoms, self.weights, eps, at_most=self.max_atoms
            )
            self.atoms = atoms[kept]
            T = fit_weights(self.kernel, self.atoms, atoms, np.eye(len(atoms)))
            self.covariance = T @ self.covariance @ T.T
            self.error += lost


def _window(X: Array, Y: Array, X_inner: Array, Y_inner: Array) -> tuple[Any, ...]:
    """Points and targets in the order of the stream, each once, and the places of θ and ξ."""
    found: dict[bytes, int] = {}
    samples: list[tuple[Array, Array]] = []
    places = []
    for pair in zip(zip(X, Y, strict=True), zip(X_inner, Y_inner, strict=True), strict=True):
        for x, y in pair:
            key = x.tobytes() + y.tobytes()
            if key not in found:
                found[key] = len(samples)
                samples.append((x, y))
            places.append(found[key])
    points, targets = (np.array(each) for each in zip(*samples, strict=True))
    return points, targets, places[::2], places[1::2]
