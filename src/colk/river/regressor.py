"""Online kernel regression for River."""

from typing import Any, Literal

import numpy as np
from river import base

from colk import _stored as stored
from colk._validation import check_number, check_vector
from colk.errors import FileFormatError
from colk.kernels import Kernel
from colk.losses import Loss
from colk.recipe import RIVER_REGRESSOR, Solver, regression_loss
from colk.risks import Risk
from colk.river.base import Features, OnlineModel, check_weight, check_weights
from colk.river.scale import RunningScale
from colk.river.stored import FIELDS
from colk.schedules import Averaging, Pairing, Rate

__all__ = ["COLKRegressor"]


@stored.stores(FIELDS, scale=stored.Object(RunningScale))
class COLKRegressor(OnlineModel, base.MiniBatchRegressor):
    """Online kernel regression in bounded memory, under a risk of your choice.

    Put `preprocessing.StandardScaler` before it; targets are scaled inside, by their running mean
    and standard deviation. Features may appear and vanish; one that is missing counts as 0, which
    behind a scaler is its mean.

    Parameters
    ----------
    kernel : Kernel or str
        A kernel, or the name of one. "auto" lets the first 500 samples choose kernel, bandwidth
        and a scale for each feature; until then the Laplacian learns and predicts, and what was
        chosen learns them anew. `race` tells how it was chosen.
    bandwidth : "auto", "scale" or float
        Of a kernel that is named; "auto" lets the first samples choose it. "scale" suits
        standardised features: √(p/2), or p/2 for the Laplacian, with p the number of features of
        the first sample.
    loss : Loss or str
        Thresholds are in units of the targets' standard deviation.
    risk : Risk or str
        How losses are put together.
    step_size : float, PowerDecay or None
        None is 1 in units of the loss, 0.2 for the risk "cvar"; half as much for classifiers.
    tracking_rate, regularization, eps, max_atoms, pairing, gradient_bound
        As in `colk.COLKRegressor`.
    averaging : bool, PolyakRuppert or Exponential
        Whether to predict with an average of the iterates. The default, the last iterate, follows
        a target that moves; where it does not move, True is more accurate.
    solver : {"gradient", "newton"}
        "newton" divides the slopes by the curvature of what was seen: far ahead on streams whose
        truth stands still, or moves slowly, and starts anew where it jumps.
    prior, forgetting
        Of `solver="newton"`, as in `colk.COLKRegressor`. Where the truth moves, lower `forgetting`,
        or let the stream choose it: "auto".

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
        step_size: Rate | None = None,
        tracking_rate: Rate = 0.1,
        regularization: float | None = None,
        eps: float | None = None,
        max_atoms: int | None = 200,
        pairing: Pairing = "overlap",
        averaging: Averaging | bool = False,
        gradient_bound: float | None = None,
        solver: Solver = "gradient",
        prior: float | Literal["auto"] | None = None,
        forgetting: float | Literal["auto"] = 1.0,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.loss = loss
        self.risk = risk
        self.step_size = step_size
        self.tracking_rate = tracking_rate
        self.regularization = regularization
        self.eps = eps
        self.max_atoms = max_atoms
        self.pairing = pairing
        self.averaging = averaging
        self.gradient_bound = gradient_bound
        self.solver = solver
        self.prior = prior
        self.forgetting = forgetting
        self._scale = RunningScale()
        self._reset()

    def _to_file(self) -> dict[str, Any]:
        return {**super()._to_file(), "scale": self._scale}

    def _set_learned(self, values: dict[str, Any]) -> None:
        learner = values["learner"]
        if learner is not None and learner.n_outputs != 1:
            raise FileFormatError(f"a regressor has a learner of {learner.n_outputs} outputs")
        self._scale = values["scale"]

    def _loss(self) -> Loss:
        return regression_loss(self.loss)

    def learn_one(self, x: Features, y: float, w: float = 1.0) -> None:
        """Learn from one sample.

        Parameters
        ----------
        x : dict
            Features.
        y : float
            The target.
        w : float
            How much the sample counts; 0 skips it.
        """
        if type(y) is not float or y - y != 0.0:
            y = check_number(y, "y")
        if w != 1.0:
            w = check_weight(w)
        if w == 0.0:
            self._meet(x)
            return
        scale = self._scale.including(y, w)
        self._learn(x, scale.scaled(y), w, 1)
        self._scale = scale

    def predict_one(self, x: Features) -> float:
        """Return the prediction for one sample; 0 before the first is learned.

        Parameters
        ----------
        x : dict
            Features; those never seen before are left out.
        """
        scores = self._scores(x)
        return 0.0 if scores is None else self._scale.unscaled(scores[0])

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn from the rows of a data frame, one after the other.

        Parameters
        ----------
        X : DataFrame
            Features.
        y : Series
            Targets.
        w : array, optional
            How much each sample counts.
        """
        targets = check_vector(y, len(X), "y")
        weight = check_weights(w, len(X))
        with self._unchanged_on_error():
            table = self._place_many(X)
            counted, scaled = weight > 0.0, []
            samples = zip(targets[counted].tolist(), weight[counted].tolist(), strict=True)
            for target, count in samples:
                self._scale = self._scale.including(target, count)
                scaled.append([self._scale.scaled(target)])
            if scaled:
                self._learn_rows(table[counted], np.array(scaled), weight[counted], n_outputs=1)

    def predict_many(self, X: Any) -> Any:
        """Return predictions for the rows of a data frame, as a Series.

        Parameters
        ----------
        X : DataFrame
            Features.
        """
        import pandas as pd

        scores = self._many_scores(X)
        scale = self._scale
        values = np.zeros(len(X)) if scores is None else scale.mean + scale.unit * scores[:, 0]
        return pd.Series(values, index=X.index)
