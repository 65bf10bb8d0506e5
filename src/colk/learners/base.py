"""Base class of the learners of samples (x, y): learn, predict, trace."""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import nullcontext
from inspect import Signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from colk._engine.blas_threads import BLAS_WINDOW, few_blas_threads
from colk._engine.buffers import zeros
from colk._engine.quasigradient import TRACE, QuasiGradientStream
from colk._engine.simd.loops import LARGEST
from colk._engine.stream import Stream
from colk._engine.window import Window, roles
from colk._validation import (
    Array,
    check_number,
    check_points,
    check_vector,
    check_weight_range,
)
from colk.errors import DivergenceError
from colk.learners.pairs import PairLearner
from colk.learners.parameters import parameters_of
from colk.learners.settings import CHECKS
from colk.learners.stream_learner import CREATION
from colk.learners.trace import Trace
from colk.losses import Loss
from colk.risks import Mean, Risk
from colk.schedules import Averaging, Pairing, PowerDecay, as_decay
from colk.trackers import MovingAverage, Tracker

__all__ = ["OnlineLearner"]

# A weight above this is named as the cause of a divergence.
HEAVY = 1e3

# The settings that are passed to a stream unchanged.
_TERMS = (
    "loss", "risk", "tracker", "step_size", "tracking_rate", "averaging", "regularization",
    "gradient_bound",
)  # fmt: skip


