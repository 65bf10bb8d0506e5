"""Fit a model for tables in passes over the rows, in bounded memory.

1. "scan" finds the scales of the columns, their categories, the labels, and a uniform sample of at
   most 20,000 rows. At its end the sample chooses the kernel. If there are gaps or dates, there are
   two such passes, and the first finds the medians that fill gaps, and the cycles of dates.
2. "learn" finds the atoms by COLK, with one step per row. There may be several such passes.
3. "collect" draws the sample again, if the fit was interrupted during "learn".
4. "polish" finds the weights. First it finds them on the sample, in memory; under a risk, along the
   path from the mean to the risk. If there are more rows than the sample holds, and the objective
   is the mean of a smooth loss or the path stays at the mean, each pass over all rows then makes
   one step of Newton's method. Other objectives keep the weights of the sample.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from colk._validation import Array
from colk.losses import Huber, Loss
from colk.recipe import grown
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import FinalPolish, final_polish
from colk.rkhs.polishing.passes import Iterate, PassNewton, Sums
from colk.selection import MOST_ROWS
from colk.tabular.left_out import LeftOutRows
from colk.tabular.sample import RowSample

if TYPE_CHECKING:
    from colk.tabular.model import TableModel
    from colk.tabular.reading import Source

__all__ = ["Phase", "TableFit", "batches"]

Phase = Literal["scan", "learn", "collect", "polish", "done"]

# Passes of gradient steps if no polish follows to find the weights.
_EPOCHS = 5
# Number of rows whose kernel values are in memory at a time.
_BLOCK = 1024
_TOLERANCE = 1e-3
_LEAST_REGULARIZATION = 1e-12

_CHANGED = "the data changed between two passes: the later pass found no rows"


def batches(
    source: "Source | Iterable[tuple[Mapping[str, Any], Any]]", model: "TableModel"
) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """Yield the columns and targets of all rows; each call begins again.

    Examples
    --------
    >>> from colk.tabular import TableModel
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


