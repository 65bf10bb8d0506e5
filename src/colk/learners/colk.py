"""COLK: compositional online learning with kernels, the paper's Algorithm 1."""

from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from colk._core import step as core
from colk._core.dictionary import Dictionary
from colk._validation import Array, check_count, check_number
from colk.averaging import Averaging, Exponential, PolyakRuppert
from colk.compressors import KOMP
from colk.errors import DivergenceError
from colk.expansion import KernelExpansion
from colk.kernels import Kernel
from colk.learners.base import OnlineLearner
from colk.losses import Loss, Squared
from colk.risks import Mean, Risk
from colk.schedules import Rate, as_decay

__all__ = ["COLK", "Trace"]

Pairing = Literal["independent", "same", "overlap"]
Tracker = Literal["momentum", "average"]

_PAIRINGS = {"same": core.SAME, "independent": core.INDEPENDENT, "overlap": core.OVERLAP}


@dataclass(frozen=True)
class Trace:
    """What each step did, one entry a step.

    Attributes
    ----------
    loss : array
        Loss of θ before the step, so that its mean is the prequential loss.
    outer : array
        Outer function at θ: its mean estimates the risk.
    n_atoms, added, dropped : array
        Model order after the step, and how it came about.
    error : array
        H-norm that compression cost, at most eps.
    clipped : array
        Pairs whose gradient was scaled back to the gradient bound.
    step_size : array
        The step size α.
    norm : array
        The H-norm of f.
    inner : array of shape (steps, m)
        The tracked value g.
    """

    loss: Array
    outer: Array
    n_atoms: Array
    added: Array
    dropped: Array
    error: Array
    clipped: Array
    step_size: Array
    norm: Array
    inner: Array

    @classmethod
    def from_rows(cls, rows: Array) -> "Trace":
        """Name the columns that the core wrote."""
        columns = {name: rows[:, i] for i, name in enumerate(core.TRACE)}
        return cls(inner=rows[:, len(core.TRACE) :], **columns)

    def __len__(self) -> int:
        return len(self.loss)


