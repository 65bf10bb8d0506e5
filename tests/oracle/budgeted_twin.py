"""Budgeted kernel SGD in NumPy: every rule by its definition, without incremental updates."""

import numpy as np

from colk.reference import gram, komp, losses


def squared_distance(kernel, A, v, B, w):
    """‖f − g‖² of f = Σ v_j κ(A_j, ·) and g = Σ w_j κ(B_j, ·)."""
    points, weights = np.vstack([A, B]), np.vstack([v, -w])
    return max(0.0, np.sum(weights * (gram(kernel, points, points) @ weights)))


def kernel_sgd(kernel, loss, X, y, step, regularization, budget=np.inf, rule=None):
    """Return atoms (M, p), weights (M, 1) and the H-norm of what each step lost."""
    atoms, weights, errors = np.empty((0, X.shape[1])), np.empty((0, 1)), []
    for t, (x, target) in enumerate(zip(X, y, strict=True)):
        f = gram(kernel, x[None], atoms) @ weights
        slope = losses.slope(loss, f[0], np.array([target]))[0]
        weights = (1.0 - step(t) * regularization) * weights
        if slope != 0.0:
            atoms = np.vstack([atoms, x])
            weights = np.vstack([weights, [[-step(t) * slope]]])
        before = atoms, weights
        if len(atoms) > budget:
            atoms, weights = rule(kernel, atoms, weights)
        errors.append(np.sqrt(squared_distance(kernel, *before, atoms, weights)))
    return atoms, weights, np.array(errors)


def _without(array, *places):
    return np.delete(array, places, axis=0)


def truncation(kernel, atoms, weights):
    return atoms[1:], weights[1:]


def removal(kernel, atoms, weights):
    p = np.argmin(weights[:, 0] ** 2 * np.diag(gram(kernel, atoms, atoms)))
    return _without(atoms, p), _without(weights, p)


def projection(kernel, atoms, weights):
    kept, fitted, _, _ = komp(kernel, atoms, weights, stop_at=len(atoms) - 1)
    return atoms[kept], fitted


def merging(kernel, atoms, weights):
    p = int(np.argmin(np.abs(weights[:, 0])))
    found = [best_merger(kernel, atoms, weights, p, n) for n in range(len(atoms)) if n != p]
    _, n, z, w = min(found, key=lambda merger: merger[0])
    return np.vstack([_without(atoms, p, n), z]), np.vstack([_without(weights, p, n), [[w]]])


def best_merger(kernel, atoms, weights, p, n, low=-2.0, high=2.0, points=401, rounds=6):
    """Return the least loss of replacing p and n by one atom on their line, n, z and its weight."""
    pair, w = atoms[[p, n]], weights[[p, n]]
    for _ in range(rounds):
        h = np.linspace(low, high, points)[:, None]
        Z = h * atoms[p] + (1.0 - h) * atoms[n]
        own = gram(kernel, Z[:1], Z[:1])[0, 0]  # a radial kernel's is the same everywhere
        merged = (gram(kernel, Z, pair) @ w)[:, 0] / own
        lost = (w.T @ gram(kernel, pair, pair) @ w)[0, 0] - merged**2 * own
        best = int(np.argmin(lost))
        width = (high - low) / (points - 1)
        low, high = h[best, 0] - width, h[best, 0] + width
    return lost[best], n, Z[best], merged[best]
