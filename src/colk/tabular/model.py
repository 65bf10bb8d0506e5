"""A learner of tables: named columns go in, numbers or labels come out."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np

from colk import _stored as stored
from colk._validation import Array
from colk.kernels import Kernel
from colk.learners.colk import KernelLearner
from colk.losses import Loss, Softmax
from colk.recipe import Recipe, Settings, Solver, as_averaging
from colk.risks import Risk
from colk.rkhs.compression import Compression, compress
from colk.rkhs.expansion import KernelExpansion
from colk.schedules import Averaging, Rate
from colk.tabular.columns import check_names, check_numbers
from colk.tabular.encoder import Encoder
from colk.tabular.making import choose_loss, told
from colk.tabular.scale import RunningScales
from colk.tabular.stored import FIELDS, StoredTable

__all__ = ["TableModel", "Task"]

Task = Literal["regression", "classification"]

# Classes beyond which labels are taken for something else.
MOST_CLASSES = 256

_TASKS = ("regression", "classification")


@stored.stores(FIELDS)
class TableModel(StoredTable):
    """COLK on the rows of a table, one step a row, with everything that turns rows into points.

    Numbers and targets are scaled by the means and deviations of the rows seen so far; values of
    a categorical column become indicators, and labels classes, when they first appear. How the
    rows are cut into batches changes nothing, to the bit.

    Parameters
    ----------
    target : str
        Name of the column to predict.
    features : sequence of str
        Names of the columns to predict it from.
    categorical : sequence of str
        Those of them that hold text.
    task : {"regression", "classification"}
        Whether targets are numbers or labels.
    kernel : Kernel or str
        A kernel, or the name of one.
    bandwidth : float or "scale"
        Of a kernel that is named; "scale" suits scaled columns: √(p/2) for p features, p/2 for
        the Laplacian.
    loss : Loss or str, optional
        "huber" of scaled targets by default; for classes the softmax loss. Losses of a margin
        tell two classes apart.
    risk : Risk or str
        How losses are put together.
    step_size, eps, max_atoms, averaging
        As in `colk.COLKRegressor`.
    scale : bool
        Whether to scale the numbers.
    solver : {"gradient", "newton"}
        Steps along gradients, or divided by the curvature of what was seen: those of "newton" learn
        more of each row, and cost more.
    prior, forgetting
        Of `solver="newton"`, as in `colk.COLKRegressor`.

    Attributes
    ----------
    rows : int
        Rows learned.
    notes : dict
        Whatever is to be kept with the model: text, numbers, lists and dictionaries of them.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.tabular import TableModel
    >>> rng = np.random.default_rng(0)
    >>> columns = {"x": rng.uniform(0, 100, 2000), "side": rng.choice(["left", "right"], 2000)}
    >>> y = np.where(columns["side"] == "left", 3.0, -2.0) * columns["x"]
    >>> model = TableModel("y", ["x", "side"], categorical=["side"]).learn(columns, y)
    >>> predicted = model.predict({"x": [50.0, 50.0], "side": ["left", "right"]})
    >>> bool(np.abs(predicted - [150.0, -100.0]).max() < 20.0)
    True
    """

    step_size: Rate | None
    averaging: Averaging | bool | None

    def __init__(
        self,
        target: str,
        features: Sequence[str],
        categorical: Sequence[str] = (),
        task: Task = "regression",
        kernel: Kernel | str = "laplacian",
        bandwidth: float | Literal["scale"] = "scale",
        loss: Loss | str | None = None,
        risk: Risk | str = "mean",
        step_size: Rate | None = None,
        eps: float | None = None,
        max_atoms: int | None = 200,
        averaging: Averaging | bool = True,
        scale: bool = True,
        solver: Solver = "gradient",
        prior: float | None = None,
        forgetting: float = 1.0,
    ) -> None:
        self.target, self.features = target, tuple(features)
        self.categorical, self.task = tuple(categorical), task
        check_names(self.target, self.features, self.categorical)
        if task not in _TASKS:
            raise ValueError(f"task must be one of {list(_TASKS)}, got {task!r}")
        settings = Settings(
            kernel=kernel,
            bandwidth=bandwidth,
            loss=choose_loss(loss, task),
            risk=risk,
            solver=solver,
            step_size=step_size,
            eps=eps,
            max_atoms=max_atoms,
            averaging=averaging,
            prior=prior,
            forgetting=forgetting,
        )
        self._recipe = recipe = Recipe.from_shape(settings, len(self.features))
        self.kernel, self.loss, self.risk = recipe.kernel, recipe.loss, recipe.risk
        self.solver, self.prior, self.forgetting = solver, prior, forgetting
        self.step_size = recipe.step_size
        self.averaging = None if recipe.is_newton else as_averaging(averaging)
        self.eps, self.max_atoms = eps, max_atoms
        self.scale = bool(scale)
        self.rows = 0
        self.labels: list[str] = []
        self.notes: dict[str, Any] = {}
        numbers = [name for name in self.features if name not in self.categorical]
        self._encoder = Encoder(numbers, self.categorical)
        self._inputs = RunningScales(len(numbers))
        self._targets = RunningScales(1)
        self._fixed: KernelExpansion | None = None
        self._learner = self._new_learner()

    def _new_learner(self) -> KernelLearner:
        """Return a learner that has seen no row: two classes at first, more as they appear."""
        return self._recipe.learner(2 if self.loss.kind == "multiclass" else 1)

    def told(self) -> dict[str, str]:
        """Return what the model is made of, in words."""
        return told(self, self._learner)

    # -- learning ----------------------------------------------------------------------------

    def learn(self, columns: Mapping[str, Any], y: Any) -> Self:
        """Learn from rows in their order.

        Parameters
        ----------
        columns : mapping of str to array
            The features, by name: finite numbers, and text where they are categorical.
        y : array of shape (n,)
            Finite numbers, or labels, which are text.
        """
        if self._fixed is not None:
            raise ValueError("a compressed model does not learn on; learn with the original")
        known = self._checked(columns)
        n = len(known[self.features[0]])
        if self.task == "regression":
            targets = check_numbers(y, self.target)[:, None].copy()
        else:
            targets = np.array([str(label) for label in y], dtype=object)[:, None]
        if len(targets) != n:
            raise ValueError(f"{self.target} has {len(targets)} rows, expected {n}")
        if n == 0:
            return self
        self._encoder.admit(known)
        X = self._encoder.encode(known)
        if self.scale:
            self._inputs.absorb(X)
        self._grow(self._learner.n_outputs or 1)
        if self.task == "regression":
            self._targets.absorb(targets)
            self._learn_rows(X, targets)
        else:
            self._learn_labels(X, targets[:, 0])
        self.rows += n
        return self

    def _grow(self, n_outputs: int) -> None:
        """Let the learner have all columns, and this many outputs."""
        width = len(self._encoder.names)
        if self.rows == 0 and self._learner.loss_sums[1] == 0.0:
            return
        if (width, n_outputs) != (self._learner.n_features, self._learner.n_outputs):
            self._learner.grow(width, n_outputs)

    def _learn_labels(self, X: Array, labels: Any) -> None:
        """Learn up to the next label that is new: it grows the learner."""
        start = 0
        while start < len(labels):
            self._meet(labels[start])
            end = start + 1
            while end < len(labels) and labels[end] in self.labels:
                end += 1
            places = np.array([self.labels.index(label) for label in labels[start:end]], float)
            if self.loss.kind == "binary":
                places = 2.0 * places - 1.0
            self._learn_rows(X[start:end], places[:, None])
            start = end

    def _learn_rows(self, X: Array, targets: Array) -> None:
        """Learn rows that are checked; the first ones show the learner their shape."""
        self._learner.learn_checked(X, targets[:, 0], np.ones(len(X)))

    def _meet(self, label: str) -> None:
        if label in self.labels:
            return
        if self.loss.kind == "binary" and len(self.labels) == 2:
            raise ValueError(
                f"{type(self.loss).__name__} tells two classes apart, {self.labels[0]!r} and "
                f"{self.labels[1]!r}; for {label!r} too leave the loss out"
            )
        if len(self.labels) == MOST_CLASSES:
            raise ValueError(
                f"{self.target} has more than {MOST_CLASSES} classes; is it a regression?"
            )
        self.labels.append(label)
        if self.loss.kind == "multiclass" and len(self.labels) > 2:
            self._grow(len(self.labels))

    def _checked(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        missing = [name for name in self.features if name not in columns]
        if missing:
            raise ValueError(f"column {missing[0]!r} is missing")
        return {
            name: [str(value) for value in columns[name]]
            if name in self.categorical
            else check_numbers(columns[name], name)
            for name in self.features
        }

    # -- predicting --------------------------------------------------------------------------

    def points(self, columns: Mapping[str, Any]) -> Array:
        """Return rows as the learner sees them: encoded and scaled.

        Parameters
        ----------
        columns : mapping of str to array
            The features, by name.
        """
        X = self._encoder.encode(self._checked(columns))
        if self.scale:
            self._inputs.scale(X)
        return X

    def _scores(self, columns: Mapping[str, Any]) -> Array:
        X = self.points(columns)
        if self.rows == 0:
            raise ValueError("this model has not seen a row yet")
        values: Array = self._learner.predict(X) if self._fixed is None else self._fixed(X)
        return values

    def predict(self, columns: Mapping[str, Any]) -> Any:
        """Return predicted numbers or labels, of shape (n,).

        Parameters
        ----------
        columns : mapping of str to array
            The features, by name.
        """
        scores = self._scores(columns)
        if self.task == "regression":
            return scores * self._targets.units[0] + self._targets.means[0]
        if self.loss.kind == "binary":
            places = np.minimum((scores > 0.0).astype(int), len(self.labels) - 1)
        else:
            places = scores[:, : len(self.labels)].argmax(axis=1)
        return np.array(self.labels, dtype=object)[places]

    def predict_proba(self, columns: Mapping[str, Any]) -> Array:
        """Return probabilities of shape (n, C), of the classes in `labels`.

        Parameters
        ----------
        columns : mapping of str to array
            The features, by name.
        """
        if not isinstance(self.loss, Softmax):
            raise TypeError(f"{type(self.loss).__name__} gives no probabilities; Softmax does")
        known = self._scores(columns)[:, : len(self.labels)]
        return self.loss.probability(known) if len(self.labels) > 1 else np.ones_like(known)

    # -- what was learned --------------------------------------------------------------------

    @property
    def n_atoms(self) -> int:
        """Model order M."""
        return self._learner.n_atoms if self._fixed is None else self._fixed.n_atoms

    @property
    def inner_estimate(self) -> Array:
        """The tracked value g of the risk."""
        return self._learner.inner_estimate

    @property
    def columns(self) -> list[str]:
        """Names of the columns that the learner sees."""
        return self._encoder.names

    @property
    def indicators(self) -> list[tuple[str, str]]:
        """Column and value of each indicator, in the order of appearance."""
        return list(self._encoder.indicators)

    @property
    def function(self) -> KernelExpansion:
        """The learned function of scaled columns, in units of the target's deviation."""
        if self._fixed is not None:
            return self._fixed
        if self.rows == 0:
            raise ValueError("this model has not seen a row yet")
        return self._learner.function

    @property
    def center(self) -> Array:
        """Means of the columns that the learner sees; 0 for indicators."""
        return self._inputs_or(self._inputs.means, 0.0)

    @property
    def unit(self) -> Array:
        """Deviations of the columns that the learner sees; 1 for indicators."""
        return self._inputs_or(self._inputs.units, 1.0)

    def _inputs_or(self, values: Array, otherwise: float) -> Array:
        filled = np.full(len(self.columns), otherwise)
        if self.scale:
            filled[: len(values)] = values
        return filled

    @property
    def target_center(self) -> float:
        """Mean of the targets; 0 for classes."""
        return float(self._targets.means[0])

    @property
    def target_unit(self) -> float:
        """Deviation of the targets; 1 for classes."""
        return float(self._targets.units[0])

    def compressed(
        self, *, eps: float | None = None, max_atoms: int | None = None
    ) -> tuple["TableModel", Compression]:
        """Return a smaller model that predicts, and the certificate of what it lost.

        Parameters
        ----------
        eps, max_atoms
            As in `colk.compress`; eps is in units of the target's deviation.
        """
        compression = compress(self.function, eps=eps, max_atoms=max_atoms)
        smaller = TableModel.__new__(TableModel)
        smaller.__dict__.update(self.__dict__)
        smaller._fixed = compression.function
        smaller._learner = self._new_learner()
        smaller.notes = {}
        return smaller, compression
