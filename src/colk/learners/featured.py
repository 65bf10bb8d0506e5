"""Methods on features: f(x) = wᵀφ(x), with fixed features or one new random feature per step."""

from dataclasses import replace
from typing import Any, ClassVar, Unpack

import numpy as np

from colk._engine.dictionary import Dictionary
from colk._engine.fourier import Spectrum
from colk._engine.quasigradient import QuasiGradientStream
from colk._validation import Array
from colk.kernels import Kernel
from colk.learners import parametric
from colk.learners.base import OnlineLearner
from colk.learners.drift_event import DriftEvent
from colk.learners.parameters import BatchSettings, CompositionalSettings, SampledSettings
from colk.losses import Loss
from colk.risks import Risk
from colk.rkhs.features import RandomFourierFeatures, apply_map, check_spectral
from colk.schedules import PowerDecay
from colk.trackers import Extrapolation, Tracker

__all__ = ["NASA", "SCGD", "AcceleratedSCGD", "DoublySGD", "RandomFeatureSGD"]

# Number of samples whose features are in memory at a time.
_BLOCK = 1024


class FeatureLearner(OnlineLearner):
    """A learner whose model is a parameter vector. The norm is not computed; a trace has NaN."""

    features: Any
    _stream_type: ClassVar[type[parametric.FeatureStream]] = parametric.FeatureStream
    _streams_rows: ClassVar[bool] = False

    def _make_stream(self, width: int, shape: dict[str, int], **common: Any) -> QuasiGradientStream:
        dictionary = Dictionary.of_features(width, **shape)
        return self._stream_type(dictionary=dictionary, gained=0, **common)

    def _shown(self, X: Array) -> Array:
        shown = apply_map(self.features, X)
        if self._stream is not None and shown.shape[1] != self.n_components:
            raise ValueError(f"got {shown.shape[1]} features, earlier {self.n_components}")
        return shown

    @property
    def drifts(self) -> list[DriftEvent]:
        """All alarms so far, without features, because the learner sees only their feature map."""
        return [replace(event, features={}) for event in super().drifts]

    def evaluate(self, X: Array) -> Array:
        """Return values at checked points, of shape (n, n_outputs)."""
        W = self._columns()
        blocks = [self._shown(X[start : start + _BLOCK]) @ W for start in range(0, len(X), _BLOCK)]
        return np.concatenate([np.empty((0, W.shape[1])), *blocks])

    def _columns(self) -> Array:
        return self._state().snapshot(self._state().averaged)[1]

    @property
    def n_components(self) -> int:
        """Number D of features φ_i."""
        return self._state().dictionary.size

    @property
    def weights(self) -> Array:
        """The parameters w, of shape (D,) or (D, n_outputs); averaged if there is averaging."""
        found = np.empty((0, 1)) if self._stream is None else self._columns()
        return found[:, 0] if self._is_vector else found


class SCGD(FeatureLearner):
    """Stochastic compositional gradient descent: two time scales, a moving average of g.

    g ← (1 − β)g + β·inner(ℓ(f(x_ξ), y_ξ)); w ← (1 − αλ)w − α(c φ(x_θ) + c' φ(x_ξ)), with the
    coefficients c and c' of `COLK` at the new g.

    Parameters
    ----------
    features : FeatureMap or fitted transformer
        φ: `RBFNetwork`, `RandomFourierFeatures`, or any fitted scikit-learn transformer.
    step_size, tracking_rate : float or PowerDecay
        α and β. Default: 0.1 each. The theory takes t^(−3/4) and t^(−1/2), and t^(−5/7) and
        t^(−4/7) for the accelerated method.
    loss, risk, regularization, pairing, gradient_bound, averaging, batch_size, n_outputs, trace
        As in `COLK`, but by default there is no averaging.

    References
    ----------
    Wang, Fang, Liu, "Stochastic compositional gradient descent: algorithms for minimizing
    compositions of expected-value functions", Mathematical Programming 161, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.rkhs.features import RBFNetwork
    >>> from colk.learners import SCGD
    >>> from colk.risks import Variance
    >>> X = np.random.default_rng(0).random((4000, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> learner = SCGD(RBFNetwork(50, 0.06), risk=Variance(0.1)).learn(X, y)
    >>> learner.n_components, bool(np.abs(learner.predict(X) - y).mean() < 0.05)
    (50, True)
    """

    _defaults: ClassVar[dict[str, Any]] = {"averaging": None}

    def __init__(
        self,
        features: Any,
        loss: Loss | None = None,
        risk: Risk | None = None,
        **settings: Unpack[CompositionalSettings],
    ) -> None:
        self._assign(settings, features=features, loss=loss, risk=risk)


