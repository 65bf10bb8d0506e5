"""Base class of the policy evaluators."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from colk._engine.buffers import zeros
from colk._engine.dictionary import Dictionary
from colk._engine.simd.loops import LARGEST
from colk._engine.stream import Stream
from colk._engine.terms import check_term
from colk._engine.window import Window
from colk._validation import Array, check_fraction, check_number, check_points
from colk.compressors import KOMP
from colk.errors import DivergenceError
from colk.kernels import Kernel
from colk.learners.expanded import ExpansionLearner
from colk.learners.stream_learner import CREATION
from colk.rkhs.expansion import KernelExpansion
from colk.rl.bellman import conditional_rms
from colk.rl.step import TRACE, ValueStream
from colk.rl.trace import PolicyTrace
from colk.rl.transitions import Transitions
from colk.schedules import Averaging, PowerDecay, Rate, as_decay

__all__ = ["TrackingLearner", "ValueLearner"]


class ValueLearner(ExpansionLearner):
    """A value function V = Σ_j w_j κ(d_j, ·), learned from a stream of transitions.

    The first transitions set the number of features. The result does not depend on how the stream
    is split into calls. Invalid input raises an error before anything is learned. A step that would
    diverge raises `DivergenceError`, and the learner keeps its last state. Settings are read-only.

    Examples
    --------
    >>> from colk.rl import KernelTD, PolicyEvaluator, ValueLearner
    >>> issubclass(PolicyEvaluator, ValueLearner), issubclass(KernelTD, ValueLearner)
    (True, True)
    """

    _stream: ValueStream | None = None
    _stream_type: type[ValueStream] = ValueStream

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
        self.kernel = check_term(kernel, Kernel, "kernel")
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
        self._records = [] if trace else None

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

    # -- state -------------------------------------------------------------------------------

    def _allocate(self, n_features: int) -> None:
        priced, tracked = self._stream_type.n_priced, self._stream_type.n_tracked
        width = self.kernel.points(zeros((1, n_features))).shape[1]
        fitted = priced if self.averaging is None else priced + 1
        self._stream = self._stream_type(
            compressor=self.compressor,
            tracking_rate=self._tracking_rate,
            eps_ratio=self._eps_ratio,
            step_size=self.step_size,
            averaging=self.averaging,
            regularization=self.regularization,
            window=Window(1, 2 * width + 1, n_targets=1, n_outputs=1, n_inner=tracked),
            dictionary=Dictionary(
                self.kernel.of_atoms,
                width,
                n_rows=fitted + self._stream_type.n_remembered,
                n_priced=priced,
                n_fitted=fitted,
                block=2,
            ),
            traced=self._records is not None,
            **self._own_settings(),
        )

    def _own_settings(self) -> dict[str, Any]:
        """Return the arguments that only the stream of this method takes."""
        return {}

    def empty_stream(self, n_features: int, packed: dict[str, Any]) -> Stream:
        """Make an empty stream with the shape of a packed one, and let the learner use it."""
        self._allocate(n_features)
        self._n_features = n_features
        return self._state()

    def _state(self) -> ValueStream:
        """Return the stream; raise before the first transition."""
        if self._stream is None:
            raise ValueError(f"this {type(self).__name__} has not seen a transition; call learn")
        return self._stream

    # -- learning ----------------------------------------------------------------------------

    def learn(
        self,
        states: ArrayLike,
        rewards: ArrayLike,
        next_states: ArrayLike,
        terminated: ArrayLike | None = None,
    ) -> Self:
        """Learn from transitions in order.

        Parameters
        ----------
        states, next_states : array of shape (n, p)
            x and x'.
        rewards : array of shape (n,)
            Rewards of the transitions.
        terminated : array of shape (n,), optional
            Whether x' is terminal; a terminal state has value 0. Set False if an episode was only
            truncated. Default: no state is terminal.
        """
        t = Transitions.checked(states, rewards, next_states, terminated, self._n_features)
        if t.n_transitions == 0:
            return self
        if self._n_features is None:
            with CREATION:
                if self._n_features is None:
                    self._allocate(t.states.shape[1])
                    self._n_features = t.states.shape[1]
            check_points(t.states, self._n_features, "states")

        def samples(rows: slice) -> tuple[Array, Array, Array]:
            """Points (x, x', γ) with γ = 0 if x' is terminal, rewards, and weights 1."""
            part = t.part(rows)
            discounts = np.where(part.terminated, 0.0, self.discount)
            states = self.kernel.points(part.states), self.kernel.points(part.next_states)
            points = np.column_stack([*states, discounts])
            return points, part.rewards[:, None], np.ones(part.n_transitions)

        self._learn_in_blocks(self._state(), t.n_transitions, samples)
        return self

    def divergence(self, sample: int = 0, heaviest: float = 1.0) -> DivergenceError:
        """Return the error to raise if the step of this transition would diverge."""
        stream = self._state()
        if not stream.self_similarity < LARGEST:
            what = f"κ(x, x) reached {stream.self_similarity:g}"
            cure = "scale the states"
        elif not abs(stream.difference) < LARGEST:
            what = f"a temporal difference reached {stream.difference:g}"
            cure = "scale the rewards"
        else:
            largest = max(abs(stream.value), abs(stream.next_value), abs(stream.tracked))
            what = f"values reached {largest:g}, but rewards reach only {stream.largest_target:g}"
            cure = self._cure()
        return DivergenceError(
            f"{type(self).__name__} would diverge at step {self.steps} "
            f"(transition {sample} of this call): {what}; {cure}"
        )

    def _cure(self) -> str:
        """Return advice for values that diverge."""
        return f"lower step_size (now {self.step_size.initial:g})"

    # -- the value function ------------------------------------------------------------------

    def _expansion(self, row: int, factor: float = 1.0) -> KernelExpansion:
        atoms, weights = self._state().snapshot(row)
        return KernelExpansion(self.kernel, atoms, factor * weights[:, 0])

    def value(self, states: ArrayLike) -> Array:
        """Return V at the states, of shape (n,); with averaging, the average of the iterates."""
        stream = self._state()
        points = self.kernel.points(check_points(states, self.n_features, "states"))
        return stream.evaluate(points, stream.averaged)[:, 0]

    def temporal_differences(
        self,
        states: ArrayLike,
        rewards: ArrayLike,
        next_states: ArrayLike,
        terminated: ArrayLike | None = None,
    ) -> Array:
        """Return δ = r + γV(x') − V(x) of each transition; V(x') = 0 if x' is terminal."""
        self._state()
        t = Transitions.checked(states, rewards, next_states, terminated, self.n_features)
        ahead = np.where(t.terminated, 0.0, self.discount * self.value(t.next_states))
        return np.asarray(t.rewards + ahead - self.value(t.states))

    def bellman_error(
        self,
        states: ArrayLike,
        rewards: ArrayLike,
        next_states: ArrayLike,
        terminated: ArrayLike | None = None,
    ) -> float:
        """Return the root mean square of E[δ | x] over the states, √(2 × Bellman objective).

        The method regresses δ on V's atoms with the even transitions and multiplies the fit with δ
        of the odd ones, and vice versa. The mean of δ² would count the noise of δ as error; here it
        cancels if the two halves are independent.
        """
        delta = self.temporal_differences(states, rewards, next_states, terminated)
        if len(delta) < 2:
            raise ValueError(f"bellman_error needs at least 2 transitions, got {len(delta)}")
        points = self.kernel.points(np.asarray(states, dtype=float))
        columns = self.kernel.of_atoms.gram(points, self._state().snapshot(0)[0])
        return conditional_rms(columns, delta)

    @property
    def trace(self) -> PolicyTrace:
        """Record of every step, if the learner was made with `trace=True`."""
        return PolicyTrace.from_rows(self._recorded(len(TRACE)))


class TrackingLearner(ValueLearner):
    """A learner with a tracker z of E[δ | x] beside V."""

    @property
    def tracking_rate(self) -> PowerDecay:
        """The tracking rate β."""
        return self._tracking_rate

    @property
    def eps_ratio(self) -> float:
        """Bound on the compression error of z per step, relative to that of V."""
        return self._eps_ratio
