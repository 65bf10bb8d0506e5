"""Methods whose model is a vector of parameters on fixed features, f(x) = wᵀφ(x)."""

from typing import Any, ClassVar, cast

import numpy as np

from colk._core import features as core
from colk._core.buffers import SIZE
from colk._core.dictionary import Dictionary
from colk._core.jit import Unit
from colk._core.reference import Pinned
from colk._core.roster import Parameters
from colk._core.window import SQUARED_NORM
from colk._validation import Array
from colk.features import apply_map
from colk.kernels.base import compilable
from colk.learners.compositional import CompositionalLearner, Progress

__all__ = ["FeatureLearner"]

# Samples whose features are in memory at a time.
_BLOCK = 1024


class FeatureLearner(CompositionalLearner):
    """A compositional learner on features. The norm is not followed: it is NaN in a trace.

    Parameters
    ----------
    features : FeatureMap or fitted transformer
        φ: `RBFNetwork`, `RandomFourierFeatures`, or anything with `transform`.
    **common
        The arguments of `CompositionalLearner`.
    """

    _order: ClassVar[int] = core.SCGD

    def __init__(self, features: Any, **common: Any) -> None:
        if not callable(getattr(features, "transform", None)):
            raise TypeError(
                "features must be a FeatureMap or a fitted transformer with a method `transform`, "
                f"got {type(features).__name__}"
            )
        self.features = features
        self._n_components: int | None = None
        super().__init__(**common)

    def _window_width(self, n_features: int) -> int:
        return self.n_components

    def _allocate(self, n_features: int, n_outputs: int, n_targets: int) -> None:
        self._n_components = apply_map(self.features, np.zeros((1, n_features))).shape[1]
        super()._allocate(n_features, n_outputs, n_targets)
        self._core.levels[SQUARED_NORM] = np.nan

    def _make_dictionary(self, n_features: int, **shape: int) -> Dictionary:
        weights = Parameters(np.zeros(1), 1, capacity=self.n_components, **shape)
        weights.buffers.counters[SIZE] = self.n_components
        return weights

    def _restore_dictionary(self, packed: dict[str, Any]) -> Dictionary:
        return Parameters.unpack(np.zeros(1), packed)

    def _gains(self) -> Array:
        """Constants of the method beyond its rates."""
        return np.ones(3)

    def _advance(self, X: Array, Y: Array, weight: Array, trace: Array) -> Progress:
        block = slice(0, _BLOCK)
        shown = compilable(apply_map(self.features, X[block]))
        if shown.shape[1] != self.n_components:
            raise ValueError(f"got {shown.shape[1]} features, before {self.n_components}")
        return super()._advance(shown, Y[block], weight[block], trace)

    @property
    def _step_unit(self) -> Unit:
        return core.features_unit

    def _method(self, n_features: int) -> Pinned[core.Method]:
        return Pinned(core.Method(self._order, self._gains()))

    def _atoms_gained(self) -> int:
        return 0

    def _evaluate(self, X: Array) -> Array:
        W = self._columns()
        blocks = [
            apply_map(self.features, X[start : start + _BLOCK]) @ W
            for start in range(0, len(X), _BLOCK)
        ]
        return np.concatenate([np.empty((0, W.shape[1])), *blocks])

    def _columns(self) -> Array:
        q = cast(int, self.n_outputs)
        rows = slice(0, q) if self.averaging is None else slice(q, 2 * q)
        return self._dictionary.weights[:, rows]

    @property
    def n_components(self) -> int:
        """Number D of features φ_i."""
        if self._n_components is None:
            raise ValueError(f"this {type(self).__name__} has not seen a sample yet; call learn")
        return self._n_components

    @property
    def weights(self) -> Array:
        """The parameters w, of shape (D,) or (D, n_outputs); averaged where there is averaging."""
        found = self._columns() if self._n_features is not None else np.empty((0, 1))
        return found[:, 0] if self._is_vector else found
