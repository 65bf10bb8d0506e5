"""How a kernel was chosen, in files: the race, and samples that are kept for one."""

from typing import Any

import numpy as np

from colk._validation import check_points, check_rows, check_vector
from colk.errors import FileFormatError
from colk.kernels import Kernel
from colk.persistence.memory import Memory
from colk.persistence.parts import take, whole
from colk.selection import LARGEST, WARM_UP, Entry

__all__ = ["pack_kept", "pack_race", "restore_kept", "restore_race"]

_NUMBERS = ("factor", "bandwidth", "loss", "lead", "error")
_OF_RACES = ("names", "scaled", "numbers", "default", "winner", "kernel", "scales", "n_samples")


def pack_race(race: Any) -> dict[str, Any]:
    """Return the table as columns, the places of two of its lines, and what won."""
    entries = list(race.entries)
    lines = [[getattr(entry, name) for name in _NUMBERS] for entry in entries]
    return {
        "names": [entry.name for entry in entries],
        "scaled": np.array([entry.scaled for entry in entries], dtype=bool),
        "numbers": np.array(lines, dtype=np.float64),
        "default": _place(entries, race.default),
        "winner": _place(entries, race.winner),
        "kernel": race.kernel,
        "scales": race.scales,
        "n_samples": race.n_samples,
    }


def _place(entries: list[Entry], wanted: Entry) -> int:
    """Where the line of a kernel, a bandwidth and features scaled or not stands in the table."""
    return [entry.who for entry in entries].index(wanted.who)


def restore_race(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the race, whose winner has a scale for each feature."""
    names, scaled, numbers, default, winner, kernel, scales, n_samples = take(parts, *_OF_RACES)
    entries = _entries(names, scaled, numbers)
    most = len(entries) - 1
    chosen = entries[whole(winner, 0, most, "the place of the winner")]
    if not isinstance(kernel, Kernel):
        raise FileFormatError("the winner of a race has no kernel")
    scales = check_vector(scales, None, "the scales of features")
    bandwidth = getattr(kernel, "bandwidth", None)
    if chosen.scaled and (not isinstance(bandwidth, tuple) or len(bandwidth) != len(scales)):
        raise FileFormatError("the winner of a race has no bandwidth for each feature")
    return kind(
        entries,
        entries[whole(default, 0, most, "the place of the default")],
        chosen,
        kernel,
        scales.copy(),
        whole(n_samples, 0, LARGEST, "the number of samples of a race"),
    )


def _entries(names: Any, scaled: Any, numbers: Any) -> tuple[Entry, ...]:
    """The lines of a table, whose losses may be unknown."""
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise FileFormatError("the kernels of a race have no names")
    n = len(names)
    if not isinstance(scaled, np.ndarray) or scaled.dtype != np.bool_ or scaled.shape != (n,):
        raise FileFormatError("a race does not say whose features were scaled")
    if not isinstance(numbers, np.ndarray) or numbers.dtype != np.float64:
        raise FileFormatError("the table of a race holds no numbers")
    if numbers.shape != (n, len(_NUMBERS)) or not (numbers[:, :2] > 0.0).all():
        raise FileFormatError(f"the table of a race is not one of {n} bandwidths")
    return tuple(
        Entry(name, factor, bandwidth, had_scales, *rest)
        for name, had_scales, (factor, bandwidth, *rest) in zip(
            names, scaled.tolist(), numbers.tolist(), strict=True
        )
    )


def pack_kept(kept: Any) -> dict[str, Any]:
    """Return all points, targets and weights; features that came later are 0 in earlier ones."""
    points, targets, weights = kept.arrays() if kept.count else (None, None, None)
    return {"points": points, "targets": targets, "weights": weights}


def restore_kept(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the samples, which are fewer than it takes to choose."""
    points, targets, weights = take(parts, "points", "targets", "weights")
    if points is None and targets is None and weights is None:
        return kind()
    checked = check_points(points, name="the samples that are kept")
    n = whole(len(checked), 1, WARM_UP - 1, "the number of samples that are kept")
    weight = check_vector(weights, n, "the weights of samples that are kept")
    if (weight < 0.0).any():
        raise FileFormatError("a sample that is kept has a weight below 0")
    return kind().including(checked, check_rows(targets, n, "the targets that are kept"), weight)