class TableFit:
    """A fit that is driven from outside: `add` takes rows, `end_pass` ends a pass.

    Parameters
    ----------
    model : TableModel
        The model to fit.
    epochs : int, optional
        Number of learning passes. Default: 1 with the polish or `solver="newton"`, otherwise 5.
    phase : {"scan", "learn", "collect", "polish", "done"}, default="scan"
        The phase to begin with: "scan" for a new model, or the phase of an interrupted fit.
    epoch : int, default=0
        Number of finished learning passes.
    iterate : mapping, optional
        The `iterate_state` of a fit that was interrupted while it polished.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.tabular import TableModel
    >>> model, x = TableModel("y", ["x"]), np.linspace(0.0, 6.0, 300)
    >>> fit = TableFit(model)
    >>> while fit.phase != "done":
    ...     fit.add({"x": x}, np.sin(x))
    ...     fit.end_pass()
    >>> bool(np.abs(model.predict({"x": x}) - np.sin(x)).max() < 0.05)
    True
    """

    def __init__(
        self,
        model: "TableModel",
        epochs: int | None = None,
        *,
        phase: Phase = "scan",
        epoch: int = 0,
        iterate: Mapping[str, Any] | None = None,
    ) -> None:
        self._model = model
        one_pass = model.polish or model.settings.solver == "newton"
        self.epochs = (1 if one_pass else _EPOCHS) if epochs is None else epochs
        self.epoch = epoch
        self._iterate, self._decay = _restored(iterate, model)
        self._loss = model.loss if iterate is None else _restored_loss(iterate, model)
        self._newton: PassNewton | None = None
        self.phase: Phase = phase
        if phase == "polish":
            self._start_passes()
        self._sample = RowSample(seed=model.seed)
        self._measured = RowSample(seed=model.seed)
        self._has_medians = False
        self._n_read = 0  # rows read in this pass
        self._left_out: LeftOutRows | None = None
        self._polished: tuple[FinalPolish, Array, Array] | None = None  # and its rows
        self._sums: Sums | None = None
        self._block: list[tuple[Array, Array]] = []

    @property
    def left_out(self) -> LeftOutRows | None:
        """The rows of the sample, each predicted without itself; None before the polish."""
        if self._polished is not None:
            self._left_out, self._polished = LeftOutRows(self._model, *self._polished), None
        return self._left_out

    # -- rows --------------------------------------------------------------------------------

    def add(self, columns: Mapping[str, Any], y: Any) -> None:
        """Process the next rows of the pass.

        Parameters
        ----------
        columns : mapping of str to array
            The features by name.
        y : array of shape (n,)
            Numbers or labels.
        """
        if self.phase == "learn":
            self._model.learn_pass(columns, y)
            return
        X, targets = self._model.encode(columns, y, first=self._n_read)
        self._n_read += len(X)
        if self.phase == "polish":
            self._model.standardize(X, targets)
            self._add_to_sums(X, targets)
        else:
            self._sample.add(X, targets)
            if self.phase == "scan":
                self._model.update_scales(X, targets)
                if not self._has_medians:
                    self._measured.add(self._model.measured(columns), targets[:, :0])

    def end_pass(self) -> None:
        """Finish the pass and start the next phase."""
        self._n_read = 0
        if self.phase == "scan" and not self._has_medians and self._model.needs_medians:
            self._find_medians()
        elif self.phase == "scan":
            self._choose_kernel()
            self.phase = "learn"
        elif self.phase == "learn":
            self.epoch += 1
            if self.epoch >= self.epochs:
                self.finish_learning()
        elif self.phase == "collect":
            self._polish()
        else:
            self._end_polish_pass()
        if self.phase == "done" and self._model.categorical:
            self._model.end_fit()

    def finish_learning(self) -> None:
        """Continue with the polish, or end the fit."""
        if not self._model.polish or self._model.rows == 0:
            self.phase = "done"
        elif self._sample.n_seen == 0:
            self.phase = "collect"
        else:
            self._polish()

    def _find_medians(self) -> None:
        """Set the medians that fill gaps; the scan is then repeated for the scales."""
        self._has_medians = True
        self._model.find_medians(self._measured.arrays()[0])
        self._sample = RowSample(seed=self._model.seed)
        self._measured = RowSample(seed=self._model.seed)

    # -- the kernel --------------------------------------------------------------------------

    def _sample_arrays(self) -> tuple[Array, Array]:
        """The sample as the learner sees it."""
        X, targets = self._sample.arrays()
        self._model.standardize(X, targets)
        return X, targets

    def _choose_kernel(self) -> None:
        """Choose the kernel by the sample, and make the learner."""
        if self._sample.n_seen == 0:
            return
        if self._model.categorical:
            self._find_effects()
        X, targets = self._sample_arrays()
        order = np.random.default_rng(self._model.seed).permutation(len(X))
        self._model.start(X[order], targets[order], MOST_ROWS)

    def _find_effects(self) -> None:
        """Add the effects of categories to the rows of the sample."""
        X, targets = self._sample.arrays()
        scaled = targets.copy()
        self._model.standardize(X.copy(), scaled)
        sample = self._sample
        sample.widen(self._model.find_effects(X, scaled, sample.places, sample.n_seen))

    # -- the weights -------------------------------------------------------------------------

    def _polish(self) -> None:
        """Find the weights on the sample; start Newton passes if there are more rows."""
        model, sample = self._model, self._sample
        if sample.n_seen == 0:
            raise ValueError(_CHANGED)
        X, targets = self._sample_arrays()
        if model.n_atoms == 0:
            model.take_risk(X, targets)
            self.phase = "done"
            return
        least = max(model.recipe.regularization, _LEAST_REGULARIZATION)
        function = model.function
        final = final_polish(
            function,
            X,
            targets[:, 0],
            model.loss,
            model.risk,
            least,
            path=model.risk_path,
            tolerance=_TOLERANCE,
        )
        if model.settings.grows:
            final = grown(final, X, targets[:, 0], np.ones(len(X))).final
        found, self._loss, model.path = final.polished, final.loss, final.path
        if found.function.n_atoms > function.n_atoms:
            function = found.function
            _enlarge(model, function)
        model.set_weights(found.function.weights)
        model.take_risk(X, targets)
        self._polished = final, X, targets
        is_mean = model.risk.n_inner == 0 or (model.path is not None and model.path.kept_the_mean)
        if sample.is_complete or not is_mean or model.loss.kinks:
            self.phase = "done"
            return
        # The sum of the losses over n rows has n/m times the curvature of m rows, so the λ of the
        # mean loss shrinks by m/n.
        self._decay = max(found.regularization * len(X) / sample.n_seen, least)
        self._iterate = Iterate(found.function.weights.reshape(function.n_atoms, -1))
        self._sample, self.phase = RowSample(seed=model.seed), "polish"
        self._start_passes()

    def _start_passes(self) -> None:
        self._newton = PassNewton(self._model.function, self._loss, self._decay)

    def _add_to_sums(self, X: Array, targets: Array) -> None:
        """Add rows in blocks of a fixed size, so that the rounding does not depend on batches."""
        self._block.append((X, targets))
        if sum(len(rows) for rows, _ in self._block) < _BLOCK:
            return
        points, values = self._joined_block()
        end = len(points) - len(points) % _BLOCK
        for start in range(0, end, _BLOCK):
            self._add_block(points[start : start + _BLOCK], values[start : start + _BLOCK])
        self._block = [(points[end:], values[end:])]

    def _joined_block(self) -> tuple[Array, Array]:
        points, targets = zip(*self._block, strict=True)
        return np.concatenate(points), np.concatenate(targets)

    def _add_block(self, X: Array, targets: Array) -> None:
        if self._newton is None or self._iterate is None or len(X) == 0:
            return
        sums = self._newton.sums(self._iterate.weights, X, targets)
        self._sums = sums if self._sums is None else self._sums + sums

    def _end_polish_pass(self) -> None:
        if self._block:
            self._add_block(*self._joined_block())
        if self._newton is None or self._iterate is None or self._sums is None:
            raise ValueError(_CHANGED)
        self._iterate = self._newton.advance(self._iterate, self._sums)
        self._sums, self._block = None, []
        if self._iterate.best is not None:
            self._model.set_weights(self._iterate.best)
        if self._iterate.is_done:
            self.phase, self._iterate, self._newton = "done", None, None

    @property
    def iterate_state(self) -> dict[str, Any] | None:
        """The state of the polish between two passes, made of numbers and lists."""
        if self._iterate is None:
            return None
        best = self._iterate.best
        return {
            "weights": self._iterate.weights.tolist(),
            "best": None if best is None else best.tolist(),
            "objective": None if best is None else self._iterate.objective,
            "n_passes": self._iterate.n_passes,
            "regularization": self._decay,
            "threshold": getattr(self._loss, "threshold", None),
        }


