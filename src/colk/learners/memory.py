"""The memory that the stream of a learner will take."""

from typing import Any

from colk._engine.risk_companion import count_rows
from colk._engine.window import roles
from colk._stored import Array, Record
from colk.errors import FileFormatError

__all__ = ["bytes_needed"]

# The arrays of a packed stream whose size grows with atoms or targets.
_SHAPES = Record(
    {
        "window": Record(
            {
                "points": Array("n_waiting", "width", finite=False),
                "targets": Array("n_waiting", "n_targets", finite=False),
            },
            keeps_rest=True,
        ),
        "dictionary": Record(
            {
                "weights": Array("n_rows", "n_atoms", finite=False),
                "atoms": Array("n_dimensions", "n_atoms", finite=False),
                "ghosts": Array("n_all_rows", "n_ghosts", finite=False),
            },
            keeps_rest=True,
        ),
    },
    keeps_rest=True,
)


def bytes_needed(learner: Any, packed: Any, n_features: int | None = None) -> float:
    """Return an upper bound on the memory of the stream with the state `packed`.

    Parameters
    ----------
    learner : OnlineLearner or ValueLearner
        The learner.
    packed : dict
        The state; only its shapes are used.
    n_features : int, optional
        Number of features. Default: that of the learner, if it has seen a sample.
    """
    shapes: dict[str, int] = {}
    _SHAPES.read(packed, "state", shapes)
    if 0 in (shapes["width"], shapes["n_rows"], shapes["n_dimensions"], shapes["n_all_rows"]):
        raise FileFormatError("a state has atoms, weights or points of length 0")
    n_features = int(learner.n_features if n_features is None else n_features)
    _check_features(getattr(learner, "features", None), shapes["n_atoms"], n_features)
    p, q = float(n_features), float(getattr(learner, "n_outputs", None) or shapes["n_targets"])
    block = 2.0
    if hasattr(learner, "pairing"):
        block = roles(learner.pairing, learner.risk.n_inner, learner.batch_size).window
    kernel, compressor = getattr(learner, "kernel", None), getattr(learner, "compressor", None)
    depth = 0.0 if kernel is None else float(kernel.depth)
    m = float(learner.risk.n_inner) if hasattr(learner, "risk") else 1.0
    capacity = max(shapes["n_atoms"], shapes["n_ghosts"], 32) + 2.0 * block + 16.0
    rows = (7.0 + count_rows() * hasattr(learner, "mixture")) * q
    width = max(p, float(shapes["n_atoms"])) if kernel is None else 2.0 * p + 1.0
    numbers = capacity * (4.0 * p + 4.0 * rows + (4.0 + 2.0 * depth) * block + 32.0)
    numbers += block * (10.0 * block + width + p + 10.0 * rows + shapes["n_targets"])
    numbers += (m + 1.0) * (q + 2.0)
    if getattr(learner, "implicit", False):
        numbers += 5.0 * block * q
    if compressor is not None and compressor.needs_factor:
        numbers += capacity * capacity
    if hasattr(learner, "prior"):
        numbers += capacity * (capacity + 16.0)
    return 8.0 * numbers


def _check_features(features: Any, n_weights: int, n_features: int) -> None:
    """Check the sizes of a map to features before any feature is computed."""
    count = getattr(features, "n_centres", None) or getattr(features, "n_components", None)
    if isinstance(count, int) and count != n_weights:
        raise FileFormatError(f"there are {n_weights} weights for {count} features")
    corner = getattr(features, "low", None)
    if isinstance(corner, tuple) and len(corner) != n_features:
        raise FileFormatError(
            f"centres of {len(corner)} features do not fit points of {n_features}"
        )
