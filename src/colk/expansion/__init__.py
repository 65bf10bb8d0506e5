"""Functions in a reproducing kernel Hilbert space: f = Σ_j w_j κ(d_j, ·)."""

from colk.expansion.function import KernelExpansion

__all__ = ["KernelExpansion"]
