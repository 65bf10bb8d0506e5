"""Two learners of one stream: the leader predicts, and a rival with another kernel may overtake it.

The kernel that the first samples choose may not suit the samples that follow. The stream is cut
into blocks of 50 samples. At the end of each block

1. the losses of the leader and of the rival, each before it learned the sample, are compared: a
   rival that is ahead becomes the leader; a rival that is far behind, or has not overtaken after a
   long time, is dropped;
2. if the leader's drift detector has raised an alarm, a learner with the default kernel becomes the
   rival at once, and after 500 more samples the kernels race again;
3. the winner of such a race becomes the rival, after it has learned the latest 500 samples;
4. a metric of the leader may turn (`colk.model.turning`).

The contest predicts with one of the two learners. Their mixture by the engine's `FixedShare` is not
better on any of four streams (`colk_lab.tables.mixtures`), and would cost twice as much.

Races also take place if nothing changes, at intervals that double until a rival overtakes.
"""

import math
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._validation import Array
from colk.errors import DivergenceError, FileFormatError
from colk.kernels import Kernel
from colk.learners.colk import KernelLearner
from colk.learners.rescaled import Change, rescaled
from colk.model.recipe import Recipe, has_solver
from colk.model.settings import Settings
from colk.model.trends import for_next_rows
from colk.model.turning import turned
from colk.model.watch import BaselineWatch
from colk.selection import WARM_UP, Race, RecentSamples
from colk.selection.recent import in_units, with_targets

__all__ = ["Contest"]

# Samples between two comparisons.
BLOCK = 50

# A rival overtakes if it is ahead by OVERTAKE standard errors and by the share SHARE of the
# leader's loss, over 3 to 10 blocks in which both learned. Without the share, a rival that is
# compared after each block overtakes by chance if outliers make up most of the loss. It is dropped
# if it is behind by HOPELESS standard errors, over 8 to 10 blocks, and if it has not overtaken in
# TRIAL blocks. A fitted leader predicts better than its losses show, because they are those of its
# last iterate; a rival must therefore be ahead of it by HOPELESS standard errors.
OVERTAKE, SHARE, HOPELESS, TRIAL = 1.0, 0.05, 4.0, 40
FEWEST, ENOUGH, LATEST = 3, 8, 10

# Least number of blocks from a rise to the race, so that all recent samples are later than the
# rise.
WAIT = WARM_UP // BLOCK

# Blocks between two races: at least `patience` if the losses rise, and IDLE times that if they do
# not. The patience doubles with each race, and is reset to PATIENCE after a rival has overtaken.
PATIENCE, IDLE, MOST_PATIENCE = 10, 8, 2**40

# Attributes that a file holds in other fields, or not at all.
_UNSTORED = ("recent", "moving", "watch", "note")


