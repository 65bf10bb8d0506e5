"""Doubly stochastic gradients: seeds instead of stored features."""

from typing import Any

from colk._validation import Array, check_count
from colk.averaging import Averaging
from colk.dictionary import Dictionary
from colk.features import check_spectral
from colk.kernels import Kernel
from colk.learners.compositional import CompositionalLearner
from colk.learners.parametric import DrawingStream
from colk.losses import Loss
from colk.quasigradient import QuasiGradientStream
from colk.schedules import PowerDecay, Rate
from colk.spectral import Spectrum

__all__ = ["DoublySGD"]


class DoublySGD(CompositionalLearner):
    """Doubly stochastic functional gradient descent: a sample and a random feature a step.

    Step t draws the feature φ_t(x) = √(2κ(0)) cos(ω_tᵀx + b_t) from the seed and t, shrinks all
    earlier weights by 1 − α_t λ and appends −α_t ℓ'(f(x_t), y_t)φ_t(x_t): given the sample, the
    mean of φ_t(x_t)φ_t over the draws is κ(x_t, ·). Memory is one number a step and output;
    predicting draws every feature again, so that step t costs O(t). The norm is not followed: it
    is NaN in a trace.

    Parameters
    ----------
    kernel : Kernel
        A kernel of the difference u − v, see `RandomFourierFeatures`.
    loss : Loss
        The loss ℓ.
    step_size : float or PowerDecay
        α. It must fall for f to converge; the paper takes θ/t. One random feature stands for κ with
        an error of its own size: steps must begin smaller than those of the other methods.
    regularization : float
        λ.
    seed : int
        Seed of the features.
    gradient_bound, averaging, batch_size, n_outputs, trace
        As in `COLK`.

    References
    ----------
    Dai, Xie, He, Liang, Raj, Balcan, Song, "Scalable kernel methods via doubly stochastic
    gradients", NIPS 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import DoublySGD
    >>> X = np.random.default_rng(0).random((2000, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> learner = DoublySGD(Gaussian(0.2)).learn(X, y)
    >>> learner.n_components, bool(np.abs(learner.predict(X) - y).mean() < 0.1)
    (2000, True)
    """

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        step_size: Rate = PowerDecay(0.2, power=1.0, scale=10.0),  # noqa: B008, it is frozen
        regularization: float = 1e-6,
        seed: int = 0,
        gradient_bound: float = 10.0,
        averaging: Averaging | None = None,
        batch_size: int = 1,
        n_outputs: int | None = None,
        trace: bool = False,
    ) -> None:
        self.kernel = check_spectral(kernel)
        self.seed = check_count(seed, "seed", at_least=0)
        super().__init__(
            loss=loss,
            step_size=step_size,
            regularization=regularization,
            gradient_bound=gradient_bound,
            averaging=averaging,
            batch_size=batch_size,
            n_outputs=n_outputs,
            trace=trace,
        )

    def _make_dictionary(self, n_features: int, **shape: int) -> Dictionary:
        return Dictionary(None, n_features, has_factor=False, **shape)

    def _make_stream(self, **common: Any) -> QuasiGradientStream:
        dictionary: Dictionary = common["dictionary"]
        return DrawingStream(Spectrum(self.kernel, self.seed, dictionary.n_features), **common)

    def _atoms_gained(self, window: int) -> int:
        return 1

    def _evaluate(self, X: Array) -> Array:
        return self._state().evaluate(X, self._state().averaged)

    @property
    def n_components(self) -> int:
        """Number of random features so far, one a step."""
        return self.steps
