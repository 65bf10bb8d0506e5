"""Methods whose model is a vector of parameters on fixed features, f(x) = wᵀφ(x)."""

from typing import Any, ClassVar

import numpy as np

from colk._validation import Array
from colk.dictionary import Dictionary
from colk.features import apply_map
from colk.learners.compositional import CompositionalLearner
from colk.learners.parametric import FeatureStream
from colk.quasigradient import QuasiGradientStream

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

    _stream_type: ClassVar[type[FeatureStream]] = FeatureStream
    _shows_points = False  # but their features

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

    def _make_dictionary(self, n_features: int, **shape: int) -> Dictionary:
        return Dictionary.of_features(self.n_components, **shape)

    def _make_stream(self, **common: Any) -> QuasiGradientStream:
        return self._stream_type(**common)

    def _atoms_gained(self, window: int) -> int:
        return 0

    def _shown(self, X: Array) -> Array:
        shown = apply_map(self.features, X)
        if shown.shape[1] != self.n_components:
            raise ValueError(f"got {shown.shape[1]} features, before {self.n_components}")
        return shown

    def _evaluate(self, X: Array) -> Array:
        W = self._columns()
        blocks = [
            apply_map(self.features, X[start : start + _BLOCK]) @ W
            for start in range(0, len(X), _BLOCK)
        ]
        return np.concatenate([np.empty((0, W.shape[1])), *blocks])

    def _columns(self) -> Array:
        _, weights = self._state().snapshot(self._state().averaged)
        return weights

    @property
    def n_components(self) -> int:
        """Number D of features φ_i."""
        if self._n_components is None:
            raise ValueError(f"this {type(self).__name__} has not seen a sample yet; call learn")
        return self._n_components

    @property
    def weights(self) -> Array:
        """The parameters w, of shape (D,) or (D, n_outputs); averaged where there is averaging."""
        found = np.empty((0, 1)) if self._stream is None else self._columns()
        return found[:, 0] if self._is_vector else found