@stored.stores(
    reach=stored.Array(2, stored.Size("n_reached", at_least=1)),
    points=stored.Array(
        stored.Size("n_recent", at_least=1, at_most=WARM_UP),
        stored.Size("n_features", at_least=1),
    ),
    targets=stored.Either(stored.Array("n_recent"), stored.Array("n_recent", "n_targets")),
    weights=stored.Array("n_recent", at_least=0.0),
    default=stored.Object(Kernel),
    latest=stored.Object(Race),
    race=stored.Optional(stored.Object(Race)),
    rival=stored.Optional(stored.Object(KernelLearner, attributes={"n_features": "n_features"})),
    rival_race=stored.Optional(stored.Object(Race)),
    losses=stored.Array(stored.Size("n_blocks", at_most=LATEST), 2, finite=False),
    sums=stored.Array(2, 2, finite=False),
    filled=stored.Count(at_most=BLOCK - 1),
    met=stored.Count(),
    since=stored.Count(),
    patience=stored.Count(1, MOST_PATIENCE),
    is_fitted=stored.Flag(),
    n_alarms=stored.Count(),
    due=stored.Count(at_most=MOST_PATIENCE),
)
class Contest:
    """The rival of a learner, and the record of their losses.

    `begin` creates it from the first samples of a stream. `OnlineFit` learns a part of the stream
    (`part_from`), passes it to the contest (`follow`), and gets the leader at the end of a block
    (`next_leader`).

    Parameters
    ----------
    recent : RecentSamples
        The first samples of the stream, as the learner takes them.
    default : Kernel
        The kernel that needs no race.
    latest : Race
        The race on these samples.

    Examples
    --------
    >>> from colk.model import OnlineFit
    >>> settings = Settings(loss="squared")
    >>> X = np.random.default_rng(0).normal(size=(3600, 4))
    >>> y = np.where(np.arange(3600) < 1200, X[:, 0], X[:, 3]) ** 2  # another feature counts
    >>> online = OnlineFit(Recipe.from_shape(settings, 4).learner(), settings)
    >>> for rows in (slice(0, 500), slice(500, 3600)):
    ...     _ = online.learn(X[rows], y[rows], np.ones(len(X[rows])))
    ...     int(online.contest.latest.scales.argmax())
    0
    3
    """

    def __init__(self, recent: RecentSamples, default: Kernel, latest: Race) -> None:
        self.recent, self.default, self.latest = recent, default, latest
        self.race: Race | None = None  # the race that chose the leader's kernel; None: the default
        self.rival: KernelLearner | None = None
        self.rival_race: Race | None = None
        self.losses = np.empty((0, 2))  # of leader and rival in the latest blocks
        self.sums = np.zeros((2, 2))  # of losses and of weights, at the start of the block
        self.filled = 0  # samples in the block so far
        self.met = 0  # blocks in which this rival has learned, since the leader last changed
        self.since, self.patience, self.due = 0, PATIENCE, 0  # in blocks; see above
        self.is_fitted = False  # whether the weights of the leader are those of a fit
        points = recent.arrays()[0]
        # Smallest and largest value of each feature in all samples so far.
        self.reach = np.array([points.min(axis=0), points.max(axis=0)])
        self.moving: list[Any] = [[], True]  # features that move on, and whether they are used
        self.watch, self.note = BaselineWatch(), ""  # what is to be said about baselines
        self.n_alarms = 0  # of the leader's drift detector, at the start of the block

    # -- learning ----------------------------------------------------------------------------

    @classmethod
    def begin(
        cls,
        samples: tuple[Array, Array, Array],
        learner: KernelLearner,
        settings: Settings,
        fitted: Race | None = None,
    ) -> tuple["Contest", KernelLearner]:
        """Race on the first samples of a stream; return the contest and the leader.

        The learner has learned the samples, with the default kernel or that of a fit. After a fit,
        whose race is given, the fitted model leads, and the winner on these samples is its rival.
        """
        recent = RecentSamples(*samples)
        if fitted is None:
            race = settings.race(*samples, learner.n_outputs or 1)
            contest = cls(recent, learner.kernel, race)
            contest.latest = contest._for_next_rows(race, learner, settings)
            return contest, contest.first_leader(learner, settings)
        default = learner.kernel
        if not fitted.default_won:
            default = Recipe.from_data(settings, samples[0]).kernel
        contest = cls(recent, default, fitted)
        contest.challenge(learner, settings)
        return contest, learner

    def first_leader(self, default: KernelLearner, settings: Settings) -> KernelLearner:
        """Return the leader after the first race: its winner, or the default."""
        winner = None if self.latest.default_won else self._trained(self.latest, default, settings)
        leader = default
        if winner is not None:
            winner.take_detector(default)
            leader, self.race, self.rival = winner, self.latest, default
        self.sums = self._sums(leader)
        return leader

    def challenge(self, leader: KernelLearner, settings: Settings) -> None:
        """Give a fitted leader, whose kernel the latest race chose, a rival from a new race."""
        self.race, self.is_fitted = None if self.latest.default_won else self.latest, True
        self._race_again(leader, settings)
        self.sums, self.patience = self._sums(leader), PATIENCE

    def part_from(self, start: int, stop: int) -> int:
        """Return where the part of these rows ends that is in one block."""
        return min(start + BLOCK - self.filled, stop)

    def follow(self, X: Array, Y: Array, weight: Array) -> None:
        """Pass a part that the leader has learned to the rival and to the recent samples."""
        if self.rival is not None:
            try:
                self.rival.learn_checked(X, Y, weight)
            except DivergenceError:
                self._set_rival(None)
        self.recent.add(X, Y, weight)
        self.filled += len(X)

    @property
    def is_block_full(self) -> bool:
        """Whether leader and rival can be compared."""
        return self.filled == BLOCK

    def next_leader(self, leader: KernelLearner, settings: Settings) -> KernelLearner:
        """Compare leader and rival at the end of a block; return the leader of the next block."""
        self.filled, self.since = 0, self.since + 1
        known = np.vstack([self.reach, self.recent.points(BLOCK)])
        self.reach = np.array([known.min(axis=0), known.max(axis=0)])
        if self.watch.is_due():
            self.note = self.watch.next_block(leader, self.recent.arrays(), BLOCK) or self.note
        self._note_losses(leader)
        if self.rival is not None and self._is_overtaken():
            leader = self._overtaken(leader, self.rival)
        else:
            if (self._lead(ENOUGH) > HOPELESS or self.met >= TRIAL) and self.due == 0:
                self._set_rival(None)
            leader = self._turned(leader)
        self._watch(leader, settings)
        if self.due > 0:
            self.due -= 1
            if self.due == 0:
                self._race_again(leader, settings)
        self.sums = self._sums(leader)
        return leader

    def rescale(self, points: Change | None, targets: Change | None) -> None:
        """Move samples and rival to other units; see `OnlineFit.rescale`."""
        self.recent = RecentSamples(*in_units(self.recent.arrays(), points, targets))
        if points is not None:
            self.reach = points[0] * self.reach + points[1]
        if self.rival is not None:
            self.rival = rescaled(self.rival, points, targets)

    def begin_again(self, leader: KernelLearner, targets: Array) -> None:
        """Teach an empty leader the latest samples, with their targets in new units."""
        samples = with_targets(self.recent.arrays(), targets)
        self.recent.add(*samples)
        leader.learn_checked(*samples)
        self._set_rival(None)
        self.watch = BaselineWatch()
        self.losses, self.is_fitted = self.losses[:0], False
        self.sums, self.patience, self.due = self._sums(leader), PATIENCE, WAIT

    # -- the end of a block ------------------------------------------------------------------

    def _sums(self, leader: KernelLearner) -> Array:
        rival = (0.0, 0.0) if self.rival is None else self.rival.loss_sums
        return np.array([leader.loss_sums, rival])

    def _note_losses(self, leader: KernelLearner) -> None:
        """Add the mean losses of leader and rival in this block; NaN without a rival."""
        lost, weight = (self._sums(leader) - self.sums).T
        means = np.divide(lost, weight, out=np.full(2, np.nan), where=weight > 0.0)
        self.losses = np.vstack([self.losses, means])[-LATEST:]
        self.met += self.rival is not None

    def _is_overtaken(self) -> bool:
        """Whether the rival is ahead of the leader by the required margins."""
        if self.is_fitted:
            return self._lead(ENOUGH) < -HOPELESS
        if self._lead(FEWEST) >= -OVERTAKE:
            return False
        leader, rival = self._met_losses().mean(axis=0).tolist()
        return bool(leader - rival > SHARE * abs(leader))

    def _met_losses(self) -> Array:
        """Return the losses of leader and rival in the latest blocks in which both learned."""
        return self.losses[np.isfinite(self.losses).all(axis=1)]

    def _lead(self, fewest: int) -> float:
        """Lead of the leader in standard errors; 0 before they have met in this many blocks."""
        leader, rival = self._met_losses().T
        leads = rival - leader
        if len(leads) < fewest:
            return 0.0
        error = leads.std(ddof=1) / math.sqrt(len(leads))
        return float(leads.mean() / error) if error > 0.0 else 0.0

    def _overtaken(self, leader: KernelLearner, rival: KernelLearner) -> KernelLearner:
        """Swap leader and rival; return the new leader."""
        rival.take_detector(leader)
        self.rival, self.race, self.rival_race = leader, self.rival_race, self.race
        self.losses = self.losses[np.isfinite(self.losses[:, 1])][:, ::-1]
        self.patience, self.met, self.is_fitted = PATIENCE, 0, False
        return rival

    def _turned(self, leader: KernelLearner) -> KernelLearner:
        """Return the leader, whose metric follows the latest samples."""
        found = turned(leader, self.race, self.recent.arrays())
        if found is not None:
            leader, self.race = found
        return leader

    def _set_rival(self, rival: KernelLearner | None, race: Race | None = None) -> None:
        """Give the leader another rival, or none."""
        self.rival, self.rival_race, self.met = rival, race, 0
        self.losses[:, 1] = np.nan

    def _watch(self, leader: KernelLearner, settings: Settings) -> None:
        """Plan a race if the losses have risen, or if the last race was long ago."""
        n_before, self.n_alarms = self.n_alarms, len(leader.drifts)
        if self.due > 0:
            return
        if self.n_alarms > n_before:
            self.due, self.losses = max(WAIT, self.patience - self.since), self.losses[:0]
            if self.rival is None and self.race is not None:
                self._set_rival(self._trained(None, leader, settings))
        elif self.since >= IDLE * self.patience:
            self.due = 1

    def _race_again(self, leader: KernelLearner, settings: Settings) -> None:
        """Race on the recent samples; the winner becomes the rival."""
        found = settings.race(*self.recent.arrays(), leader.n_outputs or 1)
        found = self._for_next_rows(found, leader, settings)
        self.latest, self.since = found, 0
        self.patience = min(2 * self.patience, MOST_PATIENCE)
        race = None if found.default_won else found
        if race is not None or self.race is not None:
            self._set_rival(self._trained(race, leader, settings), race)

    def _for_next_rows(self, race: Race, like: KernelLearner, settings: Settings) -> Race:
        """Return the race with bandwidths that suit the next samples; see `colk.model.trends`."""
        if settings.rows is not None:
            return race
        found, *self.moving = for_next_rows(
            race,
            self.recent.arrays(),
            self.reach,
            lambda one: self._fresh(None if one.default_won else one, like, settings),
            settings.categorical,
        )
        return found

    def _fresh(self, race: Race | None, like: KernelLearner, settings: Settings) -> KernelLearner:
        """Return a learner without samples with the kernel of a race, or the default one."""
        kernel = self.default if race is None else race.kernel_for(self.recent.n_features)
        return Recipe.from_kernel(settings, kernel).learner(like.n_outputs)

    def _trained(
        self, race: Race | None, like: KernelLearner, settings: Settings
    ) -> KernelLearner | None:
        """Return a learner of the recent samples with the kernel of a race, or the default one."""
        learner = self._fresh(race, like, settings)
        try:
            learner.learn_checked(*self.recent.arrays())
        except DivergenceError:
            return None
        return learner

    # -- more features and outputs -----------------------------------------------------------

    def kernel_for(self, n_features: int) -> Kernel:
        """Return the kernel of the leader for points with additional features."""
        return self.default if self.race is None else self.race.kernel_for(n_features)

    def grow(self, n_features: int, n_outputs: int) -> None:
        """Extend the rival and the recent samples to more features and outputs."""
        if n_features > self.recent.n_features:
            self.reach = np.pad(self.reach, ((0, 0), (0, n_features - self.recent.n_features)))
            self.recent = self.recent.widened(n_features)
        if self.rival is not None:
            race = self.rival_race
            kernel = self.default if race is None else race.kernel_for(n_features)
            self.rival.grow(n_features, n_outputs, kernel)

    # -- files and pickles -------------------------------------------------------------------

    def _to_file(self) -> dict[str, Any]:
        samples = zip(("points", "targets", "weights"), self.recent.arrays(), strict=True)
        return {**dict(samples), **{n: v for n, v in vars(self).items() if n not in _UNSTORED}}

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "Contest":
        recent = RecentSamples(*(values.pop(name) for name in ("points", "targets", "weights")))
        if any(
            race is not None and len(race.scales) > recent.n_features
            for race in (values["latest"], values["race"], values["rival_race"])
        ):
            raise FileFormatError("a race has more features than the samples")
        if values["reach"].shape[1] != recent.n_features:
            raise FileFormatError("the range of the features must be that of all of them")
        contest = cls(recent, values["default"], values["latest"])
        vars(contest).update(values)
        return contest

    def check(self, leader: KernelLearner, solver: str) -> None:
        """Raise FileFormatError if the leader, the rival and the samples do not fit together."""
        points, targets, _ = self.recent.arrays()
        if points.shape[1] != leader.n_features:
            raise FileFormatError("the recent samples have other features than the model")
        leader.loss.check_targets(targets, leader.n_outputs or 1, len(points))
        sides = [(leader, self.race)]
        if self.rival is not None:
            sides.append((self.rival, self.rival_race))
        for learner, race in sides:
            kernel = self.default if race is None else race.kernel_for(leader.n_features)
            if learner.kernel != kernel:
                raise FileFormatError("the kernel is neither the default nor that of a race")
            same = (learner.loss, learner.risk, learner.n_outputs, learner.is_vector)
            if not has_solver(learner, solver) or same != (
                leader.loss, leader.risk, leader.n_outputs, leader.is_vector,
            ):  # fmt: skip
                raise FileFormatError("leader and rival must have the same settings")
