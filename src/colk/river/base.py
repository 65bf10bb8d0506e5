"""Base class of the River models: features by name, and a fast path for one sample."""

from abc import abstractmethod
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, ClassVar, Literal, cast

import numpy as np

from colk._engine.gradient_step import KernelStream
from colk._engine.locks import Guarded, Lock, locked
from colk._engine.running_scale import RunningScale
from colk._validation import (
    LARGEST_WEIGHT,
    Array,
    check_number,
    check_vector,
    check_weight_range,
)
from colk.kernels import Kernel
from colk.learners.colk import KernelLearner
from colk.learners.drift_event import DriftEvent
from colk.losses import Loss
from colk.model import OnlineFit, Recipe, RiverSolver, Settings
from colk.model.relevance import relevance_of
from colk.risks import Risk
from colk.river.columns import FeatureColumns
from colk.river.features import Features, checked_columns, checked_features
from colk.river.feed import Feed
from colk.river.stored import StoredModel
from colk.rkhs.expansion import KernelExpansion
from colk.schedules import Averaging, Pairing, Rate
from colk.selection import Race, Relevance

__all__ = ["OnlineModel", "check_weight", "check_weights"]


class OnlineModel(Guarded, StoredModel):
    """A model whose samples are dictionaries.

    A feature gets a column when it first has a value, and another one, which marks its gaps, when
    it first has a gap (`colk.river.columns`). A text is a category: each text of a feature gets a
    column, which is 1 if the feature has this text, and 0 otherwise. Features that appear together
    are sorted by name, so the order of a dictionary does not matter.
    """

    kernel: Kernel | str
    bandwidth: str | float
    risk: Risk | str
    step_size: Rate | None
    tracking_rate: Rate
    regularization: float | None
    eps: float | None
    max_atoms: int | None
    hedged: bool
    pairing: Pairing
    averaging: Averaging | bool
    gradient_bound: float | None
    solver: RiverSolver
    prior: float | Literal["auto"] | None
    forgetting: float | Literal["auto"] | None

    _changing = ("_online", "_columns", "_scale")
    _own_lock: Lock  # same as `_lock`, but a property would take longer than the lock itself
    _scale: RunningScale | None = None  # scale of the targets

    _defaults: ClassVar[Settings]  # defaults of settings that are not parameters of the class

    def _reset(self) -> None:
        """Set the state before the first sample; raise if a parameter is invalid."""
        self._own_lock = Lock()
        self._columns = FeatureColumns()
        self._online: OnlineFit | None = None  # made by the first sample
        self._feed: Feed | None = None
        self._has_texts = False
        self._make(n_features=1, n_outputs=2)

    @abstractmethod
    def _loss(self) -> Loss:
        """Return the loss of the learner."""

    def _settings(self) -> Settings:
        """The settings of the learner."""
        return replace(Settings.of(self, self._defaults), loss=self._loss()).for_stream()

    def _make(self, n_features: int, n_outputs: int) -> KernelLearner:
        """Make a learner for standardised features; with kernel="auto", of the default kernel."""
        return Recipe.from_shape(self._settings(), n_features).learner(n_outputs)

    # -- features ----------------------------------------------------------------------------

    def _meet(self, x: Features) -> None:
        """Add columns for the features of a sample that have a value."""
        found = checked_features(x)
        self._take(
            self._columns.admitting([name for name in found if found[name] == found[name]], x)
        )

    def _meet_many(self, X: Any) -> None:
        """Add columns for the features of a data frame that have a value."""
        found = checked_columns(X)
        valued = [name for name, (_, numbers) in found.items() if not np.isnan(numbers).all()]
        self._take(self._columns.admitting(valued, X.columns))

    def _take(self, columns: FeatureColumns) -> None:
        """Take columns, and enlarge the learner if there are more."""
        is_wider = columns.width > self._columns.width
        self._columns = columns
        if is_wider:
            self._grow(1 if self._learner is None else self._learner.n_outputs or 1)

    def _plain(self, x: Features) -> Features:
        """Return a sample as the fast path takes it, with texts replaced by their columns."""
        return checked_features(x) if self._has_texts else x

    # -- learning and predicting -------------------------------------------------------------

    def _learn(self, x: Features, y: float, w: float, n_outputs: int) -> None:
        """Learn a sample whose target and weight are checked."""
        online, feed = self._online, self._feed
        if online is not None and feed is not None and self._columns.takes_plain:
            learned = feed.learn(self._plain(x), y, w)
            if learned == 0:
                raise online.learner.divergence(heaviest=w)
            if learned == 1:
                self._follow(online, feed, y, w)
                return
        self._meet(x)
        columns, row = self._columns.learned(self._columns.cells(x))
        is_wider = columns.width > self._columns.width
        with self._unchanged_on_error() if is_wider else nullcontext():
            self._learn_rows(columns, row, np.array([[y]]), np.array([w]), n_outputs)

    def _learn_rows(
        self,
        columns: FeatureColumns,
        X: Array,
        Y: Array,
        weight: Array,
        n_outputs: int,
        scale: RunningScale | None = None,
    ) -> None:
        """Learn checked samples with these columns; the first ones make the learner.

        The targets are scaled if their scale is given.
        """
        online = self._online
        if online is None:
            learner = self._make(len(columns.names), n_outputs)
            online = OnlineFit(learner.watch_drift(), self._settings())
        elif columns.width > self._columns.width:
            online.grow(columns.width, n_outputs)
        if scale is None:
            online.learn(X, Y, weight)
        else:
            online.learn_numbers(X, Y, weight, scale)
        self._online, self._columns = online, columns
        self._connect()
        if online.has_notes:
            online.warn(columns.shown)

    def _follow(self, online: OnlineFit, feed: Feed, y: float, w: float) -> None:
        """Pass the sample of the feed to what fills gaps, and to what chooses the kernel."""
        if self._columns.is_settled and not online.is_pending:
            return
        row, before = np.array([feed.placed()]), (online.learner, self._columns.is_settled)
        if not self._columns.is_settled:
            self._columns.keep_one(row)
        if online.is_pending:
            online.follow(row, np.array([[y]]), np.array([w]))
        if (online.learner, self._columns.is_settled) != before:
            self._connect()
        if online.has_notes:
            online.warn(self._columns.shown)

    def _connect(self) -> None:
        """Make the fast path for one sample; call it whenever learner, names or scale change."""
        columns = self._columns
        self._has_texts = columns.has_texts
        if self._feed is not None:
            self._feed.disconnect()
        if self._online is not None:
            stream = cast(KernelStream, self._online.learner.stream)
            is_alone = columns.is_settled and not self._online.is_pending
            scale, named = self._scale if is_alone else None, (columns.keys, columns.needed)
            self._feed = Feed(stream, *named, columns.held, stream.shown, self._own_lock, scale)

    def _grow(self, n_outputs: int) -> None:
        """Enlarge the learner to all columns and this many outputs."""
        if self._online is not None:
            self._online.grow(self._columns.width, n_outputs)
            self._connect()

    def _scores(self, x: Features) -> list[float] | None:
        """Values of the learned function at x, one per output; None before the first sample."""
        scores = None if self._feed is None else self._feed.scores(self._plain(x))
        if scores is not None:
            return scores
        row = self._columns.encode(self._columns.cells(x))
        if self._learner is None:
            return None
        checked: list[float] = self._learner.evaluate(row)[0].tolist()
        return checked

    def _many_scores(self, X: Any) -> Array | None:
        """Values at the rows of a frame, of shape (n, n_outputs); None before the first sample."""
        rows = self._columns.encode(self._columns.cells_of(X))
        return None if self._learner is None else self._learner.evaluate(rows)

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Undo a mini-batch if it ends with an error or an interrupt."""
        with self._lock:
            if self._feed is not None:
                self._feed.disconnect()
            # The copies are made before anything changes, so that undoing needs no memory.
            before = {
                **self.__dict__,
                "_online": None if self._online is None else self._online.saved(),
                "_feed": None,
            }
            n_drifts = len(self.drifts)
            try:
                yield
                if self._learner is not None:
                    self._learner.end_call(n_drifts)
            except BaseException:
                self.__dict__.update(before)
                raise
            finally:
                self._connect()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the fast path, which `__setstate__` makes again."""
        return {**super().__getstate__(), "_feed": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _own_lock=Lock())
        self._connect()

    # -- state of the model ------------------------------------------------------------------

    @property
    def _learner(self) -> KernelLearner | None:
        return None if self._online is None else self._online.learner

    @property
    def drift_detected(self) -> bool:
        """Whether a sample of the latest call caused an alarm."""
        return self._learner is not None and self._learner.drift_detected

    @property
    @locked
    def drifts(self) -> list[DriftEvent]:
        """All alarms so far: time, severity, and the features whose means changed."""
        names: dict[Hashable, Hashable] = dict(enumerate(self.feature_names))
        return [
            replace(event, features={names[k]: gap for k, gap in event.features.items()})
            for event in ([] if self._learner is None else self._learner.drifts)
        ]

    @property
    def n_atoms(self) -> int:
        """Number of atoms."""
        return 0 if self._learner is None else self._learner.n_atoms

    @property
    def race(self) -> Race | None:
        """The latest comparison of kernels; None before the first, or if the kernel is given."""
        return None if self._online is None else self._online.race

    @property
    @locked
    def relevance(self) -> Relevance | None:
        """How much the function varies along each of `feature_names`, and along directions."""
        return None if self._online is None else relevance_of(self._online)

    @property
    def feature_names(self) -> list[Hashable]:
        """Names of the columns: features, and marks of their gaps, in order of appearance."""
        return self._columns.shown

    @property
    @locked
    def function(self) -> KernelExpansion:
        """The learned function of the columns `feature_names`; its values are scaled targets."""
        if self._learner is None:
            raise ValueError(f"this {type(self).__name__} has not seen a sample yet")
        return self._learner.function


def check_weight(w: Any) -> float:
    """Return the weight of a sample; raise if it is not a number ≥ 0, or too large."""
    if type(w) is float and 0.0 <= w <= LARGEST_WEIGHT:
        return w
    weight = check_number(w, "w", at_least=0.0)
    check_weight_range(np.array([weight]), "w")
    return weight


def check_weights(w: Any, size: int) -> Array:
    """Return the weights of a mini-batch; None gives weight 1 to each sample."""
    if w is None:
        return np.ones(size)
    return check_weight_range(check_vector(w, size, "w"), "w")
