"""NewtonCOLK: slopes divided by the curvature of what was seen, one pass in place of several."""

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from colk._engine.dictionary import Dictionary
from colk._engine.expert_mixture import count_experts
from colk._engine.inverse_curvature import InverseCurvature
from colk._engine.lookahead import block_for
from colk._engine.newton_step import NewtonStream
from colk._engine.prior_search import count_priors
from colk._engine.quasigradient import QuasiGradientStream
from colk._validation import Array, check_points
from colk.compressors import KOMP
from colk.kernels import Kernel
from colk.kernels.scale import KernelScale
from colk.learners.colk import KernelLearner
from colk.losses import Loss
from colk.losses.scale import loss_scale
from colk.risks import Risk
from colk.schedules import Pairing, Rate, as_decay
from colk.trackers import Momentum, Tracker

__all__ = ["NewtonCOLK"]

# Of prior="auto": λ to begin with, in units of the loss and of the kernel.
_MIDDLE_PRIOR = 0.3


class NewtonCOLK(KernelLearner):
    """COLK with curvature: recursive Newton steps in the span of the atoms, compressed by KOMP.

    Minimises the sum over the samples of outer(ℓ, g), plus λ/2‖f‖², as one pass can. In the
    coordinates z = Uᵀκ(D, x), orthonormal in H, P is the inverse of the curvature λI + Σ b zzᵀ so
    far; a sample of slope a (the coefficient of COLK's quasi-gradient) and curvature b moves f by
    θ ← θ − P⁺ a z. The curvature of a loss is that of the parabola about its target with the same
    slope, of the logistic loss and of softmax the second derivative; of a risk, Gauss–Newton in its
    outer function. For the squared loss and the mean that is recursive least squares and, where
    nothing is compressed, kernel ridge regression.

    The H-norm of what a step loses against the step in the span of the atoms and its samples is at
    most eps, as in `COLK`; a step is O(M²) for M atoms, in time and in memory.

    Parameters
    ----------
    kernel, loss, risk, tracking_rate, tracker, pairing, n_outputs, trace
        As in `COLK`.
    prior : float or "auto"
        λ, the precision of every direction of H before the first sample: how many samples, of
        curvature 1, it counts for. Unlike `regularization`, it does not grow with the samples.

        "auto" begins with 0.3 in units of the loss and of κ(x, x). After 200 steps, and each time
        that they have doubled since, it looks at what a tenth to ten times that would have made of
        f, by the losses of the steps to come, and then takes the best, less than it began with
        only where that is clearly better: f and P become what they were with this λ from the
        first sample on. That is no compression, and costs O(M³) each time. Where `max_atoms` makes
        an atom leave, f becomes the best that the samples so far make of the others, not the
        nearest. For streams that stand still; not with forgetting="auto".
    forgetting : float or "auto"
        γ, in (0, 1]. Below 1 a sample lets the variance at x grow by 1/γ, and nowhere else: what
        is not visited is not forgotten. Some 1/(1 − γ) samples of a place are remembered. A sample
        of less curvature than usual lets as much less be forgotten.

        "auto" is for streams of which it is not known how fast they change. It has three experts on
        the same atoms: one makes these steps, one makes them as if P were four times as large, one
        first-order steps of 1 in units of the loss. f is their mean by weights that fall with the
        exponentials of their losses (fixed share, see References); γ is 1 less 0.3 of the weight
        of the second and 0.15 of that of the last. In units of ten mean losses, up to which a loss
        counts, the losses of the experts by their weights sum up over any n steps in a row to at
        most those of the best expert + n(η/8 + σ/η) + ln(3/s)/η, with η = 0.5, s = 0.001 and
        σ = −ln(1 − s): 0.065n + 16. For convex losses f loses no more than that while no loss is
        above ten mean ones.
    compressor : KOMP
        What a step may forget, `KOMP(eps=0.05)` by default.
    trust : float
        A sample moves its own prediction by at most this many times 1 + the largest |target|.
    restart : bool
        Whether P starts anew after an abrupt change, f staying as it is: where most losses are
        suddenly in what used to be their upper tenth. Without it what was learned from many
        samples yields as slowly to a new truth, and a robust loss may take it for outliers.
    batch_size : int
        Pairs a step: all slopes are those at the same f. The mean of their objectives is one term
        of the sum.

    References
    ----------
    Herbster, Warmuth, "Tracking the best expert", Machine Learning, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import NewtonCOLK
    >>> X = np.random.default_rng(0).random((500, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> learner = NewtonCOLK(Gaussian(0.2)).learn(X, y)
    >>> learner.n_atoms < 20, bool(np.abs(learner.predict(X) - y).max() < 0.1)
    (True, True)
    """

    step_size = as_decay(1.0, "step_size")
    regularization = 0.0
    gradient_bound = np.inf
    averaging = None
    prior: float | Literal["auto"]
    forgetting: float | Literal["auto"]
    trust: float
    restart: bool

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        risk: Risk | None = None,
        prior: float | Literal["auto"] = 0.3,
        forgetting: float | Literal["auto"] = 1.0,
        tracking_rate: Rate = 0.01,
        compressor: KOMP | None = None,
        tracker: Tracker | str = Momentum(),  # noqa: B008, it is frozen
        pairing: Pairing = "independent",
        trust: float = 10.0,
        restart: bool = False,
        batch_size: int = 1,
        n_outputs: int | None = None,
        trace: bool = False,
    ) -> None:
        self._assign(
            kernel=kernel,
            loss=loss,
            risk=risk,
            prior=prior,
            forgetting=forgetting,
            tracking_rate=tracking_rate,
            compressor=KOMP(eps=0.05) if compressor is None else compressor,
            tracker=tracker,
            pairing=pairing,
            trust=trust,
            restart=restart,
            batch_size=batch_size,
            n_outputs=n_outputs,
            trace=trace,
        )

    def _check(self) -> None:
        super()._check()
        if type(self.compressor) is not KOMP or self.compressor.parsimony is not None:
            raise ValueError(
                "NewtonCOLK needs KOMP with eps, fraction or max_atoms: it has no step size that "
                f"parsimony could refer to, and P follows no other rule; got {self.compressor}"
            )

        if self.prior == self.forgetting == "auto":
            raise ValueError(
                "prior='auto' and forgetting='auto' exclude each other: the first compares what "
                "is remembered, the second keeps changing that; give either as a number"
            )

    def _cure(self) -> str:
        return f"raise prior (now {self.current_prior:g}) or lower trust (now {self.trust:g})"

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[False] = False) -> Array: ...
    @overload
    def predict(self, X: ArrayLike, return_std: Literal[True]) -> tuple[Array, Array]: ...

    def predict(self, X: ArrayLike, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Values of the learned function; with `return_std` also how far a target may be from them.

        The standard deviation is that of a new target, of the shape of the values: what is not
        known of f, from the curvature that was seen at x, and the noise, as wide as the residuals
        of the latest 1000 samples or so. For regression losses.

        Examples
        --------
        >>> import numpy as np
        >>> from colk.kernels import Gaussian
        >>> from colk.learners import NewtonCOLK
        >>> rng = np.random.default_rng(0)
        >>> X = rng.random((3000, 1))
        >>> y = np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=3000)
        >>> learner = NewtonCOLK(Gaussian(0.2)).learn(X, y)
        >>> learner.predict([[0.5], [3.0]], return_std=True)[1].round(1)
        array([0.1, 0.3])
        """
        values = super().predict(X)
        if not return_std:
            return values
        if self.loss.kind != "regression" or self.loss.couples_outputs:
            raise ValueError(
                f"return_std needs a loss of one residual an output, not {type(self.loss).__name__}"
            )
        state: Any = self._state()
        of_f, noise = state.variances(check_points(X, self.n_features))
        deviations = np.sqrt(of_f[:, None] + noise)
        return values, deviations[:, 0] if self._is_vector else deviations

    @property
    def current_prior(self) -> float:
        """λ in use; with prior="auto" it is known from the first sample on."""
        if self.prior != "auto":
            return self.prior
        state: Any = self._state()
        return float(state.P.prior)

    @property
    def restarts(self) -> int:
        """How often an abrupt change let P start anew."""
        state: Any = self._stream
        return 0 if state is None else int(state.restarts)

    @property
    def experts(self) -> dict[str, float]:
        """With forgetting="auto" the weights of the experts, after a sample; else none."""
        state: Any = self._stream
        if self.forgetting != "auto" or state is None:
            return {}
        weights = map(float, state.experts.mixture_weights)
        return dict(zip(("second", "fast", "first"), weights, strict=True))

    @property
    def covariance(self) -> Array:
        """P, of shape (M, M), in the coordinates that the Cholesky factor of K makes orthonormal.

        z = L⁻¹κ(D, x) where K = LLᵀ is the Gram matrix of the atoms.
        """
        state: Any = self._state()
        return np.asarray(state.snapshot_inverse_curvature())

    def _make_stream(self, width: int, shape: dict[str, int], **common: Any) -> QuasiGradientStream:
        q, prior, forgetting = shape["n_priced"], self.prior, self.forgetting
        block, more, first_step = block_for(shape["block"]), 0, None
        if prior == "auto":
            more = count_priors() * q
            scale = KernelScale.standard(self.kernel, width).mean
            prior = _MIDDLE_PRIOR * loss_scale(self.loss) * scale
        if forgetting == "auto":
            more, forgetting = count_experts() * q, 1.0
            first_step = 1.0 / loss_scale(self.loss)
        shape |= {"block": block, "n_rows": shape["n_rows"] + more, "n_fitted": q + more}
        rule = self.compressor
        assert isinstance(rule, KOMP)
        return NewtonStream(
            P=InverseCurvature(prior, forgetting),
            trust=self.trust,
            restart=bool(self.restart),
            eps_bound=rule.bound,
            eps_share=rule.part,
            most_atoms=rule.at_most,
            searches_prior=self.prior == "auto",
            first_step=first_step,
            compressor=rule,
            dictionary=Dictionary(self.kernel, width, has_factor=True, **shape),
            gained=block,
            **common,
        )
