"""Online kernel regression for River."""

from typing import Any, Literal

import numpy as np
from river import base

from colk import _stored as stored
from colk._engine.locks import locked
from colk._engine.running_scale import RunningScale
from colk.errors import FileFormatError
from colk.kernels import Kernel
from colk.losses import Loss
from colk.model import RIVER_REGRESSOR, RiverSolver, regression_loss
from colk.risks import Risk
from colk.river.features import Features
from colk.river.numbers import NumberModel
from colk.river.stored import FIELDS
from colk.schedules import Averaging, Pairing, Rate

__all__ = ["COLKRegressor"]


@stored.stores(FIELDS, scale=stored.Object(RunningScale))
class COLKRegressor(NumberModel, base.MiniBatchRegressor):
    """Online kernel regression in bounded memory, under a risk of your choice.

    Put `preprocessing.StandardScaler` before it. Targets are scaled inside by their running mean
    and standard deviation, which ignore outliers.

    Features may appear, vanish, and be None or NaN at any time. A feature gets a column when it
    first has a value. If it is None or NaN, it is filled with its expected value given the other
    features, and another column marks the gap; in the first 500 samples it is filled with its mean
    so far. A feature that is absent counts as missing if at least half of the samples had it, after
    100 and up to the first 500 of them; otherwise it counts as 0. River's scalers do not take None,
    and a NaN spoils them, so put `drop_missing` before them. A text is a category: each of the
    first 200 texts gets a column, which is 1 or 0. River's scalers take only numbers, so scale
    these and add the texts: `(select_type(int, float) | scaler) + select_type(str)`.

    `drift_detected` tells whether the last sample caused an alarm of `colk.learners.DriftDetector`.
    `drifts` lists all alarms with time, severity and features.

    The parameters below are in four groups. Model: `kernel`, `bandwidth`. Objective: `loss` to
    `regularization`. Optimiser: `solver` to `forgetting`. Size: `eps` and `max_atoms`. The formulas
    of the defaults are those of `colk.COLKRegressor`, for features of variance 1; s is the scale of
    the loss and κ the scale of the kernel, as defined there.

    Parameters
    ----------
    kernel : Kernel or str, default="auto"
        The kernel, or its name. With "auto" the first 500 samples choose the kernel, its bandwidth
        and a scale for each feature. Until then the model uses the Laplacian; if another kernel
        wins, it learns the 500 samples again. If the stream changes, the latest 500 samples choose
        again. Whenever the choice may be wrong, a second learner with another kernel learns beside
        the model, and takes over if its predictions are better. `race` is the last comparison. Name
        a kernel to save this time.
    bandwidth : "auto", "scale" or float, default="scale"
        Bandwidth of a kernel that is given by name. "scale" is √(p/2) for the p features of the
        first sample, and p/2 for the Laplacian. "auto" lets the first 500 samples choose it.
    loss : Loss or str, default="huber"
        The loss of one prediction. Thresholds are in units of the targets' standard deviation. Use
        "squared" to estimate the mean, "pinball" for a quantile.
    risk : Risk or str, default="mean"
        How the losses are combined, as in `colk.COLKRegressor`. Change it if large losses matter
        more than small ones.
    regularization : float or None, default=None
        λ of the penalty λ‖f‖²/2 of gradient steps. None: 1e-6 s. Raise it if the model overfits.
    solver : {"auto", "gradient", "newton"}, default="auto"
        "newton" divides gradients by the curvature of the samples so far. It is more accurate on
        most streams, and takes two to three times the time per sample. "auto" is "newton" for the
        risk "mean", and "gradient" for other risks. If you set `step_size`, `averaging`,
        `gradient_bound` or `regularization`, which only gradient steps use, "auto" is "gradient";
        if you set `prior` or `forgetting`, it is "newton". Set "gradient" for speed.
    step_size : float, PowerDecay or None, default=None
        Step size α of gradient steps. None: 1/(s κ), half of that in `COLKClassifier`, and 0.2 ×
        that for the function under the risk "cvar". Lower it if targets are noisy.
    averaging : bool, PolyakRuppert or Exponential, default=False
        Whether to predict with an average of the iterates. The last iterate follows a changing
        relationship better; set True if it does not change. For `solver="gradient"`.
    gradient_bound, tracking_rate, hedged, pairing
        As in `colk.COLKRegressor`. Defaults: None, 0.1, True and "overlap".
    prior : float, "auto" or None, default=None
        λ of Newton steps, as in `colk.COLKRegressor`. Use "auto" if the relationship does not
        change.
    forgetting : float, "auto" or None, default=None
        How fast Newton steps forget, as in `colk.COLKRegressor`. None: "auto", or 1 if `prior` is
        "auto". Set 1 if the relationship does not change.
    eps : float or None, default=None
        H-norm of the error that compression may make in a step, as in `colk.COLKRegressor`.
    max_atoms : int or None, default=200
        Largest number of atoms. None: no limit. A step takes O(max_atoms²) time. Raise it for
        accuracy, lower it for speed.

    Examples
    --------
    >>> from colk.river import COLKRegressor
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> model = preprocessing.StandardScaler() | COLKRegressor()
    >>> metric = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> bool(metric.get() < 0.5)
    True
    """

    _defaults = RIVER_REGRESSOR

    def __init__(
        self,
        kernel: Kernel | str = "auto",
        bandwidth: str | float = "scale",
        loss: Loss | str = "huber",
        risk: Risk | str = "mean",
        regularization: float | None = None,
        solver: RiverSolver = "auto",
        step_size: Rate | None = None,
        averaging: Averaging | bool = False,
        gradient_bound: float | None = None,
        tracking_rate: Rate = 0.1,
        hedged: bool = True,
        pairing: Pairing = "overlap",
        prior: float | Literal["auto"] | None = None,
        forgetting: float | Literal["auto"] | None = None,
        eps: float | None = None,
        max_atoms: int | None = 200,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.loss = loss
        self.risk = risk
        self.regularization = regularization
        self.solver = solver
        self.step_size = step_size
        self.averaging = averaging
        self.gradient_bound = gradient_bound
        self.tracking_rate = tracking_rate
        self.hedged = hedged
        self.pairing = pairing
        self.prior = prior
        self.forgetting = forgetting
        self.eps = eps
        self.max_atoms = max_atoms
        self._scale = RunningScale()
        self._reset()

    def _to_file(self) -> dict[str, Any]:
        return {**super()._to_file(), "scale": self._scale}

    def _set_learned(self, values: dict[str, Any]) -> None:
        learner = self._learner
        if learner is not None and learner.n_outputs != 1:
            raise FileFormatError(f"a regressor has a learner of {learner.n_outputs} outputs")
        if values["scale"].n_columns != 1:
            raise FileFormatError("the scale of the targets must have one column")
        self._scale = values["scale"]

    def _loss(self) -> Loss:
        return regression_loss(self.loss)

    @property
    def target_scale(self) -> float:
        """Standard deviation of the targets so far, by which they are divided."""
        return float(self._scale.units[0])

    @property
    def target_mean(self) -> float:
        """Mean of the targets seen so far."""
        return float(self._scale.means[0])

    def predict_one(self, x: Features) -> float:
        """Return the prediction for one sample; 0 before the first sample.

        Parameters
        ----------
        x : dict
            Features; features that were never seen are ignored.
        """
        with self._own_lock:
            scores = self._scores(x)
            return 0.0 if scores is None else self._scale.unscaled_one(scores[0])

    @locked
    def predict_many(self, X: Any) -> Any:
        """Return predictions for the rows of a data frame, as a Series.

        Parameters
        ----------
        X : DataFrame
            Features.
        """
        import pandas as pd

        scores = self._many_scores(X)
        values = np.zeros(len(X)) if scores is None else self._scale.unscaled(scores[:, 0])
        return pd.Series(values, index=X.index)
