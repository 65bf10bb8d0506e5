"""Methods whose model is a kernel expansion f = Σ w_j κ(d_j, ·): COLK, and POLK."""

from dataclasses import replace
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dtrtri

from colk._engine.dictionary import Dictionary
from colk._engine.gradient_step import GradientStream
from colk._engine.linear_map import whole_rows
from colk._engine.quasigradient import QuasiGradientStream
from colk._validation import Array
from colk.compressors import Compressor
from colk.kernels import Kernel
from colk.learners.base import OnlineLearner
from colk.learners.drift_event import DriftEvent
from colk.learners.expanded import ExpansionLearner
from colk.learners.growth import enlarge
from colk.learners.parameters import GradientSettings, RiskSettings
from colk.learners.stored import settings_of
from colk.losses import Loss
from colk.risks import Risk
from colk.rkhs.expansion import KernelExpansion

__all__ = ["COLK", "POLK", "KernelLearner"]


class KernelLearner(OnlineLearner, ExpansionLearner):
    """A learner whose function is a kernel expansion, compressed after each step."""

    kernel: Kernel
    compressor: Compressor
    norm_bound: float = np.inf
    implicit: bool = False
    stream_type: ClassVar[type[GradientStream]] = GradientStream

    def _check(self) -> None:
        super()._check()
        if self.xi_per_theta > 1 and self.pairing != "independent":
            raise ValueError("xi_per_theta above 1 needs pairing='independent'")
        if self.implicit and not self.risk.is_of_losses:
            raise ValueError(
                f"an implicit step needs a risk of losses; {type(self.risk).__name__} is a risk of "
                "predictions"
            )
        self.compressor.check(self.kernel.of_atoms)
        if self.norm_bound < np.inf and not self.compressor.is_orthogonal:
            raise ValueError(
                "norm_bound needs a compressor that projects, as KOMP does; "
                f"{type(self.compressor).__name__} does not"
            )

    @property
    def _prices_average(self) -> bool:
        return self.compressor.is_orthogonal

    def _make_stream(self, width: int, shape: dict[str, int], **common: Any) -> QuasiGradientStream:
        rule = self.compressor
        return self.stream_type(
            compressor=rule,
            norm_bound=self.norm_bound,
            implicit=bool(self.implicit),
            dictionary=Dictionary(
                self.kernel.of_atoms, width, has_factor=rule.needs_factor, **shape
            ),
            gained=shape["block"],
            **common,
        )

    def _allocate(
        self,
        n_features: int,
        n_outputs: int,
        n_targets: int,
        packed: dict[str, Any] | None = None,
    ) -> None:
        super()._allocate(n_features, n_outputs, n_targets, packed)
        if self.kernel.metric is not None:
            self._state().map_rows(whole_rows(self.kernel.metric))

    def _shown(self, X: Array) -> Array:
        return self.kernel.points(X)

    @property
    def drifts(self) -> list[DriftEvent]:
        """All alarms so far; without features with a metric, in which the learner sees points."""
        found = super().drifts
        if self.kernel.metric is None:
            return found
        return [replace(event, features={}) for event in found]

    def _expansion(self, row: int) -> KernelExpansion:
        atoms, weights = self._state().snapshot(row)
        return KernelExpansion(self.kernel, atoms, weights[:, 0] if self._is_vector else weights)

    def grow(self, n_features: int, n_outputs: int, kernel: Kernel | None = None) -> None:
        """Extend a learner that has seen a sample to more features and outputs.

        The learned function is kept. Atoms and waiting samples are 0 in a new feature. The kernel
        must give the same values: its bandwidth is one number, or `kernel` is the current kernel
        extended to the new features. A new output starts as the function 0.

        Examples
        --------
        >>> from colk.kernels import Gaussian
        >>> from colk.learners import COLK
        >>> learner = COLK(Gaussian(1.0)).learn([[0.0], [1.0]], [0.0, 1.0])
        >>> before = learner.predict([[0.5]])
        >>> learner.grow(n_features=2, n_outputs=1)
        >>> bool(learner.predict([[0.5, 0.0]]) == before)
        True
        """
        with self._held():
            packed, n_targets = self._state().pack(), self._state().window.targets.shape[1]
            outputs, before = self.n_outputs or 1, self.kernel
            try:
                object.__setattr__(self, "kernel", before if kernel is None else kernel)
                widths = len(packed["dictionary"]["atoms"]), self._point_width(n_features)
                enlarge(packed, widths, (outputs, n_outputs))
                self._allocate(n_features, n_outputs, n_targets, packed)
            except BaseException:
                object.__setattr__(self, "kernel", before)
                raise
            self._n_features, self._n_outputs = n_features, n_outputs

    def begun_again(self) -> Self:
        """Return a learner with the same settings and shapes that has forgotten all samples.

        Examples
        --------
        >>> from colk.kernels import Gaussian
        >>> from colk.learners import COLK
        >>> learner = COLK(Gaussian(1.0)).learn([[0.0], [1.0]], [0.0, 1.0]).begun_again()
        >>> learner.steps, learner.predict([[0.5]])
        (0, array([0.]))
        """
        fresh = type(self)(**settings_of(self))
        fresh.empty_stream(self.n_features, self._state().pack())
        fresh._is_vector = self._is_vector
        return fresh

    def adopt(self, function: KernelExpansion) -> None:
        """Set iterate, average and memory to a function on the learner's own atoms.

        Examples
        --------
        >>> from colk.kernels import Gaussian
        >>> from colk.learners import COLK
        >>> learner = COLK(Gaussian(1.0)).learn([[0.0], [1.0]], [0.0, 1.0])
        >>> learner.adopt(2.0 * learner.function)
        """
        dictionary = self._state().dictionary
        weights = function.weights.reshape(function.n_atoms, function.n_outputs)
        with self._held():
            dictionary.set_weights(np.tile(weights, (1, dictionary.n_rows // weights.shape[1])))
            dictionary.clear_ghosts()

    def continue_from(self, other: "KernelLearner", g: ArrayLike, losses: ArrayLike) -> None:
        """Take over the atoms, the weights and the counts of a learner with another risk.

        Parameters
        ----------
        other : KernelLearner
            A learner that has seen a sample; its settings differ in the risk and the step only.
        g : array of shape (m,)
            The inner value of the risk of this learner.
        losses : array of shape (n,)
            Losses of the function that is taken over; a hedged learner compares new ones with them.

        Examples
        --------
        >>> from colk.kernels import Gaussian
        >>> from colk.learners import COLK
        >>> from colk.risks import Variance
        >>> mean = COLK(Gaussian(1.0)).learn([[0.0], [1.0]], [0.0, 1.0])
        >>> averse = COLK(Gaussian(1.0), risk=Variance(0.5))
        >>> averse.continue_from(mean, [0.25], [0.0, 0.5])
        >>> averse.steps, bool(averse.predict([[0.5]]) == mean.predict([[0.5]]))
        (2, True)
        """
        packed, function = other.stream.pack(), other.function
        window, dictionary = packed["window"], packed["dictionary"]
        for name in ("points", "targets", "weights"):  # no sample waits for its step
            window[name] = window[name][:0]
        stream = self.empty_stream(other.n_features, packed)
        self._start_inner(stream, packed, np.asarray(g, dtype=np.float64), np.asarray(losses))
        n_rows = stream.dictionary.n_rows
        dictionary["weights"] = np.zeros((n_rows, function.n_atoms))
        dictionary["ghosts"] = np.zeros((len(dictionary["atoms"]) + n_rows, 0))
        stream.unpack(packed)
        self._is_vector = other.is_vector
        self.adopt(function)

    def enlarge_from(self, other: "KernelLearner", function: KernelExpansion) -> None:
        """Take over the state of a learner, with a function on its atoms and on others.

        Parameters
        ----------
        other : KernelLearner
            A learner by gradient steps that has seen a sample; its settings differ in the
            compressor only.
        function : KernelExpansion
            The function. Its Gram matrix must not be singular.

        Examples
        --------
        >>> from colk.kernels import Gaussian
        >>> from colk.learners import COLK
        >>> small = COLK(Gaussian(1.0)).learn([[0.0], [1.0]], [0.0, 1.0])
        >>> large = COLK(Gaussian(1.0))
        >>> large.enlarge_from(small, KernelExpansion(Gaussian(1.0), [[0.0], [5.0]], [1.0, 2.0]))
        >>> large.steps, large.n_atoms, float(large.predict([[5.0]]).round(3)[0])
        (2, 2, 2.0)
        """
        packed = other.stream.pack()
        dictionary, n_atoms = packed["dictionary"], function.n_atoms
        stream = self.empty_stream(other.n_features, packed)
        n_rows = stream.dictionary.n_rows
        gram = function.kernel.of_atoms.gram(function.atoms)
        factor, _ = dtrtri(np.linalg.cholesky(gram), lower=True)
        dictionary.update(
            atoms=np.ascontiguousarray(function.atoms.T),
            weights=np.zeros((n_rows, n_atoms)),
            own=gram.diagonal().copy(),
            diagonal=np.einsum("ij,ij->j", factor, factor),
            factor=np.ascontiguousarray(factor),
            ghosts=np.zeros((function.atoms.shape[1] + n_rows, 0)),
        )
        stream.unpack(packed)
        self._is_vector = other.is_vector
        self.adopt(function)

    def _start_inner(self, stream: Any, packed: dict[str, Any], g: Array, losses: Array) -> None:
        """Write the inner value of the risk to a packed state of an empty stream."""
        packed["window"]["g"] = g

    @property
    def average_error(self) -> float:
        """Bound on the H-norm that compression has taken from the average of the iterates.

        It bounds ‖f̄ − ḡ‖, where ḡ averages the same iterates and is never compressed: e ← (1 −
        ρ)(e + the norm that a step removes), because the average forgets. It is 0 without
        averaging, and NaN unless the compressor projects, which only KOMP does.

        Examples
        --------
        >>> from colk.compressors import KOMP
        >>> from colk.kernels import Gaussian
        >>> from colk.learners import COLK
        >>> X = [[i / 10] for i in range(10)]
        >>> learner = COLK(Gaussian(0.3), compressor=KOMP(eps=0.01, max_atoms=3))
        >>> 0.0 < learner.learn(X, [1.0] * 10).average_error < 1.0
        True
        """
        if self.averaging is not None and not self.compressor.is_orthogonal:
            return float("nan")
        return float(getattr(self._stream, "average_error", 0.0))

    @property
    def eps_now(self) -> float:
        """H-norm of the error that compression may make in the next step."""
        rule: Any = self.compressor
        return float(rule.eps or 0.0) + float(rule.fraction or 0.0) * self.step_length

    @property
    def step_length(self) -> float:
        """RMS H-norm of the latest steps if the compressor needs it; else 0."""
        return float(np.sqrt(getattr(self._stream, "squared_move", 0.0)))


class COLK(KernelLearner):
    """Compositional online learning with kernels, the paper's Algorithm 1.

    COLK minimises E_θ[outer(ℓ(f(x_θ), y_θ), g)] + λ/2‖f‖² with g = E_ξ[inner(ℓ(f(x_ξ), y_ξ))] over
    a reproducing kernel Hilbert space. It makes one step of the two-time-scale stochastic
    quasi-gradient method for each pair of samples, and compresses f after each step.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    loss : Loss
        The loss ℓ, `Squared()` by default; it determines the type of the targets.
    risk : Risk
        The risk, which combines the losses by inner and outer; `Mean()` by default.
    step_size : float or PowerDecay
        α. Default: 0.1. With a constant step, f can follow a moving target, but fluctuates around
        the optimum at a distance of order √α, which averaging removes. Lower it if learning
        diverges.
    tracking_rate : float or PowerDecay
        β of the tracker of g, in (0, 1]. Default: 0.1. A lower rate gives a less noisy g that
        reacts more slowly.
    regularization : float
        λ. Default: 1e-6. Raise it if f fits the noise.
    compressor : Compressor
        The rule that keeps the expansion small. Default: `KOMP(eps=0.005)`. A larger eps keeps
        fewer atoms.
    tracker : Tracker or {"momentum", "average"}
        `Momentum()` (the default), the paper's eq. (track1), g ← (1 − β)(g − inner at f_{t−1}) +
        inner at f_t with f_{t−1} evaluated exactly at the new sample; or SCGD's `MovingAverage()`.
    pairing : {"independent", "overlap", "same"}
        Which samples are θ and ξ. "independent" (the default): two new samples per step, as in the
        paper. "overlap": ξ is the new sample and θ the one before it, which has a bias of order α.
        "same": one sample is both, which has a bias that does not vanish with α (docs/pairing.md).
        A risk without inner value (Mean) makes a step with every sample for any pairing.
    gradient_bound : float
        The bound of Assumption 5: the coefficients (c, c') of a pair are scaled back to this norm.
        Default: 10. With the default, the paper's settings work on unscaled targets.
    norm_bound : float
        Radius of the ball ‖f‖_H ≤ norm_bound, onto which f is projected. Default: no bound.
    averaging : PolyakRuppert, Exponential or None
        Average of the iterates that `predict` and `function` use; None for the last iterate.
        Default: `PolyakRuppert(growth=3.0)`.
    batch_size : int
        Number of pairs per step, 1 by default; their gradients are averaged.
    xi_per_theta : int
        Number of samples of ξ for each θ, 1 by default, with the pairing "independent"; their inner
        values and gradients are averaged. See `learn_pairs`.
    n_outputs : int, optional
        Number of outputs. Default: the number of columns of y, or that of a `Composition`. With
        `Softmax` it is required: the number of classes.
    trace : bool
        Whether to record every step, see `Trace`. Default: False.
    implicit : bool
        Whether to use the slopes of the loss at the predictions after the step. Default: False.
        Implicit steps do not overshoot for any scale of a convex loss. The outer slopes of the risk
        are those before the step.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.compressors import KOMP
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import COLK
    >>> from colk.losses import Huber
    >>> from colk.risks import Variance
    >>> X = np.random.default_rng(0).random((4000, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> learner = COLK(Gaussian(0.1), Huber(1.0), Variance(0.1), compressor=KOMP(eps=0.02))
    >>> error = np.abs(learner.learn(X, y).predict(X) - y).mean()
    >>> learner.n_atoms < 30, bool(error < 0.05)
    (True, True)
    """

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        risk: Risk | None = None,
        **settings: Unpack[RiskSettings],
    ) -> None:
        self._assign(settings, kernel=kernel, loss=loss, risk=risk)

    def _cure(self) -> str:
        return f"{super()._cure()}, or set norm_bound"


class POLK(COLK):
    """Functional stochastic gradient descent on the mean loss, compressed by KOMP.

    f~ = (1 − αλ)f − αℓ'(f(x), y)κ(x, ·), then KOMP. It is COLK with the risk `Mean`, with bitwise
    equal results. The parameters are as in `COLK`.

    References
    ----------
    Koppel, Warnell, Stump, Ribeiro, "Parsimonious online learning with kernels via sparse
    projections in function space", 2016. Its theory for constant steps takes ε of order α^(3/2),
    its experiments α²: choose with `KOMP(eps=…)` or `KOMP(parsimony=…)`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import POLK
    >>> X = np.linspace(0.0, 1.0, 500)[:, None]
    >>> POLK(Gaussian(0.2)).learn(X, np.sin(6 * X[:, 0])).n_atoms < 20
    True
    """

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        **settings: Unpack[GradientSettings],
    ) -> None:
        self._assign(settings, kernel=kernel, loss=loss)
