"""The state of a stream, held against the stream that it is to be laid into.

Compiled code trusts the shapes of its buffers: nothing reaches them that this has not seen.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colk._engine.stream import Stream
from colk._validation import Array
from colk.errors import FileFormatError
from colk.losses import Loss
from colk.persistence.parts import take, whole
from colk.schedules import roles

__all__ = ["Shapes", "check_packed"]

# Steps beyond these would not be counted exactly.
_MOST_STEPS = 2**53

# Tallies that are at least 0 and finite: what bounds predictions, and what a step may forget.
_BOUNDED = ("largest_target", "squared_move")

# What a state has beside tallies.
_NOT_TALLIES = ("window", "dictionary", "P", "noise", "inverse", "says", "lost", "prior")

# How far the stored diagonal of K⁻¹ may be from that of its factor: it is updated, not formed.
_DRIFT = 1e-3


class Shapes(NamedTuple):
    """How many atoms, dropped atoms and targets a packed state has."""

    n_atoms: int
    n_ghosts: int
    n_targets: int

    @classmethod
    def of(cls, packed: Any) -> "Shapes":
        """Read them off arrays that take bytes in the file for each atom."""
        dictionary, window = _section(packed, "dictionary"), _section(packed, "window")
        weights, ghosts = _matrix(dictionary, "weights"), _matrix(dictionary, "ghosts")
        atoms, targets = _matrix(dictionary, "atoms"), _matrix(window, "targets")
        points = _matrix(window, "points")
        if min(len(weights), len(ghosts), len(atoms)) == 0 or points.shape[1] == 0:
            raise FileFormatError("a state has no rows of weights, of atoms or of points")
        if atoms.shape[1] != weights.shape[1]:
            raise FileFormatError(
                f"a state has {atoms.shape[1]} atoms, and weights for {weights.shape[1]}"
            )
        return cls(weights.shape[1], ghosts.shape[1], targets.shape[1])

    def bytes_needed(self, learner: Any) -> float:
        """What the buffers of the learner's stream take, from above."""
        self._check_features(learner)
        p, q = float(learner.n_features), float(getattr(learner, "n_outputs", None) or 1)
        block = 2.0
        if hasattr(learner, "pairing"):
            block = roles(learner.pairing, learner.risk.n_inner, learner.batch_size).window
        kernel, compressor = getattr(learner, "kernel", None), getattr(learner, "compressor", None)
        depth = 0.0 if kernel is None else float(kernel.depth)
        m = float(learner.risk.n_inner) if hasattr(learner, "risk") else 1.0
        capacity = max(self.n_atoms, self.n_ghosts, 32) + 2.0 * block + 16.0
        rows, width = 7.0 * q, max(p, float(self.n_atoms)) if kernel is None else 2.0 * p + 1.0
        numbers = capacity * (4.0 * p + 4.0 * rows + (4.0 + 2.0 * depth) * block + 32.0)
        numbers += block * (10.0 * block + width + p + 10.0 * rows + self.n_targets)
        numbers += (m + 1.0) * (q + 2.0)
        if getattr(learner, "implicit", False):
            numbers += 5.0 * block * q
        if compressor is not None and compressor.needs_factor:
            numbers += capacity * capacity
        if hasattr(learner, "prior"):
            numbers += capacity * (capacity + 16.0)
        return 8.0 * numbers

    def _check_features(self, learner: Any) -> None:
        """Features are as many as there are weights for, before any of them is computed."""
        features = getattr(learner, "features", None)
        if features is None:
            return
        count = getattr(features, "n_centres", None) or getattr(features, "n_components", None)
        if isinstance(count, int) and count != self.n_atoms:
            raise FileFormatError(f"there are weights for {self.n_atoms} features of {count}")
        corner = getattr(features, "low", None)
        if isinstance(corner, tuple) and len(corner) != learner.n_features:
            raise FileFormatError(f"centres of {len(corner)} features are not those of points")


def _section(packed: Any, name: str) -> dict[str, Any]:
    section = packed.get(name) if isinstance(packed, dict) else None
    if not isinstance(section, dict):
        raise FileFormatError(f"a state has no {name}")
    return section


def _matrix(section: dict[str, Any], name: str) -> NDArray[Any]:
    array = section.get(name)
    if not isinstance(array, np.ndarray) or array.ndim != 2:
        raise FileFormatError(f"{name} of a state are no matrix")
    return array


