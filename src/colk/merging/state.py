"""The state of a merged learner, assembled from the states of the learners."""

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from colk._validation import Array
from colk.learners import NewtonCOLK
from colk.merging import information
from colk.merging.information import Information
from colk.rkhs.expansion import KernelExpansion

__all__ = ["learner_from", "waiting_samples"]

# Numbers of a packed stream that add up. The first two count samples, so weights multiply them.
_SUMS = ("loss_sum", "weight_sum", "error_sum", "restarts", "clipped_sum")
# Running means, which are averaged by steps.
_MEANS = (
    "squared_slope", "mean_curvature", "squared_move", "noise", "level", "spread", "distance",
)  # fmt: skip
# Steps before the first choice of λ, as in the engine.
_FIRST_CHOICE = 200


def learner_from(
    model: NewtonCOLK,
    states: Sequence[dict[str, Any]],
    before: dict[str, Any] | None,
    weights: Array,
    info: Information,
    f: KernelExpansion,
    prior: float,
    error: float,
) -> NewtonCOLK:
    """Return a learner with the settings of `model`, function f and P = (λI + C)⁻¹.

    `states` are the packed streams of the learners, `before` is that of their base, and `error` is
    the bound on the compression error.
    """
    names = [name for name in signature(type(model)).parameters if name != "trace"]
    settings = {name: getattr(model, name) for name in names}
    merged = type(model)(**settings, trace=model.is_traced)
    tallies = _tallies(states, before, weights)
    packed = {
        **states[0],
        **tallies,
        "error_sum": tallies["error_sum"] + error,
        "squared_norm": f.norm() ** 2,
        "window": _empty(states[0]["window"]),
        "P": _pack_inverse(info, prior, states[0]["P"]),
    }
    n_features = model.n_features
    rows = [f.weights.reshape(f.n_atoms, -1).T]
    if model.prior == "auto":
        first = _first_prior(merged, n_features, packed)
        rows += [information.solve(info, each).T for each in _grid(first, states[0]["lost"])]
        packed |= {
            "prior": prior,
            "lost": np.zeros_like(states[0]["lost"]),
            "due": max(2 * packed["steps"], _FIRST_CHOICE),
        }
    packed["dictionary"] = _pack_dictionary(info, np.concatenate(rows))
    merged.set_state(
        {"n_features": n_features, "stream": packed, "lines": None, "is_vector": model.is_vector}
    )
    return merged


def waiting_samples(state: dict[str, Any], is_vector: bool) -> tuple[Array, Array, Array]:
    """Return points, targets and weights of the samples that wait for a full batch."""
    window = state["window"]
    targets = window["targets"]
    return window["points"], targets[:, 0] if is_vector else targets, window["weights"]


def _tallies(
    states: Sequence[dict[str, Any]], before: dict[str, Any] | None, weights: Array
) -> dict[str, Any]:
    """Return the counts, sums and means of all samples; those of the base count once."""
    start = {name: 0 if before is None else before[name] for name in ("steps", *_SUMS)}
    new = {name: [state[name] - start[name] for state in states] for name in start}
    found: dict[str, Any] = {name: start[name] + sum(new[name]) for name in start}
    for name in _SUMS[:2]:
        found[name] = float(start[name] + np.dot(weights, new[name]))
    share = np.array([state["steps"] for state in states], dtype=float)
    share = share / share.sum() if share.any() else np.full(len(states), 1.0 / len(states))
    for name in _MEANS:
        mean = sum(
            part * np.asarray(state[name]) for part, state in zip(share, states, strict=True)
        )
        found[name] = mean if np.ndim(mean) else float(mean)
    found["largest_target"] = max(state["largest_target"] for state in states)
    return found


def _empty(window: dict[str, Any]) -> dict[str, Any]:
    """Return a window without waiting samples."""
    return {name: value if name == "g" else value[:0] for name, value in window.items()}


def _pack_inverse(info: Information, prior: float, packed: dict[str, Any]) -> dict[str, Any]:
    """Return P as a stream packs it, without deferred updates."""
    return {
        "matrix": information.inverse_curvature(info, prior),
        "rows": np.zeros((len(packed["rows"]), len(info.atoms))),
        "amounts": np.zeros_like(packed["amounts"]),
        "pending": 0,
    }


def _pack_dictionary(info: Information, weights: Array) -> dict[str, Any]:
    """Return atoms, rows of weights and the factor L⁻¹ of K⁻¹ as a dictionary packs them."""
    K = info.kernel.of_atoms.gram(info.atoms)
    factor = solve_triangular(np.linalg.cholesky(K), np.eye(len(K)), lower=True)
    return {
        "atoms": np.ascontiguousarray(info.atoms.T),
        "weights": np.ascontiguousarray(weights),
        "diagonal": (factor**2).sum(axis=0),
        "own": info.kernel.of_atoms.diagonal(info.atoms),
        "ghosts": np.zeros((info.atoms.shape[1] + len(weights), 0)),
        "factor": factor,
    }


def _first_prior(merged: NewtonCOLK, n_features: int, packed: dict[str, Any]) -> float:
    """Return the λ that prior="auto" starts from."""
    merged.empty_stream(n_features, packed)
    return merged.current_prior


def _grid(first: float, lost: Array) -> Array:
    """Return every λ that is tried, in steps of √10 around the first."""
    steps = np.arange(len(lost)) - len(lost) // 2
    return np.asarray(first * 10.0 ** (0.5 * steps))