class OnlineLearner(PairLearner):
    """A model that learns from a stream of samples (x, y), in any chunking.

    It descends along the quasi-gradient of E_θ[outer(ℓ_θ, g)] with g = E_ξ[inner(ℓ_ξ)]. Each method
    defines the stream that updates its weights (`_make_stream`). The first samples set the shapes:
    X the number of features, y the number of outputs. Bad input raises an error before any of it is
    learned. Settings are read-only, and documented in `COLK` unless a method documents its own.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import POLK, OnlineLearner
    >>> learner = POLK(Gaussian(0.5))
    >>> isinstance(learner, OnlineLearner), learner.learn([[0.0], [1.0]], [1.0, 2.0]).steps
    (True, 2)
    """

    # Settings. A method without such a parameter uses the value given here.
    loss: Loss
    risk: Risk = Mean()
    step_size: PowerDecay
    tracking_rate: PowerDecay = as_decay(1.0, "tracking_rate")
    regularization: float
    tracker: Tracker = MovingAverage()
    pairing: Pairing = "same"
    gradient_bound: float
    averaging: Averaging | None
    batch_size: int = 1
    xi_per_theta: int = 1

    __signature__: ClassVar[Signature]
    # Defaults that replace those of `parameters.py`, and the defaults of all keyword parameters.
    _defaults: ClassVar[dict[str, Any]] = {}
    _unset: ClassVar[dict[str, Any]] = {}

    _stream: QuasiGradientStream | None = None
    _is_direct = False  # whether one sample can go to the stream as numbers, without arrays
    _streams_rows: ClassVar[bool] = True  # whether the stream itself makes points of such samples
    _is_vector = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            named, settings = parameters_of(cls)
            cls.__signature__ = Signature([*named, *settings])
            if settings:
                cls._unset = {each.name: each.default for each in settings}

    def _assign(self, given: Mapping[str, Any], **terms: Any) -> None:
        """Validate and store the terms and settings; settings may be left at their defaults."""
        for name in given.keys() - self._unset.keys():
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument {name!r}"
            )
        every = {**self._unset, **terms, **given}
        settings = {name: CHECKS[name](value, name) for name, value in every.items()}
        self._n_outputs: int | None = settings.pop("n_outputs")
        self._records = [] if settings.pop("trace") else None
        self._keep(settings)
        self._check()

    def _check(self) -> None:
        """Check that the settings are consistent with each other."""
        if self.loss.kind == "multiclass" and self._n_outputs is None:
            raise ValueError(f"{type(self.loss).__name__} needs n_outputs, the number of classes")
        shrunk = self.step_size.initial * self.regularization
        # A first step of 1/λ, as Pegasos makes, scales f = 0 by 0, which is harmless.
        if shrunk >= 1.0 and (self.step_size.power == 0.0 or shrunk > 1.0 + 1e-12):
            raise ValueError(
                "step_size·regularization must be below 1: f is scaled by 1 minus that, "
                f"got {shrunk:g}; lower either"
            )

    # -- state -------------------------------------------------------------------------------

    @abstractmethod
    def _make_stream(self, width: int, shape: dict[str, int], **common: Any) -> QuasiGradientStream:
        """Make the stream that updates the weights, with its dictionary.

        `width` is the number of values per point in the window, `shape` are the numbers of rows and
        the block of a `Dictionary`, and `common` are the other arguments of a stream.
        """

    @property
    def _prices_average(self) -> bool:
        """Whether the cost of an atom includes the loss of the average, not only of the iterate."""
        return False

    def _shown(self, X: Array) -> Array:
        """Return the values of points that the window stores."""
        return X

    def _point_width(self, n_features: int) -> int:
        """Return the number of values of a point that the window stores."""
        return len(self._shown(zeros((1, n_features)))[0])

    def _allocate(
        self,
        n_features: int,
        n_outputs: int,
        n_targets: int,
        packed: dict[str, Any] | None = None,
    ) -> None:
        """Create the state for samples of this shape, and restore a packed one if it is given."""
        self.risk.check_loss(self.loss)
        self.risk.check_sizes(n_outputs, n_targets)
        played = roles(self.pairing, self.risk.n_inner, self.batch_size, self.xi_per_theta)
        width = self._point_width(n_features)
        fitted = n_outputs if self.averaging is None else 2 * n_outputs
        remembers = self.tracker.remembers and self.risk.n_inner > 0
        stream = self._make_stream(
            width,
            {
                "n_rows": fitted + n_outputs * remembers,
                "n_priced": fitted if self._prices_average else n_outputs,
                "n_fitted": fitted,
                "block": played.window,
            },
            **{name: getattr(self, name) for name in _TERMS},
            roles=played,
            window=Window(played.window, width, n_targets, n_outputs, self.risk.n_inner),
            remembers=remembers,
            traced=self._records is not None,
        )
        if packed is not None:
            stream.unpack(packed)
        self._stream = stream
        self._watch()
        is_plain = self.loss.kind == "regression" and self._records is None
        self._is_direct = self._streams_rows and is_plain

    def empty_stream(self, n_features: int, packed: dict[str, Any]) -> Stream:
        """Make an empty stream of the shape of a packed one; the learner uses it from now on."""
        n_targets = packed["window"]["targets"].shape[1]
        n_outputs = self._n_outputs or n_targets
        self._allocate(n_features, n_outputs, n_targets)
        self._n_features, self._n_outputs = n_features, n_outputs
        return self._state()

    def get_state(self) -> dict[str, Any]:
        """Return the state of `WatchedLearner`, and the shape of predictions."""
        return {**super().get_state(), "is_vector": self._is_vector}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state that `get_state` of a learner with the same settings returned."""
        super().set_state(state)
        self._is_vector = state["is_vector"]

    @property
    def stream(self) -> QuasiGradientStream:
        """The state in the engine, which the first sample creates."""
        return self._state()

    @property
    def is_vector(self) -> bool:
        """Whether `predict` returns values of shape (n,), not (n, n_outputs)."""
        return self._is_vector

    def _state(self) -> QuasiGradientStream:
        """The stream; raises before the first sample."""
        if self._stream is None:
            raise ValueError(f"this {type(self).__name__} has not seen a sample yet; call learn")
        return self._stream

    # -- learning ----------------------------------------------------------------------------

    def learn(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from samples in their order.

        Parameters
        ----------
        X : array of shape (n, p)
            Points.
        y : array of shape (n,) or (n, q)
            Targets.
        sample_weight : array of shape (n,), optional
            Weights of the samples; a sample of weight 0 is skipped.
        """
        points = check_points(X, self._n_features)
        targets = self.risk.check_targets(self.loss, points, y, self._n_outputs)
        weight = np.ones(len(points))
        if sample_weight is not None:
            weight = check_vector(sample_weight, len(points), "sample_weight")
            check_weight_range(weight, "sample_weight")
        self._learn(points, targets, weight, np.ndim(y) == 1)
        self._warn_of_clips()
        return self

    def learn_checked(self, X: Array, Y: Array, weight: Array) -> None:
        """Learn from samples that the caller has checked: `learn` without its checks.

        Parameters
        ----------
        X : array of shape (n, p)
            Points: finite float64 in C order, with the same features as earlier samples.
        Y : array of shape (n,) or (n, r)
            Targets as the loss takes them, finite float64 in C order. Those of the first call set
            the shape of predictions.
        weight : array of shape (n,)
            Weights of the samples, finite and at least 0.
        """
        self._learn(X, Y[:, None] if Y.ndim == 1 else Y, weight, Y.ndim == 1)

    def _learn(self, X: Array, Y: Array, weight: Array, is_vector: bool) -> None:
        if len(X) == 0:
            return
        if self._n_features is None:
            self._begin(X, Y, is_vector)
        stream, detector = self._state(), self._detector
        n_drifts = 0 if detector is None else len(detector.events)
        calls_blas = stream.window.size >= BLAS_WINDOW
        with few_blas_threads(stream.dictionary.size) if calls_blas else nullcontext():
            self._learn_in_blocks(
                stream, len(X), lambda rows: (self._shown(X[rows]), Y[rows], weight[rows])
            )
        if detector is not None:
            self.end_call(n_drifts)

    def _begin(self, X: Array, Y: Array, is_vector: bool) -> None:
        """Create the state for the first samples, unless another thread has done it meanwhile."""
        with CREATION:
            if self._n_features is None:
                n_outputs = self._n_outputs or self.risk.n_outputs or Y.shape[1]
                self._allocate(X.shape[1], n_outputs, Y.shape[1])
                like_targets = is_vector and not self.loss.couples_outputs
                self._is_vector = like_targets if Y.shape[1] == n_outputs else n_outputs == 1
                self._n_features, self._n_outputs = X.shape[1], n_outputs
        check_points(X, self._n_features)
        if self.risk.n_outputs is None:
            self.loss.check_targets(Y, self._n_outputs or 1, len(X))
        else:
            self.risk.check_sizes(self._n_outputs or 1, Y.shape[1])

    def learn_one(self, x: ArrayLike, y: ArrayLike, sample_weight: float = 1.0) -> Self:
        """Learn from one sample: a point of shape (p,) and its target."""
        if self._is_direct:
            point = x.tolist() if type(x) is np.ndarray else x
            if type(point) is list or type(point) is tuple:
                learned = self._state().learn_one(point, y, sample_weight)
                if learned == 1:
                    return self
                if learned == 0:
                    raise self.divergence(0, sample_weight)
        check_number(sample_weight, "sample_weight", at_least=0.0)
        row = np.asarray(x)
        if row.ndim != 1:
            raise ValueError(f"x must be one point of shape (n_features,), got {row.shape}")
        return self.learn(row[None, :], np.asarray(y)[None], np.array([sample_weight]))

    def divergence(self, sample: int = 0, heaviest: float = 1.0) -> DivergenceError:
        """Return the error to raise if the step of this sample would diverge."""
        window = self._state().window
        largest, steepest = np.abs(window.predictions).max(), np.abs(window.coefficients).max()
        if np.isfinite(largest) and not np.isfinite(window.g_mean).all():
            what = f"the tracked g of {type(self.risk).__name__} overflowed"
            cure = "scale the targets, or lower the order or the tilt of the risk"
        elif np.isfinite(largest) and np.isnan(steepest):
            what = f"the gradient of {type(self.risk).__name__} is NaN at g = {window.g_mean}"
            cure = "check its functions there; the first_g of a Composition sets its first g"
        elif np.isfinite(largest) and not steepest < LARGEST:
            what = f"the gradient reached {steepest:g}"
            cure = "set a finite gradient_bound, or scale features and targets"
        else:
            what, cure = f"predictions reached {largest:g}", self._cure()
        if heaviest > HEAVY:
            what += f", and a sample has the weight {heaviest:g}, which multiplies its step"
            cure = "divide all weights by their mean, and limit the largest ones"
        return DivergenceError(
            f"{type(self).__name__} would diverge at step {self.steps} "
            f"(sample {sample} of this call): {what}; {cure}"
        )

    def _cure(self) -> str:
        """Return advice for the case that predictions diverge."""
        return (
            f"lower step_size (now {self.step_size.initial:g}) or gradient_bound "
            f"(now {self.gradient_bound:g})"
        )

    # -- results ----------------------------------------------------------------------------

    def predict(self, X: ArrayLike) -> Array:
        """Return values of the learned function, of shape (n,) or (n, q) like the targets."""
        values = self.evaluate(check_points(X, self.n_features))
        return values[:, 0] if self._is_vector else values

    def evaluate(self, X: Array) -> Array:
        """Return values at checked points, of shape (n, n_outputs)."""
        return self._state().evaluate(self._shown(X), self._state().shown)

    @property
    def n_outputs(self) -> int | None:
        """Number of outputs; None before the first sample unless it was set."""
        return self._n_outputs

    @property
    def inner_estimate(self) -> Array:
        """The tracked value g, of shape (m,)."""
        if self._stream is None:
            return np.zeros(self.risk.n_inner)
        with self._stream.lock:
            return np.array(self._stream.window.g)

    @property
    def loss_sums(self) -> tuple[float, float]:
        """Sums over the stream of weight·loss before each step, and of weights."""
        if self._stream is None:
            return 0.0, 0.0
        with self._stream.lock:
            return self._stream.loss_sum, self._stream.weight_sum

    def loss_since(self, before: tuple[float, float]) -> float:
        """Mean loss before each step since `loss_sums` was `before`; NaN if there was no step.

        Examples
        --------
        >>> from colk import COLK
        >>> from colk.kernels import Gaussian
        >>> learner = COLK(Gaussian(1.0)).learn([[0.0]], [1.0])
        >>> before = learner.loss_sums
        >>> learner.learn([[9.0]], [2.0]).loss_since(before)
        4.0
        """
        loss, weight = self.loss_sums
        seen = weight - before[1]
        return float((loss - before[0]) / seen) if seen > 0.0 else float("nan")

    @property
    def prequential_loss(self) -> float:
        """Mean over the stream of the loss of each θ before its step."""
        return self.loss_since((0.0, 0.0))

    @property
    def trace(self) -> Trace:
        """The record of each step, for a learner made with `trace=True`."""
        return Trace.from_rows(self._recorded(len(TRACE) + self.risk.n_inner))
