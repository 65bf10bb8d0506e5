"""Methods with a budget of atoms: NORMA, BSGD on the mean or on any risk, NPBSGD."""

import math
from typing import Any, ClassVar, Literal, Unpack

from colk._engine.dictionary import Dictionary
from colk._engine.quasigradient import QuasiGradientStream
from colk.compressors import COMPRESSORS, Budget, Growing, Truncation
from colk.kernels import Kernel
from colk.learners.colk import KernelLearner
from colk.learners.parameters import (
    BudgetSettings,
    DescentSettings,
    PairedBudgetSettings,
    StepSettings,
)
from colk.learners.parametric import TubeStream
from colk.losses import EpsilonInsensitive, Loss
from colk.losses.regression import AdaptiveTube
from colk.risks import Risk
from colk.schedules import PowerDecay, Rate

__all__ = ["BSGD", "NORMA", "NPBSGD", "CompositionalBSGD"]

Maintenance = Literal["removal", "projection", "merging"]


def _pegasos(step_size: Rate | str, regularization: float) -> Rate:
    """Return the schedule; "pegasos" is 1/(λt), t = 1, 2, …."""
    if not isinstance(step_size, str):
        return step_size
    if step_size != "pegasos":
        raise ValueError(f"step_size must be a rate or 'pegasos', got {step_size!r}")
    if regularization == 0.0:
        raise ValueError("step_size='pegasos' is 1/(regularization·t); set regularization > 0")
    return PowerDecay(1.0 / regularization, power=1.0, scale=1.0)


def _rule(maintenance: str, max_atoms: int | None, *without: str) -> Budget:
    """Return the named rule of `COMPRESSORS` for `max_atoms` atoms, unless it is excluded."""
    known = [name for name in COMPRESSORS if name not in without]
    if maintenance not in known:
        raise ValueError(f"maintenance must be one of {known}, got {maintenance!r}")
    return COMPRESSORS[maintenance](max_atoms)


