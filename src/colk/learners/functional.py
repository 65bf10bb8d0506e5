"""Methods whose model is a kernel expansion f = Σ w_j κ(d_j, ·)."""

from typing import Any, cast

from colk._core.dictionary import Dictionary
from colk._core.window import ERROR_SUM
from colk._validation import Array
from colk.expansion import KernelExpansion
from colk.kernels import Kernel
from colk.learners.compositional import CompositionalLearner

__all__ = ["KernelLearner"]


class KernelLearner(CompositionalLearner):
    """A compositional learner whose weights live on atoms of a kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    **common
        The arguments of `CompositionalLearner`.
    """

    def __init__(self, kernel: Kernel, **common: Any) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be a Kernel, got {type(kernel).__name__} {kernel!r}")
        self.kernel = kernel
        super().__init__(**common)

    def _dictionary_type(self) -> type[Dictionary]:
        return Dictionary

    def _make_dictionary(self, n_features: int, **shape: int) -> Dictionary:
        return self._dictionary_type()(self.kernel.program(n_features), n_features, **shape)

    def _restore_dictionary(self, packed: dict[str, Any]) -> Dictionary:
        return self._dictionary_type().unpack(self.kernel.program(self.n_features), packed)

    def _rows(self, averaged: bool) -> slice:
        q = cast(int, self.n_outputs)
        return slice(q, 2 * q) if averaged and self.averaging is not None else slice(0, q)

    def _evaluate(self, X: Array) -> Array:
        return self._dictionary.evaluate(X, self._rows(averaged=True))

    def _expansion(self, averaged: bool) -> KernelExpansion:
        if self._n_features is None:
            raise ValueError(f"this {type(self).__name__} has not seen a sample yet; call learn")
        weights = self._dictionary.weights[:, self._rows(averaged)]
        return KernelExpansion(
            self.kernel, self._dictionary.atoms, weights[:, 0] if self._is_vector else weights
        )

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
        return 0 if self._n_features is None else self._dictionary.size

    @property
    def error_spent(self) -> float:
        """Sum over all steps of the H-norms that compression cost."""
        return 0.0 if self._n_features is None else float(self._core.levels[ERROR_SUM])