class AcceleratedSCGD(SCGD):
    """SCGD that tracks g at an extrapolated point, which removes the lag of the average.

    g ← (1 − β)g + β·inner at w_{t−1} + (w_t − w_{t−1})/β. The mean of the points at which g
    averages is then w_t itself, so a moving w causes no first-order bias. This is Algorithm 2 of
    the paper cited in `SCGD`; the parameters are those of `SCGD`.

    Examples
    --------
    >>> from colk.rkhs.features import RBFNetwork
    >>> from colk.learners import AcceleratedSCGD
    >>> from colk.risks import Variance
    >>> learner = AcceleratedSCGD(RBFNetwork(50, 0.06), risk=Variance(0.1))
    >>> learner.learn([[0.1], [0.9], [0.4], [0.5]], [1.0, 3.0, 2.0, 2.0]).steps
    2
    """

    tracker: Tracker = Extrapolation()
    _stream_type: ClassVar[type[parametric.FeatureStream]] = parametric.ExtrapolatingStream


class NASA(FeatureLearner):
    """Nested averaged stochastic approximation: one time scale, averages of g and of the gradient.

    w ← w − (τ/β)z; then, at the new w and in Jacobi's order,
    z ← (1 − aτ)z + aτ(c φ(x_θ) + c' φ(x_ξ) + λw) with the coefficients of `COLK` at the *old* g,
    and g ← (1 − bτ)g + bτ·inner. The first sample sets the first g; the first z is 0. There is no
    constraint on w.

    Parameters
    ----------
    step_size : float or PowerDecay
        τ, in (0, 1]. Default: 0.1; the paper uses t^(−1/2).
    proximity : float
        β > 0. Default: 1. w moves by τ/β times the averaged gradient.
    gradient_gain, tracking_gain : float
        a and b, with aτ ≤ 1 and bτ ≤ 1. Default: 5 and 1.
    features, loss, risk, regularization, pairing, gradient_bound, averaging, batch_size
        As in `SCGD`, also n_outputs and trace.

    References
    ----------
    Ghadimi, Ruszczyński, Wang, "A single time-scale stochastic approximation method for nested
    stochastic optimization", arXiv 1812.01094.

    Examples
    --------
    >>> from colk.rkhs.features import RBFNetwork
    >>> from colk.learners import NASA
    >>> from colk.risks import Variance
    >>> learner = NASA(RBFNetwork(50, 0.06), risk=Variance(0.1), proximity=2.0)
    >>> learner.learn([[0.1], [0.9], [0.4], [0.5]], [1.0, 3.0, 2.0, 2.0]).weights.shape
    (50,)
    """

    _defaults: ClassVar[dict[str, Any]] = {"averaging": None}
    proximity: float
    gradient_gain: float
    tracking_gain: float

    def __init__(
        self,
        features: Any,
        loss: Loss | None = None,
        risk: Risk | None = None,
        *,
        proximity: float = 1.0,
        gradient_gain: float = 5.0,
        tracking_gain: float = 1.0,
        **settings: Unpack[SampledSettings],
    ) -> None:
        self._assign(
            settings,
            features=features,
            loss=loss,
            risk=risk,
            proximity=proximity,
            gradient_gain=gradient_gain,
            tracking_gain=tracking_gain,
        )

    def _check(self) -> None:
        super()._check()
        for name in ("gradient_gain", "tracking_gain"):
            rate = getattr(self, name) * self.step_size.initial
            if rate > 1.0:
                raise ValueError(
                    f"step_size·{name} is the rate of an average and must lie in (0, 1], "
                    f"got {rate:g}; lower either"
                )

    def _make_stream(self, width: int, shape: dict[str, int], **common: Any) -> QuasiGradientStream:
        shape["n_rows"] += shape["n_priced"]  # rows of z
        dictionary = Dictionary.of_features(width, **shape)
        gains = (self.proximity, self.gradient_gain, self.tracking_gain)
        return parametric.NestedStream(*gains, dictionary=dictionary, gained=0, **common)

    def _cure(self) -> str:
        return f"{super()._cure()}, or raise proximity (now {self.proximity:g})"


