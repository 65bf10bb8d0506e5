"""Methods whose model is a kernel expansion f = Σ w_j κ(d_j, ·)."""

from typing import Any

import numpy as np

from colk._validation import Array
from colk.compressors import Compressor
from colk.dictionary import Dictionary
from colk.expansion import KernelExpansion
from colk.kernels import Kernel
from colk.learners.compositional import CompositionalLearner, check_bound
from colk.quasigradient import QuasiGradientStream
from colk.step import KernelStream
from colk.terms import check_term

__all__ = ["KernelLearner"]


class KernelLearner(CompositionalLearner):
    """A compositional learner whose weights live on atoms of a kernel, and are compressed.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    compressor : Compressor
        What becomes of the new points of a step.
    norm_bound : float
        f is kept in the ball ‖f‖_H ≤ norm_bound.
    **common
        The arguments of `CompositionalLearner`.
    """

    def __init__(
        self, kernel: Kernel, compressor: Compressor, norm_bound: float = np.inf, **common: Any
    ) -> None:
        self.kernel = check_term(kernel, Kernel, "kernel")
        self.compressor = check_term(compressor, Compressor, "compressor")
        compressor.check(kernel)
        self.norm_bound = check_bound(norm_bound, "norm_bound")
        if self.norm_bound < np.inf and not compressor.is_orthogonal:
            raise ValueError(
                "norm_bound needs a compressor that projects, as KOMP does; "
                f"{type(compressor).__name__} does not"
            )
        super().__init__(**common)

    def _make_dictionary(self, n_features: int, **shape: int) -> Dictionary:
        return Dictionary(
            self.kernel,
            n_features,
            has_factor=self.compressor.needs_factor,
            scratch_rows=self.compressor.scratch_rows,
            **shape,
        )

    def _make_stream(self, **common: Any) -> QuasiGradientStream:
        return KernelStream(compressor=self.compressor, norm_bound=self.norm_bound, **common)

    def _first_row(self, averaged: bool) -> int:
        return self._state().averaged if averaged else 0

    def _evaluate(self, X: Array) -> Array:
        return self._state().evaluate(X, self._first_row(averaged=True))

    def _expansion(self, averaged: bool) -> KernelExpansion:
        stream, first = self._state(), self._first_row(averaged)
        atoms, weights = stream.snapshot(first)
        return KernelExpansion(self.kernel, atoms, weights[:, 0] if self._is_vector else weights)

    @property
    def function(self) -> KernelExpansion:
        """The learned function: the average of the iterates where there is averaging."""
        return self._expansion(averaged=True)

    @property
    def last_function(self) -> KernelExpansion:
        """The last iterate f_t."""
        return self._expansion(averaged=False)

    @property
    def n_atoms(self) -> int:
        """Model order M."""
        return 0 if self._stream is None else self._stream.dictionary.size

    @property
    def error_spent(self) -> float:
        """Sum over all steps of the H-norms that compression cost."""
        return 0.0 if self._stream is None else self._stream.error_sum
