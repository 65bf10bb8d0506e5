"""What every method of policy evaluation shares: its stream, its dictionary and its face."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from colk._core import policy as core
from colk._core.dictionary import Dictionary
from colk._core.reference import Pinned
from colk._core.window import DIVERGED, FULL, RUNAWAY
from colk._validation import Array, check_fraction, check_number, check_points
from colk.averaging import Averaging, Exponential, PolyakRuppert
from colk.compressors import KOMP
from colk.errors import DivergenceError
from colk.expansion import KernelExpansion
from colk.kernels import Kernel
from colk.kernels.base import compilable
from colk.rl.bellman import conditional_rms
from colk.rl.trace import PolicyTrace
from colk.rl.transitions import Transitions
from colk.schedules import PowerDecay, Rate, as_decay

__all__ = ["ValueLearner"]


class ValueLearner(ABC):
    """A value function V = Σ_j w_j κ(d_j, ·), learned from a stream of transitions.

    Shapes are taken from the first transitions. Bad input raises before anything is learned of
    it, in any chunking of the stream the result is the same, and a step that would diverge raises
    `DivergenceError` and leaves the last good state.
    """

    def __init__(
        self,
        kernel: Kernel,
        discount: float,
        step_size: Rate,
        tracking_rate: Rate | None,
        regularization: float,
        compressor: KOMP | None,
        averaging: Averaging | None,
        eps_ratio: float,
        trace: bool,
    ) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be a Kernel, got {type(kernel).__name__} {kernel!r}")
        self.kernel = kernel
        self.discount = check_fraction(discount, "discount")
        self.step_size = as_decay(step_size, "step_size")
        self._tracking_rate = as_decay(
            1.0 if tracking_rate is None else tracking_rate, "tracking_rate"
        )
        self.regularization = check_number(regularization, "regularization", at_least=0.0)
        self.compressor = KOMP(parsimony=0.04) if compressor is None else compressor
        self.averaging = averaging
        self._eps_ratio = check_number(eps_ratio, "eps_ratio", above=0.0)
        self._check()
        self._n_features: int | None = None
        self._records: list[Array] | None = [] if trace else None

    def _check(self) -> None:
        if not isinstance(self.compressor, KOMP):
            raise TypeError(f"compressor must be a KOMP, got {type(self.compressor).__name__}")
        if not isinstance(self.averaging, Averaging | None):
            raise TypeError(
                "averaging must be PolyakRuppert, Exponential or None, "
                f"got {type(self.averaging).__name__}"
            )
        if self._tracking_rate.initial > 1.0:
            raise ValueError(f"tracking_rate must lie in (0, 1], got {self._tracking_rate.initial}")
        if self.step_size.initial * self.regularization >= 1.0:
            raise ValueError(
                "step_size·regularization must be below 1: V is scaled by 1 minus that, "
                f"got {self.step_size.initial * self.regularization:g}; lower either"
            )

    @property
    @abstractmethod
    def _method(self) -> int:
        """The core's number of the method."""

    # -- state -------------------------------------------------------------------------------

    @property
    def _core(self) -> core.Evaluator:
        """The arrays, shared with compiled code, which takes them by `_pinned.address`."""
        return self._pinned.value

    @_core.setter
    def _core(self, evaluator: core.Evaluator) -> None:
        self._pinned = Pinned(evaluator)

    @property
    def _n_priced(self) -> int:
        """Rows that price an atom: V, and z where it is a function."""
        return 2 if self._method in (core.FUNCTION, core.CORRECTED) else 1

    def _allocate(self, n_features: int) -> None:
        priced = self._n_priced
        averaged = 0 if self.averaging is None else priced
        self._dictionary = Dictionary(
            self.kernel.program(n_features),
            n_features,
            n_rows=priced + (averaged > 0),
            n_priced=priced,
            block=2,
        )
        switches = np.zeros(core.N_SWITCHES, dtype=np.int64)
        switches[core.METHOD] = self._method
        switches[core.AVERAGED] = averaged
        switches[core.MAX_ATOMS] = self.compressor.max_atoms or np.iinfo(np.int64).max
        self._core = core.Evaluator(
            dictionary=self._dictionary.buffers,
            settings=self._settings(),
            switches=switches,
            tallies=np.zeros(core.N_TALLIES, dtype=np.int64),
            levels=np.zeros(core.N_LEVELS),
        )
        self._n_features = n_features

    def _settings(self) -> Array:
        values = np.zeros(core.N_SETTINGS)
        _put(values, core.STEP_SIZE, self.step_size)
        _put(values, core.TRACKING_RATE, self._tracking_rate)
        values[core.REGULARIZATION] = self.regularization
        values[core.EPS] = self.compressor.eps or 0.0
        values[core.PARSIMONY] = self.compressor.parsimony or 0.0
        values[core.DISCOUNT] = self.discount
        values[core.EPS_RATIO] = self._eps_ratio
        if isinstance(self.averaging, Exponential):
            values[core.AVERAGING_RATE] = self.averaging.rate
        elif isinstance(self.averaging, PolyakRuppert):
            values[core.BURN_IN] = self.averaging.burn_in
            values[core.GROWTH] = self.averaging.growth
        return values

    # -- learning ----------------------------------------------------------------------------

    def learn(
        self,
        states: ArrayLike,
        rewards: ArrayLike,
        next_states: ArrayLike,
        terminated: ArrayLike | None = None,
    ) -> Self:
        """Learn from transitions in their order.

        Parameters
        ----------
        states, next_states : array of shape (n, p)
            x and x'.
        rewards : array of shape (n,)
            Rewards of the transitions.
        terminated : array of shape (n,), optional
            Where x' is terminal: its value is 0 and is not learned from. An episode that was cut
            off (truncated) did not end: leave it False there.
        """
        t = Transitions.checked(states, rewards, next_states, terminated, self._n_features)
        if t.n_transitions == 0:
            return self
        if self._n_features is None:
            self._allocate(t.states.shape[1])
        self._learn(*(compilable(np.asarray(part, dtype=float)) for part in t))
        return self

    def _learn(self, states: Array, rewards: Array, next_states: Array, ends: Array) -> None:
        start, width = 0, 0 if self._records is None else len(core.TRACE)
        while start < len(states):
            trace = np.empty((len(states) - start if width else 1, width))
            taken, status = core.learn(
                self._pinned.address,
                states[start:],
                rewards[start:],
                next_states[start:],
                ends[start:],
                trace,
            )
            if self._records is not None:
                self._records.append(trace[:taken])
            start += taken
            if status == DIVERGED:
                raise DivergenceError(
                    f"{type(self).__name__} would diverge at step {self.steps} (transition "
                    f"{start} of this call): values left the range of the rewards by a factor of "
                    f"{RUNAWAY:g}; lower step_size (now {self.step_size.initial:g})"
                )
            if status == FULL:
                self._dictionary.reserve(2)
                self._core = self._core._replace(dictionary=self._dictionary.buffers)

    # -- what was learned --------------------------------------------------------------------

    def _require_samples(self) -> int:
        if self._n_features is None:
            raise ValueError(f"this {type(self).__name__} has not seen a transition; call learn")
        return self._n_features

    def _value_row(self, averaged: bool) -> int:
        return self._n_priced if averaged and self.averaging is not None else core.VALUE

    def _expansion(self, row: int, factor: float = 1.0) -> KernelExpansion:
        self._require_samples()
        weights = factor * self._dictionary.weights[:, row]
        return KernelExpansion(self.kernel, self._dictionary.atoms, weights)

    def value(self, states: ArrayLike) -> Array:
        """V at the states, of shape (n,): of the averaged function where there is averaging."""
        points = compilable(check_points(states, self._require_samples(), "states"))
        row = self._value_row(averaged=True)
        return self._dictionary.evaluate(points, slice(row, row + 1))[:, 0]

    def temporal_differences(
        self,
        states: ArrayLike,
        rewards: ArrayLike,
        next_states: ArrayLike,
        terminated: ArrayLike | None = None,
    ) -> Array:
        """δ = r + γV(x') − V(x) of each transition, without γV(x') where x' is terminal."""
        n_features = self._require_samples()
        t = Transitions.checked(states, rewards, next_states, terminated, n_features)
        ahead = np.where(t.terminated, 0.0, self.discount * self.value(t.next_states))
        return np.asarray(t.rewards + ahead - self.value(t.states))

    def bellman_error(
        self,
        states: ArrayLike,
        rewards: ArrayLike,
        next_states: ArrayLike,
        terminated: ArrayLike | None = None,
    ) -> float:
        """Root mean square over the states of E[δ | x], the root of what is minimised, doubled.

        E[δ | x] is regressed on V's own atoms with one half of the transitions (the even ones)
        and multiplied with δ of the other half, and the other way round: noise of δ, which the
        mean of δ² would count as error, drops out as far as the two halves are independent.
        """
        delta = self.temporal_differences(states, rewards, next_states, terminated)
        if len(delta) < 2:
            raise ValueError(f"bellman_error needs at least 2 transitions, got {len(delta)}")
        columns = self.kernel.gram(np.asarray(states, dtype=float), self._dictionary.atoms)
        return conditional_rms(columns, delta)

    @property
    def function(self) -> KernelExpansion:
        """V: the average of the iterates where there is averaging."""
        return self._expansion(self._value_row(averaged=True))

    @property
    def last_function(self) -> KernelExpansion:
        """The last iterate of V."""
        return self._expansion(core.VALUE)

    @property
    def n_atoms(self) -> int:
        """Model order M."""
        return 0 if self._n_features is None else self._dictionary.size

    @property
    def steps(self) -> int:
        """Transitions learned from so far."""
        return 0 if self._n_features is None else int(self._core.tallies[core.STEPS])

    @property
    def error_spent(self) -> float:
        """Sum over all steps of the H-norms that compression cost V."""
        return 0.0 if self._n_features is None else float(self._core.levels[core.VALUE_ERROR_SUM])

    @property
    def trace(self) -> PolicyTrace:
        """What every step did, where the learner was made with `trace=True`."""
        if self._records is None:
            raise ValueError("nothing was recorded: make the learner with trace=True")
        rows = np.concatenate([np.empty((0, len(core.TRACE))), *self._records])
        return PolicyTrace.from_rows(rows)

    # -- pickling ----------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the kernel's program, which may hold addresses of this process."""
        state = dict(self.__dict__)
        if self._n_features is not None:
            arrays = state.pop("_pinned").value._asdict()
            del arrays["dictionary"]
            state |= {"_arrays": arrays, "_dictionary": self._dictionary.pack()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        arrays, packed = state.pop("_arrays", None), state.pop("_dictionary", None)
        self.__dict__.update(state)
        if arrays is not None:
            program = self.kernel.program(self._require_samples())
            self._dictionary = Dictionary.unpack(program, packed)
            self._core = core.Evaluator(dictionary=self._dictionary.buffers, **arrays)


def _put(values: Array, first: int, rate: PowerDecay) -> None:
    values[first : first + 3] = rate.initial, rate.scale, rate.power