class RandomFeatureSGD(FeatureLearner):
    """Averaged stochastic gradient descent on random Fourier features of a kernel.

    w ← (1 − αλ)w − αℓ'(wᵀφ(x), y)φ(x), with D features φ drawn once.

    Parameters
    ----------
    kernel, n_components, seed : Kernel, int, int
        A shift-invariant kernel, D (100 by default) and a seed, as in `RandomFourierFeatures`.
    loss, step_size, regularization, gradient_bound, averaging, batch_size, n_outputs, trace
        As in `COLK`.

    References
    ----------
    Rahimi, Recht, "Random features for large-scale kernel machines", NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import RandomFeatureSGD
    >>> X = np.random.default_rng(0).random((4000, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> learner = RandomFeatureSGD(Gaussian(0.2), n_components=100, step_size=0.2).learn(X, y)
    >>> bool(np.abs(learner.predict(X) - y).mean() < 0.05)
    True
    """

    kernel: Kernel
    seed: int

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        n_components: int = 100,
        *,
        seed: int = 0,
        **settings: Unpack[BatchSettings],
    ) -> None:
        features = RandomFourierFeatures(kernel, n_components, seed)
        self._assign(settings, kernel=kernel, loss=loss, seed=seed, features=features)

    @property
    def n_components(self) -> int:
        """Number D of features φ_i."""
        return int(self.features.n_components)


class DoublySGD(OnlineLearner):
    """Doubly stochastic functional gradient descent: one sample and one random feature per step.

    Step t draws the feature φ_t(x) = √(2κ(0)) cos(ω_tᵀx + b_t) from the seed and t, shrinks all
    earlier weights by 1 − α_t λ and appends −α_t ℓ'(f(x_t), y_t)φ_t(x_t). Given the sample, the
    mean of φ_t(x_t)φ_t over the draws is κ(x_t, ·). It stores one number per step and output. A
    prediction draws all features again, so step t takes O(t). The norm is not computed; it is NaN
    in a trace.

    Parameters
    ----------
    kernel, seed : Kernel, int
        A shift-invariant kernel, and a seed, as in `RandomFourierFeatures`.
    step_size : float or PowerDecay
        α. Default: 0.2/(1 + t/10). It must decrease for f to converge; the paper takes θ/t. One
        random feature approximates κ with an error as large as κ, so the first steps must be
        smaller than those of other methods.
    loss, regularization, gradient_bound, averaging, batch_size, n_outputs, trace
        As in `COLK`, but by default there is no averaging.

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

    _defaults: ClassVar[dict[str, Any]] = {
        "step_size": PowerDecay(0.2, power=1.0, scale=10.0),
        "averaging": None,
    }
    kernel: Kernel
    seed: int

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        *,
        seed: int = 0,
        **settings: Unpack[BatchSettings],
    ) -> None:
        self._assign(settings, kernel=check_spectral(kernel), loss=loss, seed=seed)

    def _make_stream(self, width: int, shape: dict[str, int], **common: Any) -> QuasiGradientStream:
        dictionary = Dictionary(None, width, has_factor=False, **shape)
        spectrum = Spectrum(self.kernel, self.seed, width)
        return parametric.DrawingStream(spectrum, dictionary=dictionary, gained=1, **common)

    @property
    def n_components(self) -> int:
        """Number of random features so far, one per step."""
        return self.steps

    @property
    def weights(self) -> Array:
        """Weights of the features, of shape (D,) or (D, n_outputs); averaged with averaging."""
        found = self._state().snapshot(self._state().averaged)[1]
        return found[:, 0] if self._is_vector else found