class NORMA(KernelLearner):
    """Kernel stochastic gradient descent with forgetting and truncation.

    f ← (1 − αλ)f − αℓ'(f(x), y)κ(x, ·); if there are more than `max_atoms` atoms, the oldest is
    dropped. Its weight has shrunk by (1 − αλ)^max_atoms by then, so λ and `max_atoms` together
    determine the error.

    Parameters
    ----------
    max_atoms : int or None
        Largest number of atoms; None for no bound. Default: 500.
    nu : float, optional
        For `EpsilonInsensitive`: adapt the width ε of its tube, so that a share ν of the samples
        lies outside. ε ← ε + α(1 − ν) for a sample outside, ε − αν inside. The loss sets the first
        ε.
    kernel, loss, step_size, regularization, gradient_bound, averaging, n_outputs, trace
        As in `COLK`, but by default λ is 0.01 and there is no averaging.

    References
    ----------
    Kivinen, Smola, Williamson, "Online learning with kernels", IEEE Transactions on Signal
    Processing 52, 2004; see its section on regression for ν.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import NORMA
    >>> from colk.losses import EpsilonInsensitive
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((2000, 1))
    >>> y = np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=2000)
    >>> learner = NORMA(Gaussian(0.2), EpsilonInsensitive(0.1), 200, step_size=0.05, nu=0.2)
    >>> learner.learn(X, y).n_atoms, 0.25 < learner.tube < 0.55
    (200, True)
    """

    _defaults: ClassVar[dict[str, Any]] = {"regularization": 0.01, "averaging": None}
    max_atoms: int | None
    nu: float | None

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        max_atoms: int | None = 500,
        *,
        nu: float | None = None,
        **settings: Unpack[StepSettings],
    ) -> None:
        rule = Truncation(max_atoms)
        self._assign(
            settings, kernel=kernel, loss=loss, max_atoms=max_atoms, nu=nu, compressor=rule
        )
        if nu is not None and not isinstance(self.loss, EpsilonInsensitive):
            raise TypeError(
                f"nu adapts the tube of EpsilonInsensitive; {type(self.loss).__name__} has none"
            )
        self._tube = self.loss.tube if isinstance(self.loss, EpsilonInsensitive) else 0.0

    def _make_stream(self, width: int, shape: dict[str, int], **common: Any) -> QuasiGradientStream:
        if self.nu is None:
            return super()._make_stream(width, shape, **common)
        return TubeStream(
            tube=AdaptiveTube(self._tube, self.nu),
            compressor=self.compressor,
            norm_bound=math.inf,
            implicit=False,
            dictionary=Dictionary(self.kernel.of_atoms, width, has_factor=False, **shape),
            gained=shape["block"],
            **common,
        )

    @property
    def tube(self) -> float:
        """The half width ε of the tube that `nu` adapts."""
        if self.nu is None or self._stream is None:
            return self._tube
        stream: Any = self._stream
        return float(stream.tube.tube)

    def get_state(self) -> dict[str, Any]:
        """Return the state of `StreamLearner`, and the width of the tube."""
        with self._held():
            return {**super().get_state(), "tube": self.tube}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state that `get_state` of a learner with the same settings returned."""
        self._tube = state["tube"]
        super().set_state(state)

    def __getstate__(self) -> dict[str, Any]:
        with self._held():
            return {**super().__getstate__(), "_tube": self.tube}


class CompositionalBSGD(KernelLearner):
    """COLK's step with BSGD's maintenance: any risk on a fixed budget of atoms.

    f~ = (1 − αλ)f − α c κ(x_θ, ·) − α c' κ(x_ξ, ·) as in `COLK`; then maintenance, while there are
    more atoms than the budget. A sample that equals an atom adds to its weight. A step takes O(B)
    with removal and merging, O(B²) with projection. Removal also removes the atom from the average.

    Parameters
    ----------
    max_atoms : int or None
        B, the largest number of atoms; None for no bound. Default: 100.
    maintenance : {"removal", "projection", "merging"}
        How to reduce the atoms by one, see `Removal`, `Projection` and `Merging` in
        `colk.compressors`. Default: "merging", which needs a radial kernel.
    step_size : float, PowerDecay or "pegasos"
        α; "pegasos" for 1/(λt). Default: 0.1.
    kernel, loss, risk, tracking_rate, regularization, tracker, pairing, gradient_bound, averaging
        As in `COLK`, also batch_size, n_outputs and trace. By default there is no averaging.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import CompositionalBSGD
    >>> from colk.risks import Variance
    >>> X = np.random.default_rng(0).random((4000, 1))
    >>> y = np.sin(6 * X[:, 0])
    >>> learner = CompositionalBSGD(Gaussian(0.1), risk=Variance(0.1), max_atoms=20).learn(X, y)
    >>> learner.n_atoms, bool(np.abs(learner.predict(X) - y).mean() < 0.05)
    (20, True)
    """

    _defaults: ClassVar[dict[str, Any]] = {"averaging": None}
    max_atoms: int | None
    maintenance: Maintenance

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        risk: Risk | None = None,
        max_atoms: int | None = 100,
        maintenance: Maintenance = "merging",
        step_size: Rate | Literal["pegasos"] = 0.1,
        regularization: float = 1e-6,
        **settings: Unpack[PairedBudgetSettings],
    ) -> None:
        self._assign(
            settings,
            kernel=kernel,
            loss=loss,
            risk=risk,
            max_atoms=max_atoms,
            maintenance=maintenance,
            compressor=_rule(maintenance, max_atoms, "truncation"),
            step_size=_pegasos(step_size, regularization),
            regularization=regularization,
        )


class BSGD(CompositionalBSGD):
    """Budgeted stochastic gradient descent on the mean loss.

    f ← (1 − α_t λ)f − α_t ℓ'(f(x), y)κ(x, ·); if there is one atom more than the budget, a step of
    maintenance follows. The parameters are as in `CompositionalBSGD`.

    References
    ----------
    Wang, Crammer, Vucetic, "Breaking the curse of kernelization: budgeted stochastic gradient
    descent for large-scale SVM training", JMLR 13, 2012. Its projection drops the atom with the
    least weight; here it is the atom that costs least to drop.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import BSGD
    >>> from colk.losses import Hinge
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = np.where((X**2).sum(axis=1) < 1.4, 1.0, -1.0)
    >>> learner = BSGD(Gaussian(0.7), Hinge(), 50, step_size="pegasos", regularization=1e-3)
    >>> learner.learn(X, y).n_atoms, bool((learner.predict(X) * y > 0).mean() > 0.95)
    (50, True)
    """

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        max_atoms: int | None = 100,
        maintenance: Maintenance = "merging",
        step_size: Rate | Literal["pegasos"] = 0.1,
        regularization: float = 1e-6,
        **settings: Unpack[BudgetSettings],
    ) -> None:
        self._assign(
            settings,
            kernel=kernel,
            loss=loss,
            max_atoms=max_atoms,
            maintenance=maintenance,
            compressor=_rule(maintenance, max_atoms, "truncation"),
            step_size=_pegasos(step_size, regularization),
            regularization=regularization,
        )


class NPBSGD(KernelLearner):
    """BSGD with a budget that grows at random.

    With the steps α_t = 1/(λt), f ← (1 − 1/t)f − α_t ℓ'(f(x), y)κ(x, ·). If there are then more
    than B atoms, maintenance follows with probability min(1, βN/t); otherwise B ← B + 1.

    Parameters
    ----------
    max_atoms : int or None
        The first budget B; None for no bound. Default: 100.
    growth, horizon, seed : float, int, int
        β, N and the seed of the random draws, as in `colk.compressors.Growing`, with its defaults.
    maintenance : {"removal", "projection"}
        As in `BSGD`. Default: "removal".
    step_size : "pegasos", float or PowerDecay
        α. Default: "pegasos", the method's own 1/(λt).
    kernel, loss, regularization, gradient_bound, averaging, n_outputs, trace
        As in `COLK`, but by default λ is 1e-3 and there is no averaging.

    References
    ----------
    Le, Nguyen, Nguyen, Phung, "Nonparametric budgeted stochastic gradient descent", AISTATS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import NPBSGD
    >>> X = np.random.default_rng(0).random((2000, 1))
    >>> learner = NPBSGD(Gaussian(0.1), max_atoms=50, growth=0.5, horizon=2000)
    >>> 50 < learner.learn(X, np.sin(6 * X[:, 0])).n_atoms < 1000
    True
    """

    _defaults: ClassVar[dict[str, Any]] = {"averaging": None}
    max_atoms: int | None
    maintenance: Literal["removal", "projection"]
    growth: float
    horizon: int
    seed: int

    def __init__(
        self,
        kernel: Kernel,
        loss: Loss | None = None,
        max_atoms: int | None = 100,
        growth: float = 1.0,
        horizon: int = 10_000,
        maintenance: Literal["removal", "projection"] = "removal",
        step_size: Rate | Literal["pegasos"] = "pegasos",
        regularization: float = 1e-3,
        seed: int = 0,
        **settings: Unpack[DescentSettings],
    ) -> None:
        rule = _rule(maintenance, max_atoms, "merging", "truncation")
        self._assign(
            settings,
            kernel=kernel,
            loss=loss,
            max_atoms=max_atoms,
            growth=growth,
            horizon=horizon,
            maintenance=maintenance,
            step_size=_pegasos(step_size, regularization),
            regularization=regularization,
            seed=seed,
            compressor=Growing(rule, growth, horizon, seed),
        )