class COLK(OnlineLearner):
    """Compositional online learning with kernels.

    Minimises E_θ[outer(ℓ(f(x_θ), y_θ), g)] + λ/2‖f‖² with g = E_ξ[inner(ℓ(f(x_ξ), y_ξ))] over a
    reproducing kernel Hilbert space, one step of the two-time-scale stochastic quasi-gradient
    method for each pair of samples, and compresses f after each step.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    loss : Loss
        The loss ℓ.
    risk : Risk
        How losses are put together: inner and outer.
    step_size : float or PowerDecay
        α. A constant keeps following a target that moves; f then hovers about the optimum at a
        distance of order √α, which averaging removes.
    tracking_rate : float or PowerDecay
        β of the tracker of g, in (0, 1].
    regularization : float
        λ.
    compressor : KOMP
        What a step may forget.
    tracker : {"momentum", "average"}
        The paper's eq. (track1), g ← (1 − β)(g − inner at f_{t−1}) + inner at f_t with f_{t−1}
        evaluated exactly at the new sample; or SCGD's moving average.
    pairing : {"independent", "overlap", "same"}
        Which samples play θ and ξ. "independent": two consecutive samples a step, as in the
        paper; unbiased given g, half as many steps as samples. "overlap": θ is the new sample, ξ
        the one before it; a step a sample, every sample once in each role; f has already moved
        towards ξ when it meets it, a bias of order α. "same": one sample in both roles; a step a
        sample at half the cost, but the product of two expectations becomes the expectation of a
        product, a bias that does not vanish with α. A risk without inner value (Mean) makes a
        step with every sample, whatever the pairing.
    gradient_bound : float
        Assumption 5: the coefficients (c, c') of a pair are scaled back to this norm. The default
        lets the paper's printed settings run on targets that are not scaled.
    norm_bound : float
        f is kept in the ball ‖f‖_H ≤ norm_bound.
    averaging : PolyakRuppert, Exponential or None
        Average of the iterates that `predict` and `function` use; None for the last iterate.
    batch_size : int
        Pairs a step; their gradients are averaged.
    n_outputs : int, optional
        Numbers in one prediction; needed for Softmax, the number of classes.
    trace : bool
        Whether to record what every step does, see `Trace`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.compressors import KOMP
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import COLK
    >>> from colk.losses import Huber
    >>> from colk.risks import Variance
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((4000, 1))
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=4000)
    >>> learner = COLK(Gaussian(0.1), Huber(1.0), Variance(0.1), step_size=0.2,
    ...                compressor=KOMP(eps=0.02))
    >>> learner = learner.learn(X, y)
    >>> learner.n_atoms < 30
    True
    >>> bool(np.abs(learner.predict(X) - np.sin(6 * X[:, 0])).mean() < 0.05)
    True
    """

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        risk: Risk | None = None,
        step_size: Rate = 0.1,
        tracking_rate: Rate = 0.1,
        regularization: float = 1e-6,
        compressor: KOMP | None = None,
        tracker: Tracker = "momentum",
        pairing: Pairing = "independent",
        gradient_bound: float = 10.0,
        norm_bound: float = np.inf,
        averaging: Averaging | None = PolyakRuppert(growth=3.0),  # noqa: B008, it is frozen
        batch_size: int = 1,
        n_outputs: int | None = None,
        trace: bool = False,
    ) -> None:
        super().__init__(Squared() if loss is None else loss, n_outputs)
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be a Kernel, got {type(kernel).__name__} {kernel!r}")
        self.kernel = kernel
        self.risk = Mean() if risk is None else risk
        self.step_size = as_decay(step_size, "step_size")
        self.tracking_rate = as_decay(tracking_rate, "tracking_rate")
        self.regularization = check_number(regularization, "regularization", at_least=0.0)
        self.compressor = KOMP(eps=0.02) if compressor is None else compressor
        self.tracker = tracker
        self.pairing = pairing
        self.gradient_bound = _check_bound(gradient_bound, "gradient_bound")
        self.norm_bound = _check_bound(norm_bound, "norm_bound")
        self.averaging = averaging
        self.batch_size = check_count(batch_size, "batch_size")
        self._check()
        self._records: list[Array] | None = [] if trace else None

    def _check(self) -> None:
        if not isinstance(self.risk, Risk):
            raise TypeError(f"risk must be a Risk, got {type(self.risk).__name__} {self.risk!r}")
        if not isinstance(self.compressor, KOMP):
            raise TypeError(f"compressor must be a KOMP, got {type(self.compressor).__name__}")
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
        if self.step_size.initial * self.regularization >= 1.0:
            raise ValueError(
                "step_size·regularization must be below 1: f is scaled by 1 minus that, "
                f"got {self.step_size.initial * self.regularization:g}; lower either"
            )

    # -- state -------------------------------------------------------------------------------

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
        remembered = fitted if self.tracker == "momentum" and m > 0 else 0
        self._dictionary = Dictionary(
            self.kernel.program(n_features),
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
        switches[core.MAX_ATOMS] = self.compressor.max_atoms or np.iinfo(np.int64).max
        self._core = core.Learner(
            dictionary=self._dictionary.buffers,
            loss=self.loss.program(),
            risk=self.risk.program(),
            settings=self._settings(),
            switches=switches,
            tallies=np.zeros(core.N_TALLIES, dtype=np.int64),
            levels=np.zeros(core.N_LEVELS),
            g=np.zeros(m),
            window_x=np.zeros((window, n_features)),
            window_y=np.zeros((window, n_targets)),
            window_weight=np.zeros(window),
            predictions=np.zeros((window, q)),
            previous=np.zeros((window, q)),
            coefficients=np.zeros((window, q)),
            slopes=np.zeros((2, q)),
            tracked=np.zeros((2, m)),
            work=np.zeros(m * (q + 1)),
        )

    def _settings(self) -> Array:
        values = np.zeros(core.N_SETTINGS)
        for first, rate in (
            (core.STEP_SIZE, self.step_size),
            (core.TRACKING_RATE, self.tracking_rate),
        ):
            values[first : first + 3] = rate.initial, rate.scale, rate.power
        values[core.REGULARIZATION] = self.regularization
        only_a_budget = self.compressor.eps is None and self.compressor.parsimony is None
        values[core.EPS] = 0.0 if only_a_budget else self.compressor.eps or 0.0
        values[core.PARSIMONY] = self.compressor.parsimony or 0.0
        values[core.GRADIENT_BOUND] = self.gradient_bound
        values[core.NORM_BOUND] = self.norm_bound
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
            taken, steps, status = core.learn(
                self._core, X[start:], Y[start:], weight[start:], trace
            )
            if self._records is not None:
                self._records.append(trace[:steps])
            start += taken
            if status == core.DIVERGED:
                raise self._divergence(start)
            if status == core.FULL:
                self._dictionary.reserve(window)
                self._core = self._core._replace(dictionary=self._dictionary.buffers)

    def _divergence(self, sample: int) -> DivergenceError:
        largest = np.abs(self._core.predictions).max()
        if np.isfinite(largest) and not np.isfinite(self._core.coefficients).all():
            what, cure = "the gradient is not finite", "set a finite gradient_bound"
        else:
            what = f"predictions reached {largest:g}"
            cure = (
                f"lower step_size (now {self.step_size.initial:g}) or gradient_bound "
                f"(now {self.gradient_bound:g}), or set norm_bound"
            )
        return DivergenceError(
            f"{type(self).__name__} would diverge at step {self.steps} "
            f"(sample {sample} of this call): {what}; {cure}"
        )

    # -- what was learned --------------------------------------------------------------------

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
    def steps(self) -> int:
        """Steps made so far."""
        return 0 if self._n_features is None else int(self._core.tallies[core.STEPS])

    @property
    def inner_estimate(self) -> Array:
        """The tracked value g, of shape (m,)."""
        return np.zeros(self.risk.n_inner) if self._n_features is None else self._core.g.copy()

    @property
    def error_spent(self) -> float:
        """Sum over all steps of the H-norms that compression cost."""
        return 0.0 if self._n_features is None else float(self._core.levels[core.ERROR_SUM])

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
        if self._n_features is not None:
            learner = state.pop("_core")._asdict()
            for name in ("dictionary", "loss", "risk"):
                del learner[name]
            state["_arrays"] = learner
            state["_dictionary"] = self._dictionary.pack()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        arrays, packed = state.pop("_arrays", None), state.pop("_dictionary", None)
        self.__dict__.update(state)
        if arrays is None:
            return
        self._dictionary = Dictionary.unpack(self.kernel.program(self.n_features), packed)
        self._core = core.Learner(
            dictionary=self._dictionary.buffers,
            loss=self.loss.program(),
            risk=self.risk.program(),
            **arrays,
        )


def _check_bound(value: float, name: str) -> float:
    if value == np.inf:
        return float("inf")
    return check_number(value, name, above=0.0)
