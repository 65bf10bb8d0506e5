"""A model for tables with named columns, which predicts numbers or labels."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from colk import _stored as stored
from colk._encoding.columns import Table, check_names, checked_table
from colk._engine.blas_threads import one_blas_thread
from colk._engine.locks import locked
from colk._engine.running_scale import RunningScale
from colk._validation import Array, check_count, check_vector, check_weight_range
from colk.kernels import Kernel
from colk.losses import Loss
from colk.model import (
    OnlineFit,
    Recipe,
    Settings,
    Solver,
    as_loss,
    regression_loss,
    table_loss,
    table_risk,
)
from colk.model.fit import Fit
from colk.model.passes import Passes
from colk.model.rows import LocalRows, Rows
from colk.model.targets import LabelTargets, NumberTargets, Targets
from colk.risks import Risk
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import RiskPath
from colk.schedules import Averaging, Rate
from colk.tabular.stored import FIELDS, StoredTable
from colk.tabular.stream import MOST_CLASSES, TableStream

if TYPE_CHECKING:
    from colk.tabular.reading import Source

__all__ = ["TableModel", "Task"]

Task = Literal["regression", "classification"]

_TASKS = ("regression", "classification")


def batches(
    source: "Source | Iterable[tuple[Any, ...]]", model: "TableModel"
) -> Iterator[tuple[Any, ...]]:
    """Yield the columns, targets and weights of all rows; each call begins again.

    Examples
    --------
    >>> model = TableModel("y", ["x"])
    >>> [y for _, y in batches([({"x": [1.0]}, [2.0])], model)]
    [[2.0]]
    """
    if not isinstance(source, Iterable):
        if source.waits:
            raise ValueError("a pipe can be read only once: use `learn` instead of `fit`")
        for rows in source.rows(model.wanted):
            yield rows.columns, rows.columns[model.target]
        return
    if iter(source) is source:
        raise TypeError(
            "fit reads the rows several times, and an iterator can be read only once: "
            "pass a list, or use `learn`"
        )
    yield from source


@stored.stores(FIELDS)
class TableModel(TableStream, StoredTable):
    """COLK for the rows of a table, including their encoding and scaling.

    Numbers and targets are standardised. Categories are compared by equality
    (`colk.kernels.Mixed`). Dates become a trend and the times of day, week and year. Any feature
    may be missing (NaN or None): a missing category is one more value; a missing number or date is
    filled with a typical value and marked by an indicator. `fit` reads the rows several times and
    gives the same model as `COLKRegressor().fit` or `COLKClassifier().fit` on the rows in their
    order, in the memory of 20,000 rows. `learn` reads the rows once, and gives the same model as
    `partial_fit`: it scales a row by the rows so far, so batches of any size give the same model.

    Parameters
    ----------
    target : str
        Name of the column to predict.
    features : sequence of str
        Names of the columns to predict it from.
    categorical : sequence of str, default=()
        The features that are categories. A category may have any number of values.
    task : {"regression", "classification"}, default="regression"
        Whether targets are numbers or labels.
    kernel : Kernel or str, default="auto"
        A kernel, or the name of one. With "auto" the data choose: `fit` compares kernels on 1,000
        rows drawn from all rows, `learn` on the first 500 rows. If later rows of `learn` need
        another kernel, a rival learns beside the model and may take over; see
        `colk.COLKRegressor`.
    bandwidth : float, "scale" or "auto", default="scale"
        Bandwidth of a kernel given by name, for standardised columns. "scale" is √(p/2) for p
        features, and p/2 for the Laplacian. "auto" lets the data choose.
    loss : Loss, str or None, default=None
        The loss of one prediction. None: "huber" for numbers, "softmax" for labels. Thresholds are
        in units of the target's standard deviation. Margin losses, such as "hinge", take two
        classes.
    risk : Risk or str, default="mean"
        How the losses of the rows are combined. Change it if large losses matter more than small
        ones.
    step_size, eps, max_atoms, averaging
        As in `colk.COLKRegressor`. Defaults: None, None, "auto" and True.
    scale : bool or "auto", default="auto"
        Whether to standardise the numbers. "auto" decides in `fit` as `colk.COLKRegressor` does; in
        a stream it is True.
    solver : {"gradient", "newton"}, default="gradient"
        "newton" divides steps by the curvature seen so far. It needs fewer rows and about twice the
        time per row.
    prior, forgetting
        Parameters of `solver="newton"`, as in `colk.COLKRegressor`. Defaults: None and 1.0.
    polish : bool, default=True
        Whether `fit` ends by minimising the regularised objective over the weights of the atoms.
    risk_path : bool, default=True
        Whether the polish under a risk follows a path from the mean, as in `colk.COLKRegressor`.
    seed : int, default=0
        Seed for the rows that `fit` draws: those that choose the kernel, and a sample of 20,000.
    dates : sequence of str, default=()
        The features that are dates or times: seconds since 1970, datetime64, or ISO 8601.

    Attributes
    ----------
    rows : int
        Number of rows learned, over all passes.
    labels : list of str
        The classes, in order of appearance.
    race : Race or None
        The latest comparison of kernels; None before the first, or if the kernel is given.
    path : RiskPath or None
        The points that `fit` tried between the mean and the risk, on at most 20,000 rows; None for
        the mean, and without a `polish` or a `risk_path`.
    residuals : array of shape (n,)
        Residuals of held-out rows, which `calibrate` sets for `predict_interval`.
    notes : dict
        Data to store with the model: text, numbers, and lists and dictionaries of them.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.tabular import TableModel
    >>> rng = np.random.default_rng(0)
    >>> columns = {"x": rng.uniform(0, 100, 2000), "side": rng.choice(["left", "right"], 2000)}
    >>> y = np.where(columns["side"] == "left", 3.0, -2.0) * columns["x"]
    >>> model = TableModel("y", ["x", "side"], categorical=["side"]).fit([(columns, y)])
    >>> model.predict({"x": [50.0, 50.0], "side": ["left", "right"]}).round()
    array([ 150., -100.])
    """

    _changing = ("_online", "_inputs", "_targets", "labels", "notes")

    def __init__(
        self,
        target: str,
        features: Sequence[str],
        categorical: Sequence[str] = (),
        task: Task = "regression",
        kernel: Kernel | str = "auto",
        bandwidth: float | Literal["scale", "auto"] = "scale",
        loss: Loss | str | None = None,
        risk: Risk | str = "mean",
        step_size: Rate | None = None,
        eps: float | None = None,
        max_atoms: int | Literal["auto"] | None = "auto",
        averaging: Averaging | bool = True,
        scale: bool | Literal["auto"] = "auto",
        solver: Solver = "gradient",
        prior: float | Literal["auto"] | None = None,
        forgetting: float | Literal["auto"] = 1.0,
        polish: bool = True,
        risk_path: bool = True,
        seed: int = 0,
        dates: Sequence[str] = (),
    ) -> None:
        self.target, self.features = target, tuple(features)
        self.categorical, self.task, self.dates = tuple(categorical), task, tuple(dates)
        check_names(self.target, self.features, (*self.categorical, *self.dates))
        if task not in _TASKS:
            raise ValueError(f"task must be one of {list(_TASKS)}, got {task!r}")
        self.scale, self.polish, self.risk_path = scale, bool(polish), bool(risk_path)
        self._loss = loss
        self._given = Settings(
            kernel=kernel,
            bandwidth=bandwidth,
            loss=table_loss(loss, task),
            risk=table_risk(risk),
            solver=solver,
            step_size=step_size,
            eps=eps,
            max_atoms=max_atoms,
            averaging=averaging,
            prior=prior,
            forgetting=forgetting,
        )
        self.seed = check_count(seed, "seed", at_least=0)
        self.notes: dict[str, Any] = {}
        self.settings = self._given
        self._start_inputs()
        self._forget()
        n_outputs = 2 if as_loss(self.settings.loss).kind == "multiclass" else 1
        recipe = Recipe.from_shape(self.settings, self._encoder.width)
        self._online = OnlineFit(recipe.learner(n_outputs), self.settings)

    def _forget(self) -> None:
        """Forget what belongs to rows learned before."""
        self.rows, self.residuals = 0, np.zeros(0)
        self.labels: list[str] = []
        self.path: RiskPath | None = None
        self._fixed: KernelExpansion | None = None

    # -- learning ----------------------------------------------------------------------------

    @locked
    def fit(
        self,
        source: "Source | Iterable[tuple[Any, ...]]",
        epochs: int | None = None,
    ) -> Self:
        """Fit the model to rows that can be read several times, in bounded memory.

        The first pass draws a sample, which finds scales, kernel and atoms. If there are more than
        20,000 rows, further passes find the weights of all rows.

        Parameters
        ----------
        source : Source or iterable of (columns, y) or (columns, y, weight)
            Files, or batches as `learn` takes them, with weights of the rows if they have any.
        epochs : int, optional
            Number of passes that learn the sample; without a polish, all rows. Default: 1 with the
            polish or `solver="newton"`, otherwise 5.

        Examples
        --------
        >>> from importlib.resources import files
        >>> from colk.tabular import TableModel
        >>> from colk.tabular.reading import Source
        >>> source = Source([str(files("colk.data") / "lidar.csv")])
        >>> TableModel("logratio", ["range"]).fit(source).rows
        221
        """
        self.fit_rows(LocalRows(partial(self._read, source)), self.new_fit(epochs))
        return self

    @locked
    def fit_rows(self, rows: Rows, fit: Fit, on_choice: Callable[[], None] = lambda: None) -> None:
        """Fit the model to rows, wherever they are; an error leaves it as it was.

        Parameters
        ----------
        rows : Rows
            The rows, as `checked_rows` returns them.
        fit : Fit
            The `new_fit` of this model.
        on_choice : callable
            Called when kernel and atoms are chosen; the model then has the weights of the sample.
        """

        def adopt(chosen: Fit) -> None:
            self.adopt_fit(chosen)
            on_choice()

        with one_blas_thread():
            self.adopt_fit(fit.run(rows, adopt))

    def new_fit(self, epochs: int | None = None, sample_size: int | None = None) -> Fit:
        """Return a fit with the settings of this model, which has seen no rows.

        Parameters
        ----------
        epochs : int, optional
            As for `fit`.
        sample_size : int, optional
            As `size` of `colk.model.sample.RowSample`.
        """
        targets: Targets
        if self.task == "regression":
            targets = NumberTargets(regression_loss(self._given.loss))
        else:
            targets = LabelTargets(as_loss(self._loss or "logistic"), most=MOST_CLASSES)
        passes = Passes(
            self._given.solver,
            epochs,
            polish=self.polish,
            risk_path=self.risk_path,
            random_state=self.seed,
        )
        scale = self.scale
        return Fit(self._given, passes, targets, standardize=scale, sample_size=sample_size)

    def _read(
        self, source: "Source | Iterable[tuple[Any, ...]]"
    ) -> Iterator[tuple[Table, Any, Array]]:
        """Yield checked rows of files or batches; each call begins again."""
        for columns, y, *weight in batches(source, self):
            yield self.checked_rows(columns, y, *weight)

    def checked_rows(
        self, columns: Mapping[str, Any], y: Any, weight: Any = None
    ) -> tuple[Table, Any, Array]:
        """Return checked columns, targets and weights, as `Fit` reads them.

        Parameters
        ----------
        columns, y
            As for `learn`.
        weight : array of shape (n,), optional
            Weights of the rows.
        """
        kinds = self._table_columns()
        table = checked_table(kinds, columns)
        targets = self._checked_targets(y, len(table[self.features[0]]))
        if weight is None:
            return (kinds, table), targets, np.ones(len(targets))
        weight = check_weight_range(check_vector(weight, len(targets), "weight"), "weight")
        return (kinds, table), targets, weight

    def adopt_fit(self, fit: Fit) -> None:
        """Become the model of a fit.

        Parameters
        ----------
        fit : Fit
            The fit, whose sample has chosen everything.
        """
        self._forget()
        self.settings = replace(self._given, max_atoms=fit.max_atoms, loss=fit.targets.loss)
        self._set_inputs(fit.inputs)
        self._targets = RunningScale(1)
        if isinstance(fit.targets, NumberTargets):
            self._targets = fit.targets.scale
        elif isinstance(fit.targets, LabelTargets):
            self.labels = fit.targets.labels.tolist()
        self._online = OnlineFit(fit.learner, self.settings, fit.race, fit.relevance)
        self.path, self.rows = fit.path, fit.n_rows

    @locked
    def learn(self, columns: Mapping[str, Any], y: Any) -> Self:
        """Learn from rows in their order, with one step per row.

        Parameters
        ----------
        columns : mapping of str to array
            The features by name: numbers, text for categories, and dates; NaN and None are gaps.
        y : array of shape (n,)
            Finite numbers, or labels, which are text.
        """
        if self._fixed is not None:
            raise ValueError("a compressed model cannot learn; use the original model")
        source, y, _ = self.checked_rows(columns, y)
        if len(y) == 0:
            return self
        if self.task == "classification":
            self._check_labels(y)
        self._inputs, X = self._inputs.learned(source)
        self._online.expect(self._inputs.moves)
        self._grow(self._online.learner.n_outputs or 1)
        if self.task == "regression":
            self._learn_rows(X, y[:, None])
        else:
            self._learn_labels(X, y)
        self.rows += len(X)
        if self._online.has_notes:
            self._online.warn(self._encoder.names)
        return self

    # -- settings ----------------------------------------------------------------------------

    def parameters(self) -> dict[str, Any]:
        """Return the arguments that make a model with the same settings."""
        given = self._given
        return {
            "target": self.target,
            "features": self.features,
            "categorical": self.categorical,
            "task": self.task,
            "kernel": given.kernel,
            "bandwidth": given.bandwidth,
            "loss": self._loss,
            "risk": given.risk,
            "step_size": given.step_size,
            "eps": given.eps,
            "max_atoms": given.max_atoms,
            "averaging": given.averaging,
            "scale": self.scale,
            "solver": given.solver,
            "prior": given.prior,
            "forgetting": given.forgetting,
            "polish": self.polish,
            "risk_path": self.risk_path,
            "seed": self.seed,
            "dates": self.dates,
        }
