"""A learner of a stream: its first samples choose the kernel, and later ones may change it.

The first 500 samples are kept. They choose the kernel by a race, and a `Contest` follows: a rival
with another kernel may learn beside the learner, and take over. If the kernel is given, neither
happens. After a fit, the same begins again with the learner of the fit.
"""

from collections.abc import Sequence
from copy import copy, deepcopy
from typing import Any, Self

from sklearn.exceptions import ConvergenceWarning

from colk import _stored as stored
from colk._engine.running_scale import RunningScale
from colk._validation import Array
from colk.errors import FileFormatError, warn_caller
from colk.kernels import Kernel
from colk.kernels.of_rows import OfRows
from colk.learners.colk import KernelLearner
from colk.learners.rescaled import Change, Move, rescaled
from colk.model.contest import Contest
from colk.model.recipe import has_solver
from colk.model.settings import Settings
from colk.model.terms import as_loss, as_risk
from colk.model.trends import trend_note
from colk.schedules import Rate
from colk.selection import KeptSamples, Race, Relevance
from colk.selection.recent import in_units, with_targets

__all__ = ["OnlineFit"]


@stored.stores(
    learner=stored.Object(KernelLearner),
    fitted_race=stored.Optional(stored.Object(Race)),
    fitted_relevance=stored.Optional(stored.Object(Relevance)),
    kept=stored.Optional(stored.Object(KeptSamples)),
    contest=stored.Optional(stored.Object(Contest)),
)
class OnlineFit:
    """A learner, and what chooses its kernel.

    Parameters
    ----------
    learner : KernelLearner
        The learner.
    settings : Settings
        Its settings.
    fitted_race : Race, optional
        The race by which a fit before the stream chose the kernel.
    fitted_relevance : Relevance, optional
        The relevance of the features in that fit.

    Attributes
    ----------
    kept : KeptSamples or None
        The samples until there are enough for a race; None if the kernel is given or chosen.
    contest : Contest or None
        The learner and its rival, after the first race.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.model import Recipe
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 2))
    >>> settings = Settings(loss="squared")
    >>> online = OnlineFit(Recipe.from_shape(settings, 2).learner(), settings)
    >>> for rows in (slice(0, 400), slice(400, 600)):
    ...     _ = online.learn(X[rows], np.sin(X[rows, 0]), np.ones(len(X[rows])))
    ...     print(online.race is None, online.learner.steps)
    True 400
    False 600
    """

    has_notes = False  # whether there is something to warn of
    _moves: tuple[Move, ...] = ()  # of the scale of the features, and rows to be learned before
    _told: frozenset[object] = frozenset()

    def __init__(
        self,
        learner: KernelLearner,
        settings: Settings,
        fitted_race: Race | None = None,
        fitted_relevance: Relevance | None = None,
    ) -> None:
        self.learner, self.settings = learner, settings
        self.fitted_race, self.fitted_relevance = fitted_race, fitted_relevance
        self.kept = None
        if settings.is_open:
            self.kept = KeptSamples()
            if not learner.is_watched:
                learner.watch_drift()
        self.contest: Contest | None = None

    @property
    def race(self) -> Race | None:
        """The latest comparison of kernels; None before the first, or if the kernel is given."""
        return self.fitted_race if self.contest is None else self.contest.latest

    @property
    def kernel(self) -> Kernel:
        """The kernel of points that are rows of numbers."""
        kernel = self.learner.kernel
        return kernel.kernel if isinstance(kernel, OfRows) else kernel

    @property
    def step_size(self) -> Rate | None:
        """The step size of the gradient solver; None for Newton's."""
        if self.settings.solver == "newton":
            return None
        rate = self.learner.step_size
        return rate.initial if rate.power == 0.0 else rate

    @property
    def is_pending(self) -> bool:
        """Whether samples must be passed to `follow` after the learner has learned them."""
        return self.kept is not None or self.contest is not None

    # -- learning ----------------------------------------------------------------------------

    def learn(self, X: Array, Y: Array, weight: Array) -> tuple[float, float]:
        """Learn checked samples; return the sums of losses before learning, and of weights.

        Parameters
        ----------
        X, Y, weight : arrays
            Samples, as the learner takes them.
        """
        lost, seen, start = 0.0, 0.0, 0
        while start < len(X):
            part = slice(start, self._stop(start, len(X)))
            samples = X[part], Y[part], weight[part]
            lost_before, seen_before = self.learner.loss_sums
            self.learner.learn_checked(*samples)
            lost_after, seen_after = self.learner.loss_sums
            lost, seen = lost + (lost_after - lost_before), seen + (seen_after - seen_before)
            self.follow(*samples)
            self._move_if_due(len(samples[0]))
            start = part.stop
        return lost, seen

    def expect(self, moves: Sequence[Move]) -> None:
        """Note the rows after which the scale of the features changes, before they are learned.

        Parameters
        ----------
        moves : sequence
            Numbers of rows, and changes as `rescale` takes them.
        """
        self._moves = tuple(moves)

    def _move_if_due(self, n_rows: int) -> None:
        """Count rows that were learned; change the scale of the features if it changes here."""
        self._moves = tuple((place - n_rows, change) for place, change in self._moves)
        if self._moves and self._moves[0][0] == 0:
            change, self._moves = self._moves[0][1], self._moves[1:]
            self.rescale(points=change)

    def rescale(self, points: Change | None = None, targets: Change | None = None) -> bool:
        """Move all that was learned to other units; return whether there are any.

        Parameters
        ----------
        points : tuple of arrays of shape (p,), optional
            a and b, if a point x is a·x + b from now on. Default: points stay.
        targets : tuple of arrays of shape (q,), optional
            The same for targets. Default: targets stay.
        """
        if points is None and targets is None:
            return False
        self.learner = rescaled(self.learner, points, targets)
        if self.contest is not None:
            self.contest.rescale(points, targets)
        elif self.kept is not None:
            samples = self.kept.arrays()
            self.kept = KeptSamples().including(*in_units(samples, points, targets))
        return True

    def learn_numbers(
        self, X: Array, targets: Array, weight: Array, scale: RunningScale
    ) -> tuple[float, float]:
        """Scale the targets row by row, and learn the samples; return what `learn` returns.

        If the scale is stale, all begins again with the samples since then.

        Parameters
        ----------
        X, targets, weight : arrays
            Samples; those of weight 0 do not change the scale.
        scale : RunningScale
            The scale of the targets, which is updated.
        """
        lost, seen, start = 0.0, 0.0, 0
        self.hold(scale)
        while start < len(X):
            part = slice(start, start + min(scale.latest.until_full, scale.until_due))
            rows, counted = targets[part].reshape(len(X[part]), -1).copy(), weight[part] > 0.0
            scaled = rows[counted]
            scale.absorb(scaled, weight[part][counted])
            scale.check_places()
            rows[counted] = scaled
            found = self.learn(X[part], rows.reshape(targets[part].shape), weight[part])
            lost, seen, start = lost + found[0], seen + found[1], part.stop
            self.follow_scale(scale)
        return lost, seen

    def hold(self, scale: RunningScale) -> None:
        """Let only `follow_scale` change the scale of the targets, if the model remembers.

        If the relationship may change, the function keeps its values in units of a scale that
        moves row by row, and follows the targets with it.

        Parameters
        ----------
        scale : RunningScale
            The scale of the targets.
        """
        if self.settings.remembers:
            scale.holds = True

    def follow_scale(self, scale: RunningScale) -> bool:
        """Move to the scale of the targets, or begin again if it is stale; return whether it was.

        Parameters
        ----------
        scale : RunningScale
            The scale of the targets. If it is stale, it continues with the latest rows, and the
            samples before are forgotten.
        """
        if not scale.is_stale:
            return scale.is_due and self.rescale(targets=scale.follow())
        leader, targets = self.learner.begun_again(), scale.renew()
        if self.contest is not None:
            self.contest.begin_again(leader, targets)
        elif self.kept is not None:
            samples = with_targets(self.kept.arrays(), targets)
            leader.learn_checked(*samples)
            self.kept = KeptSamples().including(*samples)
        leader.take_detector(self.learner)
        self.learner = leader
        return True

    def _stop(self, start: int, stop: int) -> int:
        """Return where the part that starts here ends: at a choice of the kernel, or at a move."""
        if self._moves:
            stop = min(stop, start + self._moves[0][0])
        if self.kept is not None:
            return min(start + self.kept.lacking, stop)
        return stop if self.contest is None else self.contest.part_from(start, stop)

    def follow(self, X: Array, Y: Array, weight: Array) -> None:
        """Choose the kernel by samples that the learner has learned; another learner may take over.

        Parameters
        ----------
        X, Y, weight : arrays
            One sample, or several that end at the next choice or before it.
        """
        if self.kept is not None:
            self.kept = self.kept.including(X, Y, weight)
            if self.kept.lacking == 0:
                samples = self.kept.arrays()
                self.contest, self.learner = Contest.begin(
                    samples, self.learner, self.settings, self.fitted_race
                )
                self.kept = None
                self._look_for_notes(self.contest)
        elif self.contest is not None:
            self.contest.follow(X, Y, weight)
            if self.contest.is_block_full:
                self.learner = self.contest.next_leader(self.learner, self.settings)
                self._look_for_notes(self.contest)

    def _look_for_notes(self, contest: Contest) -> None:
        """See whether there is something new to say."""
        moving, _ = contest.moving
        self.has_notes = bool(contest.note or not self._told.issuperset(moving))

    def warn(self, names: Sequence[object]) -> None:
        """Warn of features that move on, and of baselines that predict better; each only once.

        Parameters
        ----------
        names : sequence
            Names of the features.
        """
        contest, self.has_notes = self.contest, False
        if contest is None:
            return
        moving, is_used = contest.moving
        new = [place for place in moving if place not in self._told]
        if new:
            warn_caller(trend_note([names[place] for place in new], is_used), UserWarning)
        if contest.note and "baseline" not in self._told:
            warn_caller(contest.note, ConvergenceWarning)
        self._told = self._told.union(new, ["baseline"] if contest.note else [])
        contest.note = ""

    # -- more features and outputs -----------------------------------------------------------

    def grow(self, n_features: int, n_outputs: int) -> None:
        """Extend the learner to more features and outputs; see `KernelLearner.grow`."""
        learner = self.learner
        if (n_features, n_outputs) != (learner.n_features, learner.n_outputs):
            learner.grow(n_features, n_outputs, self._kernel_for(n_features))
            if self.contest is not None:
                self.contest.grow(n_features, n_outputs)

    def _kernel_for(self, n_features: int) -> Kernel | None:
        """Return the kernel for this many features; None if it suits any number of them."""
        if self.contest is not None:
            return self.contest.kernel_for(n_features)
        race = self.fitted_race
        return None if race is None or race.default_won else race.kernel_for(n_features)

    # -- copies and files --------------------------------------------------------------------

    def saved(self) -> Self:
        """Return a copy that shares nothing that learning changes, except for the detector."""
        found = copy(self)
        found.learner, found.contest = copy(self.learner), deepcopy(self.contest)
        return found

    def _to_file(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in ("learner", "kept", "contest")}
        is_fit = self.contest is None
        found["fitted_race"] = self.fitted_race if is_fit else None
        found["fitted_relevance"] = self.fitted_relevance if is_fit else None
        return found

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> Self:
        """Return the stream without its settings, which `resume` sets and checks."""
        online = cls.__new__(cls)
        vars(online).update(values, settings=Settings())
        return online

    def resume(self, settings: Settings, n_features: int) -> Self:
        """Take the settings of the model from a file; return the stream if its parts fit together.

        Parameters
        ----------
        settings : Settings
            The settings.
        n_features : int
            Number of features of the model.
        """
        self.settings, learner = settings, self.learner
        if not has_solver(learner, settings.solver):
            raise FileFormatError(f"the learner does not have solver={settings.solver!r}")
        if (learner.loss, learner.risk) != (as_loss(settings.loss), as_risk(settings.risk)):
            raise FileFormatError("the learner does not have the loss and the risk of the model")
        if learner.has_learned and _width(learner) != n_features:
            raise FileFormatError("the learner does not have the features of the model")
        self._check_race(n_features)
        self._check_kept(n_features)
        return self

    def _check_race(self, n_features: int) -> None:
        race, is_open = self.race, self.settings.is_open
        if not is_open and (race is not None or self.is_pending):
            raise FileFormatError(
                "the kernel is given, so the model must not have a race of kernels"
            )
        if self.is_pending and not self.learner.is_watched:
            raise FileFormatError("no drift detector takes the losses of the model")
        if is_open and race is None and self.kept is None:
            raise FileFormatError("the kernel is not chosen, and there are no samples to choose it")
        if race is not None and len(race.scales) > n_features:
            raise FileFormatError("the race has more features than the model")
        if self.contest is not None:
            if self.kept is not None:
                raise FileFormatError("samples are not kept after the first race of kernels")
            self.contest.check(self.learner, self.settings.solver)
            return
        won = None if race is None or race.default_won else race.kernel_for(n_features)
        if won is not None and self.kernel != won:
            raise FileFormatError("the kernel is not the one that won the race")

    def _check_kept(self, n_features: int) -> None:
        learner = self.learner
        if self.kept is None or self.kept.count == 0:
            return
        points, targets, _ = self.kept.arrays()
        if not learner.has_learned or points.shape[1] > n_features:
            raise FileFormatError("the kept samples have other features than the model")
        n_targets = learner.stream.window.targets.shape[1]
        is_vector = learner.is_vector or (learner.loss.couples_outputs and targets.ndim == 1)
        if targets.shape[1:] != (() if is_vector else (n_targets,)):
            raise FileFormatError("the kept targets have other outputs than the model")
        learner.loss.check_targets(targets, learner.n_outputs or 1, len(points))


def _width(learner: KernelLearner) -> int:
    """Return the number of features, also of atoms that are stored as a sparse matrix."""
    kernel = learner.kernel
    return kernel.rows.n_columns if isinstance(kernel, OfRows) else learner.n_features
