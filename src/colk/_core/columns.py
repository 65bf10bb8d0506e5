"""Kernel columns of the new points: the unit by which every method on atoms meets its kernel."""

from colk._core.buffers import COLUMN, GHOST, GHOSTS, GRAM, SIZE, Buffers, buffers_at
from colk._core.jit import call_at, piece, unit
from colk._core.kernels import column_in_place
from colk._core.reference import address_of

__all__ = ["columns_unit", "evaluate_columns"]


@unit("float64(int64, int64, int64)")
def columns_unit(address: int, size: int, ghosts: int) -> float:
    """Evaluate κ(D, x) of the first `size` new points, and the lower half of their Gram matrix.

    The new points wait behind the atoms, so that one column gives both. With `ghosts` not 0 also
    their columns over the atoms that the last step dropped.
    """
    d = buffers_at(address)
    atoms, points, panels, gram = d.atoms, d.points, d.panels, d.small[GRAM]
    n, n_ghosts = d.counters[SIZE], d.counters[GHOSTS] if ghosts != 0 else 0
    for b in range(size):
        for feature in range(points.shape[1]):
            atoms[feature, n + b] = points[b, feature]
        for source in range(2 if n_ghosts > 0 else 1):
            among, length = (atoms, n + b + 1) if source == 0 else (d.ghosts, n_ghosts)
            out = panels[COLUMN if source == 0 else GHOST, b]
            column_in_place(d.program, among, length, points[b], out, d.work)
        for a in range(b + 1):
            gram[b, a] = panels[COLUMN, b, n + a]
    return 0.0


@piece
def evaluate_columns(d: Buffers, size: int, ghosts: int) -> None:
    """Call the unit above."""
    call_at(d.columns, (address_of(d), size, ghosts))
