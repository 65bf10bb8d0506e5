"""Kernel columns of the new points."""

from colk._core.buffers import COLUMN, GHOST, GHOSTS, GRAM, SIZE, Buffers
from colk._core.jit import few_turns, inner
from colk._core.kernels import column

__all__ = ["evaluate_columns"]


@inner
def evaluate_columns(d: Buffers, size: int, ghosts: int) -> None:
    """Evaluate κ(D, x) of the first `size` new points, and the lower half of their Gram matrix.

    The new points wait behind the atoms, so that one column gives both. With `ghosts` not 0 also
    their columns over the atoms that the last step dropped.
    """
    few_turns()
    atoms, points, panels, gram = d.atoms, d.points, d.panels, d.small[GRAM]
    n, n_ghosts = d.counters[SIZE], d.counters[GHOSTS] if ghosts != 0 else 0
    for b in range(size):
        for feature in range(points.shape[1]):
            atoms[feature, n + b] = points[b, feature]
        column(d.column, d.program, atoms, n + b + 1, points[b], panels[COLUMN, b], d.work)
        for a in range(b + 1):
            gram[b, a] = panels[COLUMN, b, n + a]
        if n_ghosts > 0:
            column(d.column, d.program, d.ghosts, n_ghosts, points[b], panels[GHOST, b], d.work)
