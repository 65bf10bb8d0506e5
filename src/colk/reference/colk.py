"""Algorithm 1 of the paper, with mini-batches, sample weights and averages of the iterates."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from colk._validation import Array
from colk.reference import losses, risks
from colk.reference.implicit import implicit_coefficients
from colk.reference.kernels import gram
from colk.reference.komp import fit_weights, komp
from colk.reference.trackers import start, track

__all__ = ["COLK"]

# If κ(x, x) is below this, κ(x, ·) counts as 0, as for a linear kernel at x = 0.
VANISHING = 1e-280
# Number of steps in the running mean of the squared step norms.
LATEST = 1000
# Number of steps between two computations of ‖f̄‖.
REVIEW = 1000


def _rate_at(rate: Any, t: int) -> float:
    """Return a number unchanged, a schedule as initial/(1 + t/scale)^power."""
    if not hasattr(rate, "initial"):
        return float(rate)
    return float(rate.initial / (1.0 + t / rate.scale) ** rate.power)


def _add_atom(atoms: Array, weights: Array, point: Array, amount: Array) -> tuple[Array, Array]:
    """Return f + amount·κ(point, ·); an equal atom takes the weight, and 0 adds no atom."""
    if not amount.any():
        return atoms, weights
    same = np.flatnonzero((atoms == point).all(axis=1))
    if len(same) == 0:
        return np.vstack([atoms, point]), np.vstack([weights, amount])
    weights = weights.copy()
    weights[same[0]] += amount
    return atoms, weights


@dataclass
class COLK:
    """COLK, one step per call: a step takes pairs of samples (θ, ξ) and updates f, f̄ and g.

    There is no guard against divergence. The order of the atoms is arbitrary.

    Parameters
    ----------
    kernel, loss, risk, step_size, tracking_rate, regularization, tracker, averaging
        As in `colk.learners.COLK`; only their attributes are used.
    gradient_bound, norm_bound : float
        As in `colk.learners.COLK`.
    n_features, n_outputs : int
        Numbers of features and of outputs.
    eps, parsimony, max_atoms, fraction : float
        As in `colk.compressors.KOMP`.
    implicit : bool
        As in `colk.learners.COLK`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import reference
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Squared
    >>> from colk.risks import Variance
    >>> learner = reference.COLK(Gaussian(0.5), Squared(), Variance(0.1), n_features=1, n_outputs=1)
    >>> learner.step(np.array([0.0]), np.array([1.0]), np.array([2.0]), np.array([-2.0]))
    >>> learner.atoms.ravel()
    array([0., 2.])
    >>> X = np.linspace(0.0, 1.0, 40)[:, None]
    >>> learner.learn(X, np.sin(6.0 * X), pairing="overlap", batch_size=4).steps
    10
    """

    kernel: Any
    loss: Any
    risk: Any
    n_features: int
    n_outputs: int
    step_size: Any = 0.1
    tracking_rate: Any = 0.1
    regularization: float = 0.0
    eps: float = 0.0
    parsimony: float = 0.0
    max_atoms: float = np.inf
    tracker: Any = "momentum"
    gradient_bound: float = np.inf
    norm_bound: float = np.inf
    averaging: Any = None
    implicit: bool = False
    fraction: float = 0.0
    squared_move: float = 0.0
    atoms: Array = field(init=False)
    weights: Array = field(init=False)
    average: Array = field(init=False)
    g: Array = field(init=False)
    error: float = 0.0
    taken: float = 0.0
    taken_now: float = 0.0
    squared_average: float = 0.0
    average_error: float = 0.0
    steps: int = 0

    def __post_init__(self) -> None:
        self.atoms = np.empty((0, self.n_features))
        self.weights = self.average = np.empty((0, self.n_outputs))
        self.previous = (self.atoms, self.weights)
        self.g = np.zeros(risks.n_inner(self.risk))
        self.window: list[tuple[Array, Array, float]] = []

    def predict(self, X: Array) -> Array:
        """Return f̄, or f without averaging, at the points X (n, p)."""
        weights = self.weights if self.averaging is None else self.average
        return gram(self.kernel, X, self.atoms) @ weights

    def learn(
        self,
        X: Array,
        Y: Array,
        pairing: str = "independent",
        batch_size: int = 1,
        sample_weight: Array | None = None,
        xi_per_theta: int = 1,
    ) -> "COLK":
        """Split a stream into windows, and make a step with each full window.

        With "independent" a window holds θ, ξ, θ, ξ, …, or several ξ after each θ. With "overlap"
        each sample is a θ whose ξ is the next sample, and the last sample also starts the next
        window. With "same", and if nothing is tracked, each sample is both. Samples of weight 0 are
        skipped.
        """
        pairing = "same" if len(self.g) == 0 else pairing
        k = xi_per_theta if pairing == "independent" else 1
        thetas = np.repeat(np.arange(batch_size) * (1 + k if pairing == "independent" else 1), k)
        xis = thetas + (0 if pairing == "same" else 1 + np.tile(np.arange(k), batch_size))
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        for sample in zip(X, Y, weights, strict=True):
            if sample[2] > 0.0:
                self.window.append(sample)
            if len(self.window) == xis[-1] + 1:
                x, y, weight = (np.array(each) for each in zip(*self.window, strict=True))
                self.step_batch(x[thetas], y[thetas], x[xis], y[xis], weight[thetas], weight[xis])
                self.window = self.window[-1:] if pairing == "overlap" else []
        return self

    def step(
        self,
        x: Array,
        y: Array,
        x_inner: Array,
        y_inner: Array,
        weight: float = 1.0,
        weight_inner: float = 1.0,
    ) -> None:
        """Make one step with θ = (x, y) and ξ = (x_inner, y_inner) of these sample weights."""
        one = np.array([weight]), np.array([weight_inner])
        self.step_batch(x[None], y[None], x_inner[None], y_inner[None], *one)

    def step_batch(
        self,
        X: Array,
        Y: Array,
        X_inner: Array,
        Y_inner: Array,
        weight: Array,
        weight_inner: Array,
    ) -> None:
        """Make one step with B pairs; θ are the rows of (X, Y), ξ those of the inner arrays."""
        step = _rate_at(self.step_size, self.steps)
        F, F_inner = (
            gram(self.kernel, points, self.atoms) @ self.weights for points in (X, X_inner)
        )
        # g_{t+1} = (1 − β)(g_t − h(f_{t−1}(ξ))) + h(f_t(ξ)), its mean over the batch
        F_before = gram(self.kernel, X_inner, self.previous[0]) @ self.previous[1]
        rates = np.minimum(_rate_at(self.tracking_rate, self.steps) * weight_inner, 1.0)
        self.g = np.mean(
            [
                self._tracked(self._sample(before, y), self._sample(now, y), rate)
                for before, now, y, rate in zip(F_before, F_inner, Y_inner, rates, strict=True)
            ],
            axis=0,
        )
        # f~ = (1 − αλ) f − (α/B) Σ_b [c_b κ(x_b, ·) + c'_b κ(x'_b, ·)]
        self.previous = (self.atoms, self.weights)
        changes = np.empty((2 * len(X), self.n_outputs))
        for b in range(len(X)):
            c, c_inner = self._coefficients(F[b], Y[b], F_inner[b], Y_inner[b])
            changes[b] = weight[b] / len(X) * c
            changes[len(X) + b] = weight[b] * weight_inner[b] / len(X) * c_inner
        points, factor = np.vstack([X, X_inner]), 1.0 - step * self.regularization
        if self.implicit:
            factor = 1.0 / (1.0 + step * self.regularization)
            step *= factor
            samples = np.hstack([points, np.vstack([Y, Y_inner]), np.vstack([F, F_inner])])
            # A sample in both roles is one atom.
            samples, places = np.unique(samples, axis=0, return_inverse=True)
            points, targets, values = np.split(samples, [X.shape[1], X.shape[1] + Y.shape[1]], 1)
            changes = np.stack(
                [changes[places.ravel() == i].sum(axis=0) for i in range(len(points))]
            )
        K = gram(self.kernel, points, points)
        if self.implicit:
            changes = implicit_coefficients(self.loss, changes, values, targets, K, step, factor)
        atoms, weights = self.atoms, factor * self.weights
        for x, own, change in zip(points, np.diag(K), changes, strict=True):
            if own >= VANISHING:
                atoms, weights = _add_atom(atoms, weights, x, -step * change)
        # f = KOMP(f~, ε)
        move = step**2 * np.sum(changes * (K @ changes))
        self.squared_move += (move - self.squared_move) / min(self.steps + 1, LATEST)
        eps = self.eps + self.parsimony * step**2 + self.fraction * np.sqrt(self.squared_move)
        self._compress(atoms, weights, eps)
        K = gram(self.kernel, self.atoms, self.atoms)
        norm = np.sqrt(max(0.0, np.sum(self.weights * (K @ self.weights))))
        self.weights = self.weights * min(1.0, self.norm_bound / norm if norm > 0 else 1.0)
        # f̄ = f̄ + ρ(f − f̄)
        rate = self._averaging_rate()
        self.average = self.average + rate * (self.weights - self.average)
        self.average_error = (1.0 - rate) * (self.average_error + np.sqrt(self.taken_now))
        self.taken += rate * (self.taken_now - self.taken)
        self.steps += 1

    @property
    def _is_of_predictions(self) -> bool:
        return risks.kind(self.risk) in ("Composition", "AUC")

    def _sample(self, f: Array, y: Array) -> Any:
        """Return the argument of the risk: a loss, or a prediction and its target."""
        return (f, y) if self._is_of_predictions else losses.value(self.loss, f, y)

    def _tracked(self, before: Any, now: Any, rate: float) -> Array:
        if self.steps == 0:
            return start(self.risk, now)
        return track(self.tracker, self.risk, self.g, before, now, rate)

    def _coefficients(self, f: Array, y: Array, f_inner: Array, y_inner: Array) -> Array:
        """Rows c = ∂outer/∂ℓ·slope and c' = ⟨∂outer/∂g, inner'⟩·slope, scaled back together."""
        _, by_loss, by_inner = risks.outer(self.risk, self._sample(f, y), self.g)
        inner_slope = risks.inner_slope(self.risk, self._sample(f_inner, y_inner), self.g)
        enter = [i for i, slopes in enumerate(inner_slope) if np.any(slopes)]
        through = by_inner[enter] @ inner_slope[enter]
        if not self._is_of_predictions:
            by_loss = by_loss * losses.slope(self.loss, f, y)
            through = through * losses.slope(self.loss, f_inner, y_inner)
        both = np.array([by_loss, through])
        length = np.linalg.norm(both)
        return both * min(1.0, self.gradient_bound / length) if length > 0 else both

    def _compress(self, atoms: Array, weights: Array, eps: float) -> None:
        """Apply KOMP to f~ and to the average; the cost of an atom is the loss of both."""
        gained = len(atoms) - len(self.atoms)
        average = np.vstack([self.average, np.zeros((gained, self.n_outputs))])
        self.atoms, self.weights, self.average, self.error = atoms, weights, average, 0.0
        self.taken_now = 0.0
        if eps > 0.0 or len(atoms) > self.max_atoms:  # ε = 0 does not change f
            both = weights if self.averaging is None else np.hstack([weights, average])
            left, fitted, _, _ = komp(self.kernel, atoms, both, eps, at_most=self.max_atoms)
            self.atoms, self.weights = atoms[left], fitted[:, : self.n_outputs]
            self.average = fit_weights(self.kernel, self.atoms, atoms, average)
            self.error = np.sqrt(self._squared_change(atoms, weights, self.weights, left))
            self.taken_now = self._squared_change(atoms, average, self.average, left)

    def _squared_change(self, atoms: Array, before: Array, after: Array, left: list[int]) -> float:
        """Return ‖f − f~‖² of weights before and after, where the indices `left` remain."""
        lost = before.copy()
        lost[left] -= after
        return float(max(np.sum(lost * (gram(self.kernel, atoms, atoms) @ lost)), 0.0))

    def _averaging_rate(self) -> float:
        """Return ρ: the scheduled rate, or √(Q/R) if compression takes more than that restores.

        Q is the mean squared norm that compression removes from f̄ per step, and R = 2M‖f̄‖².
        """
        if self.averaging is None:
            return 1.0
        rate = self._scheduled_rate()
        if self.squared_average > 0.0:
            noise = 2.0 * max(len(self.atoms), 1) * self.squared_average
            rate = max(rate, min(np.sqrt(self.taken / noise), 1.0))
        if (self.steps + 1) % REVIEW == 0:
            K = gram(self.kernel, self.atoms, self.atoms)
            self.squared_average = float(np.sum(self.average * (K @ self.average)))
        return rate

    def _scheduled_rate(self) -> float:
        """Return a constant, or (1 + growth)/(k + growth) at the k-th step after the burn-in."""
        if not hasattr(self.averaging, "growth"):
            return float(self.averaging.rate)
        k = max(self.steps + 1 - self.averaging.burn_in, 1)
        return float((1.0 + self.averaging.growth) / (k + self.averaging.growth))