def _enlarge(model: "TableModel", function: KernelExpansion) -> None:
    """Continue from a function with more atoms; their number becomes `max_atoms`."""
    model.settings = replace(model.settings, max_atoms=function.n_atoms)
    model.recipe = replace(model.recipe, settings=model.settings)
    small = model._learner
    recipe = model.recipe if small.risk == model.risk else model.recipe.for_mean()
    model._learner = recipe.learner(small.n_outputs)
    model._learner.enlarge_from(small, function)


def _restored_loss(state: Mapping[str, Any], model: "TableModel") -> Loss:
    """Return the loss of a polish: the model's, with the threshold that the outliers set."""
    if not isinstance(model.loss, Huber):
        return model.loss
    return model.loss.replace(threshold=state["threshold"])


def _restored(state: Mapping[str, Any] | None, model: "TableModel") -> tuple[Iterate | None, float]:
    """Check a state; return its iterate and its λ."""
    if state is None:
        return None, 0.0
    function: KernelExpansion = model.function
    shape = (function.n_atoms, function.n_outputs)
    arrays = [
        None if state[name] is None else np.array(state[name], dtype=np.float64)
        for name in ("weights", "best")
    ]
    decay, n_passes = float(state["regularization"]), state["n_passes"]
    weights, best = arrays
    for each in arrays:
        if each is not None and (each.shape != shape or not np.isfinite(each).all()):
            raise ValueError(f"the polish has weights of shape {each.shape}, expected {shape}")
    if weights is None or not decay > 0.0 or type(n_passes) is not int or n_passes < 0:
        raise ValueError("the state of the polish has a λ or a count that is not positive")
    objective = np.inf if best is None else float(state["objective"])
    return Iterate(weights, best, objective, n_passes), decay
