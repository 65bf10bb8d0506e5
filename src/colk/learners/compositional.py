"""What every method of this package shares: its terms, its stream, its safeguards, pickling."""

from abc import abstractmethod
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from colk._validation import Array, check_count, check_number
from colk.averaging import Averaging
from colk.dictionary import Dictionary
from colk.errors import DivergenceError
from colk.lanes import LARGEST
from colk.learners.base import OnlineLearner
from colk.learners.naming import as_tracker
from colk.learners.trace import Trace
from colk.losses import Loss, Squared
from colk.pairing import PAIRINGS, Pairing, Roles, roles
from colk.quasigradient import TRACE, QuasiGradientStream
from colk.risks import Mean, Risk
from colk.schedules import Rate, as_decay
from colk.stream import Stream
from colk.terms import check_overrides, check_term
from colk.trackers import Tracker
from colk.window import Window

__all__ = ["CompositionalLearner"]

# Windows of at least so many samples go through BLAS; below so many atoms by one thread of it: a
# small triangle loses more by waking a second one than it gains.
_BLAS_WINDOW = 8
_BLAS_THREADS_FROM = 256


@cache
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class CompositionalLearner(OnlineLearner):
    """A stochastic quasi-gradient method on E_θ[outer(ℓ_θ, g)] with g = E_ξ[inner(ℓ_ξ)].

    A method says where its weights live (`_make_dictionary`) and which stream moves them
    (`_make_stream`).

    Parameters
    ----------
    loss, risk, step_size, tracking_rate, regularization, tracker, pairing, gradient_bound
        As in `COLK`.
    averaging, batch_size, n_outputs, trace
        As in `COLK`.
    """

    # Whether the window is given points as they are.
    _shows_points: ClassVar[bool] = True

    _stream: QuasiGradientStream | None = None
    _is_direct = False  # whether one sample can go to the stream as numbers, without arrays

    def __init__(
        self,
        loss: Loss | None = None,
        risk: Risk | None = None,
        step_size: Rate = 0.1,
        tracking_rate: Rate = 1.0,
        regularization: float = 1e-6,
        tracker: Tracker | str = "average",
        pairing: Pairing = "same",
        gradient_bound: float = 10.0,
        averaging: Averaging | None = None,
        batch_size: int = 1,
        n_outputs: int | None = None,
        trace: bool = False,
    ) -> None:
        super().__init__(Squared() if loss is None else loss, n_outputs)
        self.risk = Mean() if risk is None else check_term(risk, Risk, "risk")
        self.step_size = as_decay(step_size, "step_size")
        self.tracking_rate = as_decay(tracking_rate, "tracking_rate")
        self.regularization = check_number(regularization, "regularization", at_least=0.0)
        self.tracker = as_tracker(tracker)
        self.pairing = pairing
        self.gradient_bound = check_bound(gradient_bound, "gradient_bound")
        self.averaging = averaging
        self.batch_size = check_count(batch_size, "batch_size")
        self._check()
        self._records = [] if trace else None

    def _check(self) -> None:
        if self.pairing not in PAIRINGS:
            raise ValueError(f"pairing must be one of {list(PAIRINGS)}, got {self.pairing!r}")
        if not isinstance(self.averaging, Averaging | None):
            raise TypeError(
                "averaging must be PolyakRuppert, Exponential or None, "
                f"got {type(self.averaging).__name__}"
            )
        if self.averaging is not None:
            check_overrides(self.averaging)
        if self.tracking_rate.initial > 1.0:
            raise ValueError(f"tracking_rate must lie in (0, 1], got {self.tracking_rate.initial}")
        self._check_shrinking()

    def _check_shrinking(self) -> None:
        if self.step_size.initial * self.regularization >= 1.0:
            raise ValueError(
                "step_size·regularization must be below 1: f is scaled by 1 minus that, "
                f"got {self.step_size.initial * self.regularization:g}; lower either"
            )

    # -- what a method brings ----------------------------------------------------------------

    @abstractmethod
    def _make_dictionary(self, n_features: int, **shape: int) -> Dictionary:
        """Make the place of the weights; `shape` is its n_rows, n_priced, n_fitted and block."""

    @abstractmethod
    def _make_stream(self, **common: Any) -> QuasiGradientStream:
        """Make the stream that moves the weights."""

    def _window_width(self, n_features: int) -> int:
        """Numbers that the window keeps of a point."""
        return n_features

    def _atoms_gained(self, window: int) -> int:
        """Atoms that a step may add."""
        return window

    def _keeps_previous(self) -> bool:
        """Whether the weights of the previous step are kept."""
        return self.tracker.remembers and self.risk.n_inner > 0

    def _shown(self, X: Array) -> Array:
        """What the window is given of points."""
        return X

    # -- state -------------------------------------------------------------------------------

    def _roles(self) -> Roles:
        return roles(self.pairing, self.risk.n_inner, self.batch_size)

    def _allocate(self, n_features: int, n_outputs: int, n_targets: int) -> None:
        self.risk.check_sizes(n_outputs, n_targets)
        played, width = self._roles(), self._window_width(n_features)
        fitted = n_outputs if self.averaging is None else 2 * n_outputs
        remembers = self._keeps_previous()
        dictionary = self._make_dictionary(
            n_features,
            n_rows=fitted + (n_outputs if remembers else 0),
            n_priced=n_outputs,
            n_fitted=fitted,
            block=played.window,
        )
        self._stream = self._make_stream(
            loss=self.loss,
            risk=self.risk,
            tracker=self.tracker,
            step_size=self.step_size,
            tracking_rate=self.tracking_rate,
            averaging=self.averaging,
            regularization=self.regularization,
            gradient_bound=self.gradient_bound,
            roles=played,
            window=Window(played.window, width, n_targets, n_outputs, self.risk.n_inner),
            dictionary=dictionary,
            gained=self._atoms_gained(played.window),
            remembers=remembers,
            traced=self._records is not None,
        )
        self._is_direct = (
            self._shows_points and self.loss.kind == "regression" and self._records is None
        )

    def _state(self) -> QuasiGradientStream:
        """The stream, once there was a sample."""
        if self._stream is None:
            raise ValueError(f"this {type(self).__name__} has not seen a sample yet; call learn")
        return self._stream

    def _learn(self, X: Array, Y: Array, weight: Array) -> None:
        stream = self._state()
        with self._blas_threads(stream):
            self._learn_in_blocks(
                stream, len(X), lambda rows: (self._shown(X[rows]), Y[rows], weight[rows])
            )

    def _blas_threads(self, stream: Stream) -> AbstractContextManager[Any]:
        if stream.window.size < _BLAS_WINDOW or stream.dictionary.size >= _BLAS_THREADS_FROM:
            return nullcontext()
        limited: AbstractContextManager[Any] = _thread_pools().limit(limits=1, user_api="blas")
        return limited

    def learn_one(self, x: ArrayLike, y: ArrayLike, sample_weight: float = 1.0) -> Self:
        """Learn from one sample: a point of shape (p,) and its target."""
        if self._is_direct:
            point = x.tolist() if type(x) is np.ndarray else x
            if type(point) in _SEQUENCES:
                learned = self._state().learn_one(point, y, sample_weight)
                if learned == 1:
                    return self
                if learned == 0:
                    raise self._divergence(0)
        return super().learn_one(x, y, sample_weight)

    def _divergence(self, sample: int) -> DivergenceError:
        window = self._state().window
        largest, steepest = (
            np.abs(values).max() for values in (window.predictions, window.coefficients)
        )
        if np.isfinite(largest) and not np.isfinite(window.g_mean).all():
            what = f"the tracked g of {type(self.risk).__name__} overflowed"
            cure = "scale the targets, or lower the order or the tilt of the risk"
        elif np.isfinite(largest) and not steepest < LARGEST:
            what = f"the gradient reached {steepest:g}"
            cure = "set a finite gradient_bound, or scale features and targets"
        else:
            what, cure = f"predictions reached {largest:g}", self._cure()
        return DivergenceError(
            f"{type(self).__name__} would diverge at step {self.steps} "
            f"(sample {sample} of this call): {what}; {cure}"
        )

    def _cure(self) -> str:
        """Return what to change where predictions run away."""
        return (
            f"lower step_size (now {self.step_size.initial:g}) or gradient_bound "
            f"(now {self.gradient_bound:g})"
        )

    # -- what was learned --------------------------------------------------------------------

    @property
    def inner_estimate(self) -> Array:
        """The tracked value g, of shape (m,)."""
        if self._stream is None:
            return np.zeros(self.risk.n_inner)
        return np.array(self._stream.window.g)

    @property
    def loss_sums(self) -> tuple[float, float]:
        """Sums over the stream of weight·loss before each step, and of the weights."""
        if self._stream is None:
            return 0.0, 0.0
        return self._stream.loss_sum, self._stream.weight_sum

    @property
    def prequential_loss(self) -> float:
        """Mean over the stream of the loss of each θ before its step."""
        loss, weight = self.loss_sums
        return loss / weight if self.steps > 0 else float("nan")

    @property
    def trace(self) -> Trace:
        """What every step did, where the learner was made with `trace=True`."""
        return Trace.from_rows(self._recorded(len(TRACE) + self.risk.n_inner))

    def _remake(self, packed: dict[str, Any]) -> Stream:
        n_targets = packed["window"]["targets"].shape[1]
        self._allocate(self.n_features, self.n_outputs or 1, n_targets)
        return self._state()


# What one point is given as, where it is no array.
_SEQUENCES = (list, tuple)


def check_bound(value: float, name: str) -> float:
    """A positive number, or infinity for no bound."""
    if value == np.inf:
        return float("inf")
    return check_number(value, name, above=0.0)