def check_packed(stream: Stream, packed: dict[str, Any], loss: Loss | None) -> None:
    """Refuse a state that this stream, just made, could not have packed.

    Parameters
    ----------
    stream : Stream
        An empty stream.
    packed : dict
        What `unpack` is to be given.
    loss : Loss, optional
        The loss, which knows its targets.
    """
    fresh = stream.pack()
    take(packed, *fresh)
    for name, value in fresh.items():
        if name not in _NOT_TALLIES:
            _check_tally(name, packed[name], value)
    _check_window(stream, packed["window"], fresh["window"], loss)
    _check_dictionary(stream, packed["dictionary"], fresh["dictionary"])
    n = packed["dictionary"]["atoms"].shape[1]
    if "P" in fresh:
        noise = _check_finite("noise", _check_shape("noise", packed["noise"], fresh["noise"].shape))
        if (noise < 0.0).any():
            raise FileFormatError("the noise is below 0")
        _check_covariance(packed["P"], fresh["P"], n)
    if "inverse" in fresh:
        _check_finite("inverse", _check_shape("inverse", packed["inverse"], (n, n)))
    if "lost" in fresh:
        _check_finite("lost", _check_shape("lost", packed["lost"], fresh["lost"].shape))
        if type(packed["prior"]) is not float or not 0.0 < packed["prior"] < math.inf:
            raise FileFormatError("the prior of a state is no positive number")
    if "says" in fresh:
        says = _check_finite("says", _check_shape("says", packed["says"], fresh["says"].shape))
        if (says <= 0.0).any() or abs(says.sum() - 1.0) > _DRIFT:
            raise FileFormatError("the weights of the experts are not positive, or do not add to 1")


def _check_covariance(packed: Any, fresh: dict[str, Any], n: int) -> None:
    """P of a second-order learner, and the samples that it has yet to catch up with."""
    packed = _section({"P": packed}, "P")
    take(packed, *fresh)
    for name in ("matrix", "rows", "amounts"):
        shape = tuple(length or n for length in fresh[name].shape)
        _check_finite(name, _check_shape(name, packed[name], shape))
    # The next one is written behind them.
    most = len(packed["amounts"]) - 1
    whole(packed["pending"], 0, most, "the number of samples to catch up with")


def _check_tally(name: str, value: Any, fresh: Any) -> None:
    if type(fresh) is int:
        whole(value, 0, _MOST_STEPS, name)
        return
    if type(value) is not float:
        raise FileFormatError(f"{name} is no number")
    # Sums of losses may have overflowed, others may not.
    if name in _BOUNDED and not 0.0 <= value < math.inf:
        raise FileFormatError(f"{name} is {value}")


def _check_shape(name: str, array: Any, shape: tuple[int, ...]) -> Array:
    if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
        found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array)
        raise FileFormatError(f"{name} must be float64 of shape {shape}, got {found}")
    return array


def _check_finite(name: str, array: Array) -> Array:
    if not np.isfinite(array).all():
        raise FileFormatError(f"{name} holds numbers that are not finite")
    return array


def _check_window(
    stream: Stream, packed: dict[str, Any], fresh: dict[str, Any], loss: Loss | None
) -> None:
    """The samples that wait are fewer than make a step."""
    take(packed, *fresh)
    filled = whole(len(packed["points"]), 0, stream.window.size - 1, "the number of samples")
    for name, empty in fresh.items():
        shape = empty.shape if name == "g" else (filled, *empty.shape[1:])
        _check_finite(name, _check_shape(name, packed[name], shape))
    if (packed["weights"] <= 0.0).any():
        raise FileFormatError("a sample that waits has a weight that is not positive")
    if loss is not None:
        loss.check_targets(packed["targets"], stream.n_outputs, filled)


def _check_dictionary(stream: Stream, packed: dict[str, Any], fresh: dict[str, Any]) -> None:
    """Every array has an entry for each atom where an empty one has none."""
    take(packed, *fresh)
    n, ghosts = packed["atoms"].shape[1], packed["ghosts"].shape[1]
    for name, empty in fresh.items():
        count = ghosts if name == "ghosts" else n
        shape = tuple(length or count for length in empty.shape)
        array = _check_shape(name, packed[name], shape)
        if name == "factor" or (name == "diagonal" and "factor" not in fresh):
            continue  # sums of squares are finite where all numbers are; a diagonal of nothing
        _check_finite(name, array)
    if "factor" in fresh:
        _check_factor(packed)


def _check_factor(packed: dict[str, Any]) -> None:
    """Uᵀ is regular, and the diagonal is that of K⁻¹ = U Uᵀ, at least 1/κ(d, d)."""
    factor, diagonal, own = packed["factor"], packed["diagonal"], packed["own"]
    if (np.diagonal(factor) == 0.0).any():
        raise FileFormatError("the factor is singular")
    if (own <= 0.0).any() or (diagonal * own < 1.0 - _DRIFT).any():
        raise FileFormatError("the diagonal is not that of an inverse Gram matrix")
    with np.errstate(over="ignore", invalid="ignore"):
        formed = np.einsum("ij,ij->j", factor, factor)
        apart = np.abs(formed - diagonal) > _DRIFT * diagonal
    if apart.any() or not np.isfinite(formed).all():
        raise FileFormatError("the diagonal is not that of the factor")
