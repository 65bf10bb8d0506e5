"""Draw a function with its atoms."""

from typing import TYPE_CHECKING, Any

import numpy as np

from colk._extras import needed_for
from colk._validation import Array

if TYPE_CHECKING:
    from colk.rkhs.expansion import KernelExpansion

__all__ = ["plot_function"]


def plot_function(f: "KernelExpansion", output: int, resolution: int, ax: Any) -> Any:
    """Draw a curve for one feature, a map for two, and slices through the mean atom for more."""
    with needed_for("a figure", extra="plot"):
        import matplotlib.pyplot as plt

    if f.n_atoms == 0:
        raise ValueError("f has no atoms: it is 0 everywhere, and there is no range to draw it on")
    if ax is None:
        ax = plt.subplots(layout="constrained")[1]
    atoms = f.kernel.preimages(f.atoms)
    grid = [np.linspace(low, high, resolution) for low, high in _ranges(atoms)]
    if f.n_features == 2:
        _map(f, atoms, output, grid, ax)
    else:
        _slices(f, atoms, output, grid, ax)
    return ax


def _ranges(atoms: Array) -> Array:
    """Return the range of the atoms plus a tenth on both sides; a single point gets length 1."""
    low, high = atoms.min(axis=0), atoms.max(axis=0)
    margin = np.where(high > low, 0.1 * (high - low), 0.5)
    return np.column_stack([low - margin, high + margin])


def _values(f: "KernelExpansion", points: Array, output: int) -> Array:
    found = f(points)
    return found if found.ndim == 1 else found[:, output]


def _slices(f: "KernelExpansion", atoms: Array, output: int, grid: list[Array], ax: Any) -> None:
    for feature, along in enumerate(grid):
        points = np.tile(atoms.mean(axis=0), (len(along), 1))
        points[:, feature] = along
        name = "f" if f.n_features == 1 else f"along feature {feature}"
        ax.plot(along, _values(f, points, output), label=name)
    if f.n_features == 1:
        places = (atoms[:, 0], np.zeros(f.n_atoms))
        ax.plot(*places, "|", ms=12, color="C3", label=f"{f.n_atoms} atoms",
                transform=ax.get_xaxis_transform(), clip_on=False)  # fmt: skip
    ax.set(xlabel="x", ylabel="f(x)")
    if f.n_features <= 10:
        ax.legend()


def _map(f: "KernelExpansion", atoms: Array, output: int, grid: list[Array], ax: Any) -> None:
    mesh = np.meshgrid(*grid, indexing="ij")
    points = np.column_stack([axis.ravel() for axis in mesh])
    values = _values(f, points, output).reshape(mesh[0].shape)
    shades = ax.contourf(*grid, values.T, 21, cmap="viridis")
    ax.plot(*atoms.T, "o", ms=6, mfc="none", mec="w", label=f"{f.n_atoms} atoms")
    ax.set(xlabel="feature 0", ylabel="feature 1")
    ax.figure.colorbar(shades, ax=ax, label="f")
