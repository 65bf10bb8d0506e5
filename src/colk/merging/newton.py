"""Merge Newton learners of different samples into one learner, which can continue learning."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from colk._engine.dictionary import Dictionary
from colk._validation import Array
from colk.compressors import KOMP, pursuit
from colk.kernels import Kernel
from colk.learners import NewtonCOLK
from colk.merging import information
from colk.merging.functions import certified_distance
from colk.merging.information import Information
from colk.merging.state import learner_from, waiting_samples
from colk.rkhs.compression import compress
from colk.rkhs.expansion import KernelExpansion

__all__ = ["check_learners", "merge_learners"]

# Settings that learners must have in common.
_COMMON = ("kernel", "loss", "prior", "forgetting")


def check_learners(learners: Sequence[NewtonCOLK]) -> None:
    """Raise ValueError for learners whose information cannot be added."""
    for learner in learners:
        if not learner.risk.is_mean:
            raise ValueError(
                f"learners under {type(learner.risk).__name__} cannot be merged: only the mean is "
                "a sum over samples; merge their functions, or fit all rows with the estimators of "
                "colk.distributed"
            )
        if learner.forgetting == "auto":
            raise ValueError(
                "learners with forgetting='auto' cannot be merged, because each mixes experts of "
                "its own; give forgetting a number, or merge their functions"
            )
        for name in _COMMON:
            mine, other = getattr(learners[0], name), getattr(learner, name)
            if mine != other:
                raise ValueError(f"learners to merge differ in {name}: {mine!r} and {other!r}")
        if _shape(learner) != _shape(learners[0]):
            raise ValueError(
                "learners to merge differ in (features, outputs, vector of targets): "
                f"{_shape(learners[0])} and {_shape(learner)}"
            )


def _shape(learner: NewtonCOLK) -> tuple[int, int | None, bool]:
    return learner.n_features, learner.n_outputs, learner.is_vector


def merge_learners(
    learners: Sequence[NewtonCOLK],
    weights: Array,
    base: NewtonCOLK | None,
    eps: float | None,
    max_atoms: int | None,
) -> tuple[NewtonCOLK, float, int]:
    """Return the merged learner, a bound on the compression error, and the atoms before it."""
    states = [learner.get_state()["stream"] for learner in learners]
    before = None if base is None else base.get_state()["stream"]
    _check_base(states, before)
    prior = _common_prior(learners, states)
    joint = _joint(learners, weights, base, prior)
    rule = learners[0].compressor
    assert isinstance(rule, KOMP)
    limits = [limit for limit in (max_atoms, rule.max_atoms) if limit is not None]
    kept, f, error = _compressed(joint, prior, eps, min(limits, default=None))
    merged = learner_from(learners[0], states, before, weights, kept, f, prior, error)
    for state in states:  # samples that wait for a full batch are in no sum yet
        if len(state["window"]["points"]):
            merged.learn_checked(*waiting_samples(state, learners[0].is_vector))
    return merged, error, len(joint.atoms)


def _check_base(states: Sequence[dict[str, Any]], before: dict[str, Any] | None) -> None:
    """Check that the learners can have started as copies of the base."""
    if before is None:
        return
    if len(before["window"]["points"]):
        raise ValueError(
            "samples of the base wait for a full batch, so every copy would learn them; start "
            "the learners from a base after a full batch"
        )
    for k, state in enumerate(states):
        if state["steps"] < before["steps"]:
            raise ValueError(
                f"learner {k} has made {state['steps']} steps and the base {before['steps']}: it "
                "did not start from this base"
            )


def _common_prior(learners: Sequence[NewtonCOLK], states: Sequence[dict[str, Any]]) -> float:
    """Return λ; with prior="auto" the geometric mean of the learners' λ, by their steps."""
    if learners[0].prior != "auto":
        return learners[0].prior
    priors = np.array([learner.current_prior for learner in learners])
    steps = [state["steps"] for state in states]
    mean = np.exp(np.average(np.log(priors), weights=steps if any(steps) else None))
    return float(np.clip(mean, priors.min(), priors.max()))


def _joint(
    learners: Sequence[NewtonCOLK], weights: Array, base: NewtonCOLK | None, prior: float
) -> Information:
    """Return the sum of the information of all learners, on the union of their atoms."""
    parts = [
        Information.of(learner.function, learner.covariance, learner.current_prior, float(weight))
        for learner, weight in zip(learners, weights, strict=True)
    ]
    if base is not None:
        known = Information.of(base.function, base.covariance, base.current_prior)
        parts = [
            information.gained(part, known, float(weight))
            for part, weight in zip(parts, weights, strict=True)
        ]
        parts = [known, *parts]
    together = np.concatenate([part.atoms for part in parts])
    return information.add(parts, _independent(parts[0].kernel, together))


def _independent(kernel: Kernel, points: Array) -> Array:
    """Return the distinct points, without those in the span of earlier ones up to rounding."""
    points = points[np.sort(np.unique(points, axis=0, return_index=True)[1])]
    d = Dictionary(kernel.of_atoms, points.shape[1], capacity=max(len(points), 1))
    pursuit.append(d, points, np.zeros((len(points), 1)))
    return d.atoms


def _compressed(
    joint: Information, prior: float, eps: float | None, max_atoms: int | None
) -> tuple[Information, KernelExpansion, float]:
    """Return the information on the remaining atoms, the function, and the H-norm of its error.

    Without eps, the atoms that raise the objective of all samples least are dropped, and the
    function is the fit to all samples on the others. With eps, KOMP drops atoms, and the function
    is that fit, or the projection if the fit is farther away than eps.
    """
    whole = KernelExpansion(joint.kernel, joint.atoms, information.solve(joint, prior))
    if eps is None and (max_atoms is None or whole.n_atoms <= max_atoms):
        return joint, whole, 0.0
    if eps is None:
        return _refitted(
            joint, information.useful_atoms(joint, prior, max_atoms or 0), whole, prior
        )
    found = compress(whole, eps=eps, max_atoms=max_atoms)
    kept, f, error = _refitted(joint, np.array(found.function.atoms), whole, prior)
    return (kept, f, error) if error <= eps else (kept, found.function, found.error)


def _refitted(
    joint: Information, atoms: Array, whole: KernelExpansion, prior: float
) -> tuple[Information, KernelExpansion, float]:
    """Return the information and the fit on these atoms, and its distance from the whole."""
    kept = information.carry(joint, atoms)
    f = KernelExpansion(kept.kernel, kept.atoms, information.solve(kept, prior))
    return kept, f, certified_distance(whole, f)
