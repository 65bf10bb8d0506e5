"""NewtonCOLK: slopes divided by the accumulated curvature; one pass replaces several."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from colk._engine.dictionary import Dictionary
from colk._engine.expert_mixture import count_experts
from colk._engine.gradient_step import GradientStream
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
from colk.learners.parameters import PairedNewtonSettings
from colk.losses import Loss
from colk.losses.scale import loss_scale
from colk.risks import Risk
from colk.schedules import as_decay

__all__ = ["NewtonCOLK"]

# First λ of prior="auto", in units of the loss and of the kernel.
_MIDDLE_PRIOR = 0.3


class NewtonCOLK(KernelLearner):
    """COLK with curvature: recursive Newton steps in the span of the atoms, compressed by KOMP.

    NewtonCOLK minimises the sum over the samples of outer(ℓ, g), plus λ/2‖f‖², in one pass. In the
    coordinates z = Uᵀκ(D, x), which are orthonormal in H, P is the inverse of the accumulated
    curvature λI + Σ b zzᵀ. A sample of slope a (the coefficient of COLK's quasi-gradient) and
    curvature b moves f by θ ← θ − P⁺ a z. The curvature of a loss is that of the parabola around
    its target with the same slope; for the logistic loss and softmax it is the second derivative.
    The curvature of a risk is Gauss–Newton in its outer function. For the squared loss and the mean
    this is recursive least squares and, without compression, kernel ridge regression.

    The H-norm of the difference from the step in the span of the atoms and the new samples is at
    most eps, as in `COLK`. A step takes O(M²) time and memory for M atoms.

    Parameters
    ----------
    kernel, loss, risk, tracking_rate, tracker, pairing, n_outputs, trace
        As in `COLK`. The default of `tracking_rate` is 0.01.
    prior : float or "auto"
        λ, the precision of each direction of H before the first sample. Default: 0.3. It counts
        like λ samples of curvature 1. Unlike `regularization`, it does not grow with the number of
        samples.

        "auto" starts with 0.3 in units of the loss and of κ(x, x). After 200 steps, and each time
        the number of steps has doubled, it compares λ from a tenth to ten times that value by their
        losses on the following samples, and takes the best; a smaller λ than the first must be
        clearly better. f and P then change to those for this λ from the first sample on, which
        takes O(M³) time and is not counted as a compression error. If `max_atoms` forces an atom
        out, f is refitted to all samples so far, not projected. Use it for relationships that do
        not change over time. It cannot be combined with forgetting="auto".
    forgetting : float or "auto"
        γ, in (0, 1]. Default: 1, nothing is forgotten. Below 1, a sample increases the variance at
        x by the factor 1/γ, and nowhere else, so regions without samples are not forgotten. About
        1/(1 − γ) samples per region are remembered. A sample with less than the mean curvature
        causes proportionally less forgetting.

        "auto" is for streams that change at an unknown rate. It combines three experts on the same
        atoms: the first makes these steps, the second makes them as if P were four times as large,
        and the third makes first-order steps of size 1 in units of the loss. f is their mean, with
        weights that decrease exponentially with their losses (fixed share, see References). γ is 1
        − 0.3 × the weight of the second expert − 0.15 × the weight of the third. Let losses be
        divided by ten mean losses and clipped at 1. Over any n consecutive steps, the weighted sum
        of the experts' losses is then at most that of the best expert + n(η/8 + σ/η) + ln(3/s)/η,
        with η = 0.5, s = 0.001 and σ = −ln(1 − s), which is 0.065n + 16. For convex losses this
        bound holds for f as long as no loss exceeds ten mean losses.
    compressor : KOMP
        The rule that keeps the expansion small, `KOMP(eps=0.05)` by default.
    trust : float
        A sample moves its own prediction by at most this many times 1 + the largest |target|.
        Default: 10. Lower it if learning diverges.
    restart : bool
        Whether to reset P, but not f, if the drift detector (see `watch_drift`), which is then
        always on, raises an alarm. Default: False. Without a restart, a model of many samples
        adapts slowly to a new relationship, and a robust loss may treat the new samples as
        outliers.
    batch_size : int
        Number of pairs per step. Default: 1. All slopes are those at the same f, and the mean of
        their objectives is one term of the sum.

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

    newton_type: ClassVar[type[NewtonStream]] = NewtonStream
    _defaults: ClassVar[dict[str, Any]] = {"tracking_rate": 0.01}
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
        **settings: Unpack[PairedNewtonSettings],
    ) -> None:
        self._assign(settings, kernel=kernel, loss=loss, risk=risk)

    def _assign(self, given: Mapping[str, Any], **terms: Any) -> None:
        rule = given.get("compressor")
        super()._assign({**given, "compressor": KOMP(eps=0.05) if rule is None else rule}, **terms)

    def _check(self) -> None:
        super()._check()
        if self.stream_type is not GradientStream:
            raise TypeError("stream_type has no effect on NewtonCOLK: derive from COLK instead")
        if type(self.compressor) is not KOMP or self.compressor.parsimony is not None:
            raise ValueError(
                "NewtonCOLK needs KOMP with eps, fraction or max_atoms: it has no step size, which "
                f"parsimony needs, and no other compressor updates P; got {self.compressor}"
            )

        if self.prior == self.forgetting == "auto":
            raise ValueError(
                "prior='auto' and forgetting='auto' exclude each other, because the search for a "
                "prior assumes a stationary stream; give a number for one of them"
            )

    def _cure(self) -> str:
        return f"raise prior (now {self.current_prior:g}) or lower trust (now {self.trust:g})"

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[False] = False) -> Array: ...
    @overload
    def predict(self, X: ArrayLike, return_std: Literal[True]) -> tuple[Array, Array]: ...

    def predict(self, X: ArrayLike, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Return values of the learned function; with `return_std` also standard deviations.

        The standard deviation is that of a new target, in the shape of the values. It combines the
        uncertainty of f, from the accumulated curvature at x, and the noise, from the residuals of
        about the latest 1000 samples. For regression losses.

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
        if not return_std:
            return super().predict(X)
        if self.loss.kind != "regression" or self.loss.couples_outputs:
            raise ValueError(
                "return_std needs a regression loss with one residual per output, got "
                f"{type(self.loss).__name__}"
            )
        state: Any = self._state()
        with state.lock:
            values = super().predict(X)
            of_f, noise = state.variances(self._shown(check_points(X, self.n_features)))
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
    def _acts_on_drift(self) -> bool:  # type: ignore[override]
        return self.restart

    @property
    def restarts(self) -> int:
        """Number of restarts of P after abrupt changes."""
        state: Any = self._stream
        return 0 if state is None else int(state.restarts)

    @property
    def experts(self) -> dict[str, float]:
        """Weights of the experts with forgetting="auto", after the first sample; else empty."""
        state: Any = self._stream
        if self.forgetting != "auto" or state is None:
            return {}
        with state.lock:
            weights = [float(weight) for weight in state.experts.mixture_weights]
        return dict(zip(("second", "fast", "first"), weights, strict=True))

    @property
    def covariance(self) -> Array:
        """P, of shape (M, M), in the coordinates z = L⁻¹κ(D, x).

        K = LLᵀ is the Gram matrix of the atoms. The coordinates are orthonormal in H.
        """
        state: Any = self._state()
        return np.asarray(state.snapshot_inverse_curvature())

    def _make_stream(self, width: int, shape: dict[str, int], **common: Any) -> QuasiGradientStream:
        q, prior, forgetting = shape["n_priced"], self.prior, self.forgetting
        block, more, first_step = block_for(shape["block"]), 0, None
        if prior == "auto":
            more = count_priors() * q
            metric = self.kernel.metric
            n_features = width if metric is None else len(metric)
            scale = KernelScale.standard(self.kernel, n_features).mean
            prior = _MIDDLE_PRIOR * loss_scale(self.loss) * scale
        if forgetting == "auto":
            more, forgetting = count_experts() * q, 1.0
            first_step = 1.0 / loss_scale(self.loss)
        rows = {name: shape[name] + more for name in ("n_rows", "n_fitted")}
        shape |= {"block": block, **rows}
        rule = self.compressor
        assert isinstance(rule, KOMP)
        return self.newton_type(
            P=InverseCurvature(prior, forgetting),
            trust=self.trust,
            restart=bool(self.restart),
            eps_bound=rule.bound,
            eps_share=rule.part,
            most_atoms=rule.at_most,
            searches_prior=self.prior == "auto",
            first_step=first_step,
            compressor=rule,
            dictionary=Dictionary(self.kernel.of_atoms, width, has_factor=True, **shape),
            gained=block,
            **common,
        )
