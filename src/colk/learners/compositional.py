"""What every method of this package shares: the window, the tracker, the safeguards, pickling."""

from abc import abstractmethod
from typing import Any, Literal

import numpy as np

from colk._core import window as core
from colk._core.assess import assess_unit
from colk._core.dictionary import Dictionary
from colk._core.jit import Unit
from colk._core.reference import Pinned
from colk._core.stream import learn
from colk._validation import Array, check_count, check_number
from colk.averaging import Averaging, Exponential, PolyakRuppert
from colk.errors import DivergenceError
from colk.learners.base import OnlineLearner
from colk.learners.trace import Trace
from colk.losses import Loss, Squared
from colk.risks import Mean, Risk
from colk.schedules import Rate, as_decay

__all__ = ["CompositionalLearner", "Pairing", "Tracker"]

Pairing = Literal["independent", "same", "overlap"]
Tracker = Literal["momentum", "average"]
Progress = tuple[int, int, int]

# Fields of the core's learner that mean something in this process only.
_ADDRESSES = ("step", "assess", "record", "method")

_PAIRINGS = {"same": core.SAME, "independent": core.INDEPENDENT, "overlap": core.OVERLAP}


class CompositionalLearner(OnlineLearner):
    """A stochastic quasi-gradient method on E_θ[outer(ℓ_θ, g)] with g = E_ξ[inner(ℓ_ξ)].

    A method says where its weights live (`_make_dictionary`) and how a stretch of the stream
    moves them (`_advance`).

    Parameters
    ----------
    loss, risk, step_size, tracking_rate, regularization, tracker, pairing, gradient_bound
        As in `COLK`.
    averaging, batch_size, n_outputs, trace
        As in `COLK`.
    """

    _dictionary: Dictionary
    _pinned: Pinned[core.Learner]

    def __init__(
        self,
        loss: Loss | None,
        risk: Risk | None,
        step_size: Rate,
        tracking_rate: Rate,
        regularization: float,
        tracker: Tracker,
        pairing: Pairing,
        gradient_bound: float,
        averaging: Averaging | None,
        batch_size: int,
        n_outputs: int | None,
        trace: bool,
    ) -> None:
        super().__init__(Squared() if loss is None else loss, n_outputs)
        self.risk = Mean() if risk is None else risk
        self.step_size = as_decay(step_size, "step_size")
        self.tracking_rate = as_decay(tracking_rate, "tracking_rate")
        self.regularization = check_number(regularization, "regularization", at_least=0.0)
        self.tracker = tracker
        self.pairing = pairing
        self.gradient_bound = check_bound(gradient_bound, "gradient_bound")
        self.averaging = averaging
        self.batch_size = check_count(batch_size, "batch_size")
        self._check()
        self._records: list[Array] | None = [] if trace else None

    def _check(self) -> None:
        if not isinstance(self.risk, Risk):
            raise TypeError(f"risk must be a Risk, got {type(self.risk).__name__} {self.risk!r}")
        if self.tracker not in ("momentum", "average"):
            raise ValueError(f"tracker must be 'momentum' or 'average', got {self.tracker!r}")
        if self.pairing not in _PAIRINGS:
            raise ValueError(f"pairing must be one of {sorted(_PAIRINGS)}, got {self.pairing!r}")
        if not isinstance(self.averaging, Averaging | None):
            raise TypeError(
                "averaging must be PolyakRuppert, Exponential or None, "
                f"got {type(self.averaging).__name__}"
            )
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
    def _restore_dictionary(self, packed: dict[str, Any]) -> Dictionary:
        """Return the place of the weights that was packed."""

    @property
    @abstractmethod
    def _step_unit(self) -> Unit:
        """What makes a step in compiled code."""

    def _method(self, n_features: int) -> Pinned[Any] | None:
        """What the step keeps beyond the learner."""
        return None

    def _atoms_gained(self) -> int:
        """Atoms that a step may add."""
        return self._window_size()

    def _advance(self, X: Array, Y: Array, weight: Array, trace: Array) -> Progress:
        """Run compiled steps; return samples taken, steps made, and why they stopped."""
        return learn(self._pinned.address, X, Y, weight, trace)

    def _window_width(self, n_features: int) -> int:
        """Numbers that the window keeps of a point."""
        return n_features

    def _keeps_previous(self) -> bool:
        """Whether the weights of the previous step are kept."""
        return self.tracker == "momentum" and self.risk.n_inner > 0

    # -- state -------------------------------------------------------------------------------

    @property
    def _core(self) -> core.Learner:
        """The arrays, shared with compiled code, which takes them by `_pinned.address`."""
        return self._pinned.value

    @_core.setter
    def _core(self, learner: core.Learner) -> None:
        self._pinned = Pinned(learner)

    def _pairing_code(self) -> int:
        return core.ALONE if self.risk.n_inner == 0 else _PAIRINGS[self.pairing]

    def _window_size(self) -> int:
        pairing = self._pairing_code()
        if pairing == core.INDEPENDENT:
            return 2 * self.batch_size
        return self.batch_size + (1 if pairing == core.OVERLAP else 0)

    def _allocate(self, n_features: int, n_outputs: int, n_targets: int) -> None:
        q, m, window = n_outputs, self.risk.n_inner, self._window_size()
        averaged = 0 if self.averaging is None else q
        fitted = q + averaged
        remembered = fitted if self._keeps_previous() else 0
        self._dictionary = self._make_dictionary(
            n_features,
            n_rows=fitted + (q if remembered else 0),
            n_priced=q,
            n_fitted=fitted,
            block=window,
        )
        switches = np.zeros(core.N_SWITCHES, dtype=np.int64)
        switches[core.PAIRING] = self._pairing_code()
        switches[core.BATCH] = self.batch_size
        switches[core.MOMENTUM] = self.tracker == "momentum"
        switches[core.AVERAGED] = averaged
        switches[core.REMEMBERED] = remembered
        switches[core.MAX_ATOMS] = np.iinfo(np.int64).max
        switches[core.GAINED] = self._atoms_gained()
        self._core = core.Learner(
            dictionary=self._dictionary.buffers,
            loss=self.loss.program(),
            risk=self.risk.program(),
            settings=self._settings(),
            switches=switches,
            tallies=np.zeros(core.N_TALLIES, dtype=np.int64),
            levels=np.zeros(core.N_LEVELS),
            g=np.zeros(m),
            window_x=np.zeros((window, self._window_width(n_features))),
            window_y=np.zeros((window, n_targets)),
            window_weight=np.zeros(window),
            predictions=np.zeros((window, q)),
            previous=np.zeros((window, q)),
            losses=np.zeros(window),
            loss_slopes=np.zeros((window, q)),
            coefficients=np.zeros((window, q)),
            slopes=np.zeros((2, q)),
            tracked=np.zeros((2, m)),
            work=np.zeros(m * (q + 1)),
            line=np.zeros(core.N_TRACED + m),
            **self._units(n_features),
        )

    def _units(self, n_features: int) -> dict[str, Any]:
        """Addresses of this process."""
        self._kept = self._method(n_features)
        return {
            "step": self._step_unit.address,
            "assess": assess_unit.address,
            "record": 0 if self._records is None else core.record_unit.address,
            "method": 0 if self._kept is None else self._kept.address,
        }

    def _settings(self) -> Array:
        values = np.zeros(core.N_SETTINGS)
        for first, rate in (
            (core.STEP_SIZE, self.step_size),
            (core.TRACKING_RATE, self.tracking_rate),
        ):
            values[first : first + 3] = rate.initial, rate.scale, rate.power
        values[core.REGULARIZATION] = self.regularization
        values[core.GRADIENT_BOUND] = self.gradient_bound
        values[core.NORM_BOUND] = np.inf
        if isinstance(self.averaging, Exponential):
            values[core.AVERAGING_RATE] = self.averaging.rate
        elif isinstance(self.averaging, PolyakRuppert):
            values[core.BURN_IN] = self.averaging.burn_in
            values[core.GROWTH] = self.averaging.growth
        return values

    def _learn(self, X: Array, Y: Array, weight: Array) -> None:
        start, window = 0, self._window_size()
        while start < len(X):
            width = 0 if self._records is None else len(core.TRACE) + self.risk.n_inner
            trace = np.empty((len(X) - start if width else 1, width))
            with self._dictionary.blas_threads():
                taken, steps, status = self._advance(X[start:], Y[start:], weight[start:], trace)
            if self._records is not None:
                self._records.append(trace[:steps])
            start += taken
            if status == core.DIVERGED:
                raise self._divergence(start)
            if status == core.FULL:
                self._dictionary.reserve(window)
                self._core = self._core._replace(
                    dictionary=self._dictionary.buffers, **self._units(self.n_features)
                )

    def _divergence(self, sample: int) -> DivergenceError:
        found = self._core
        largest, steepest = (
            np.abs(values).max() for values in (found.predictions, found.coefficients)
        )
        if np.isfinite(largest) and not np.isfinite(found.tracked[1]).all():
            what = f"the tracked g of {type(self.risk).__name__} overflowed"
            cure = "scale the targets, or lower the order or the tilt of the risk"
        elif np.isfinite(largest) and not steepest < core.HUGE:
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
    def steps(self) -> int:
        """Steps made so far."""
        return 0 if self._n_features is None else int(self._core.tallies[core.STEPS])

    @property
    def inner_estimate(self) -> Array:
        """The tracked value g, of shape (m,)."""
        return np.zeros(self.risk.n_inner) if self._n_features is None else self._core.g.copy()

    @property
    def prequential_loss(self) -> float:
        """Mean over the stream of the loss of each θ before its step."""
        if self.steps == 0:
            return float("nan")
        levels = self._core.levels
        return float(levels[core.LOSS_SUM] / levels[core.WEIGHT_SUM])

    @property
    def trace(self) -> Trace:
        """What every step did, where the learner was made with `trace=True`."""
        if self._records is None:
            raise ValueError("nothing was recorded: make the learner with trace=True")
        width = len(core.TRACE) + self.risk.n_inner
        return Trace.from_rows(np.concatenate([np.empty((0, width)), *self._records]))

    # -- pickling ----------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the programs, which may hold addresses of this process."""
        state = dict(self.__dict__)
        state.pop("_kept", None)
        if self._n_features is not None:
            learner = state.pop("_pinned").value._asdict()
            for name in ("dictionary", "loss", "risk", *_ADDRESSES):
                del learner[name]
            state["_arrays"] = learner
            state["_dictionary"] = self._dictionary.pack()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        arrays, packed = state.pop("_arrays", None), state.pop("_dictionary", None)
        self.__dict__.update(state)
        if arrays is None:
            return
        self._dictionary = self._restore_dictionary(packed)
        self._core = core.Learner(
            dictionary=self._dictionary.buffers,
            loss=self.loss.program(),
            risk=self.risk.program(),
            **self._units(self.n_features),
            **arrays,
        )


def check_bound(value: float, name: str) -> float:
    """A positive number, or infinity for no bound."""
    if value == np.inf:
        return float("inf")
    return check_number(value, name, above=0.0)
