"""Kernel, bandwidth and a scale for each feature, chosen by the first samples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from colk import _stored as stored
from colk._validation import Array
from colk.errors import FileFormatError
from colk.kernels import Kernel
from colk.selection.contenders import Contender
from colk.selection.left_out_losses import Course
from colk.selection.relevance import FACTORS, are_alike, feature_scales

__all__ = ["LARGEST", "Entry", "Race", "race"]

# Samples that a race looks at; labels tell kernels apart with fewer, and a race of half a second
# would take longer than what follows it.
LARGEST = 1000
_LABELS = 500

# Fewer samples choose nothing.
_FEWEST = 30

# What the default must be beaten by: standard errors, and a share of its loss. Among those who
# beat it, the errors by which a smoother kernel must be better than a rougher one, and features
# with scales than those without.
_LEAD_ERRORS = 2.5
_LEAD_SHARE = 0.05
_NEXT_ERRORS = 1.0

# Where narrow bandwidths of a winner of regression are preferred: the errors by which they may be
# behind the best. The race is on few atoms, which favours wide kernels.
_NARROWER_ERRORS = 2.0

# Labels are found or not, whatever the margins: the standard errors, and the number, by which
# there must be fewer mistakes. Five in favour and none against is less than one chance in twenty.
_MISTAKES_ERRORS = 1.5
_MISTAKES = 5


# Place of a contender, factor, and whether features are scaled.
Key = tuple[int, float, bool]
_DEFAULT: Key = (0, 1.0, False)


class Entry(NamedTuple):
    """A line of the table: how a kernel with a bandwidth fared.

    Examples
    --------
    >>> Entry("gaussian", 1.0, 0.7, False, 0.25, 0.1, 0.02).loss
    0.25
    """

    name: str
    factor: float  # the bandwidth in units of the standard one
    bandwidth: float
    scaled: bool  # whether features have a scale each
    loss: float  # mean over the samples, each left out
    lead: float  # by how much it is below the default's
    error: float  # standard error of the lead

    @property
    def who(self) -> tuple[str, float, bool]:
        """Kernel, factor, and whether features are scaled: what tells lines apart."""
        return self.name, self.factor, self.scaled


@stored.stores(
    names=stored.ListOf(stored.Text(), size="n_entries"),
    scaled=stored.Array("n_entries", dtype=np.bool_),
    sizes=stored.Array("n_entries", 2, finite=False, above=0.0),  # factors and bandwidths
    losses=stored.Array("n_entries", 3, finite=False),  # with leads and their errors
    default=stored.Count(),
    winner=stored.Count(),
    kernel=stored.Object(Kernel),
    scales=stored.Array("n_features"),
    n_samples=stored.Count(at_most=LARGEST),
)
@dataclass(frozen=True, eq=False)
class Race:
    """Who ran, and who won.

    Parameters
    ----------
    entries : tuple of Entry
        The table: each kernel with each bandwidth, features as they are and scaled.
    default : Entry
        The one that has to be beaten.
    winner : Entry
        The one that won.
    kernel : Kernel
        Its kernel.
    scales : array of shape (p,)
        By what it multiplies the features; 1 where they stay as they are.
    n_samples : int
        Samples that were looked at.

    Examples
    --------
    >>> from colk.selection import contenders_for
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> result = race(X, np.sin(X[:, :1]), contenders_for("auto"))
    >>> result.winner.scaled, bool(result.scales[0] > 5.0 * result.scales[1])
    (True, True)
    """

    entries: tuple[Entry, ...]
    default: Entry
    winner: Entry
    kernel: Kernel
    scales: Array
    n_samples: int

    @property
    def default_won(self) -> bool:
        """Whether nobody beat the default."""
        return self.winner.who == self.default.who

    def _to_file(self) -> dict[str, Any]:
        lines = np.array([[*entry[1:3], *entry[4:]] for entry in self.entries], dtype=np.float64)
        places = [entry.who for entry in self.entries]
        return {
            "names": [entry.name for entry in self.entries],
            "scaled": np.array([entry.scaled for entry in self.entries], dtype=bool),
            "sizes": lines[:, :2],
            "losses": lines[:, 2:],
            "default": places.index(self.default.who),
            "winner": places.index(self.winner.who),
            "kernel": self.kernel,
            "scales": self.scales,
            "n_samples": self.n_samples,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "Race":
        columns = (values[name].tolist() for name in ("sizes", "scaled", "losses"))
        entries = tuple(
            Entry._make((name, *sizes, scaled, *losses))
            for name, sizes, scaled, losses in zip(values["names"], *columns, strict=True)
        )
        winner, kernel, scales = entries[values["winner"]], values["kernel"], values["scales"]
        bandwidth = getattr(kernel, "bandwidth", None)
        if winner.scaled and (not isinstance(bandwidth, tuple) or len(bandwidth) != len(scales)):
            raise FileFormatError("the winner of a race must have a bandwidth for each feature")
        return cls(entries, entries[values["default"]], winner, kernel, scales, values["n_samples"])

    def kernel_for(self, n_features: int) -> Kernel:
        """Return the kernel for points that have gained features, whose scale is 1.

        Parameters
        ----------
        n_features : int
            The number of features, not less than there were.
        """
        if not self.winner.scaled:
            return self.kernel
        gained = n_features - len(self.scales)
        return self.kernel.replace(
            bandwidth=(*self.kernel.bandwidth, *[self.winner.bandwidth] * gained)  # type: ignore[attr-defined]
        )

    def __str__(self) -> str:
        lines = [f"{'kernel':18} {'bandwidth':>9} {'loss':>8} {'lead':>8} ± error"]
        for entry in sorted(self.entries, key=lambda entry: entry.loss):
            name = entry.name + (", scaled" if entry.scaled else "")
            chosen = " <" if entry.who == self.winner.who else ""
            lines.append(
                f"{name:18} {entry.bandwidth:9.4g} {entry.loss:8.4f} "
                f"{entry.lead:8.4f} ± {entry.error:.4f}{chosen}"
            )
        return "\n".join(lines)


def race(
    X: Array,
    Y: Array,
    contenders: Sequence[Contender],
    *,
    bandwidth: str | float = "auto",
    weight: Array | None = None,
    are_labels: bool = False,
    prefers_narrow: bool = False,
) -> Race:
    """Choose a kernel, its bandwidth, and a scale for each feature.

    Each kernel is a ridge on one in five samples, with its standard bandwidth and others in the
    direction in which losses fall, and each sample is predicted by what the others say of it.
    Scales of features, unless the ridge rises about as much along each of them, are found on one
    half of the samples and judged on the other; those that win are then found on all. The first
    kernel with its standard bandwidth is the default, and has to be beaten by 2.5 standard errors
    and by 5 %. Of those who do, a smoother kernel wins where it is better than the rougher one by a
    standard error, as do features with scales. Labels must also be found more often than by the
    default: by 1.5 errors, and by five samples.

    Parameters
    ----------
    X : array of shape (n, p)
        Points. Of more than 1000 samples the first 1000 are looked at; the first 500 where there
        are labels, but for the scales that won.
    Y : array of shape (n, q)
        Targets of standard deviation 1, or labels −1 and 1.
    contenders : sequence of Contender
        The kernels, the default first.
    bandwidth : "auto", "scale", "median" or float
        "auto" chooses the bandwidth and the scales; with others only the kernel is chosen.
    weight : array of shape (n,), optional
        How much each sample counts; those of weight 0 are left out.
    are_labels : bool
        Whether Y holds labels.
    prefers_narrow : bool
        Whether targets that are no labels take the narrowest of the winner's bandwidths that are
        within two errors of the best, as suits a learner of more atoms.

    Examples
    --------
    >>> from colk.selection import contenders_for
    >>> X = np.random.default_rng(0).uniform(-2.0, 2.0, size=(500, 1))
    >>> race(X, np.sin(3.0 * X), contenders_for("auto")).winner.name
    'matern 3/2'
    """
    whole = _course(X, Y, np.ones(len(X)) if weight is None else weight, are_labels)
    course = whole.first(_LABELS) if are_labels else whole
    field = _Field(course, contenders, [kind.unit(bandwidth, X) for kind in contenders])
    if len(course.X) >= _FEWEST:
        field.run_plain(only_standard=bandwidth != "auto")
        if bandwidth == "auto" and (course.spread > 0.0).sum() > 1:
            field.run_scaled()
    return field.result(whole, prefers_narrow=prefers_narrow and not are_labels)


def _course(X: Array, Y: Array, weight: Array, are_labels: bool) -> Course:
    rows = np.flatnonzero(weight > 0.0)[:LARGEST]
    counts = weight[rows] / weight[rows].mean() if len(rows) else weight[rows]
    return Course(X[rows], Y[rows], counts, are_labels)


class _Field:
    """All who run: losses of the samples by kernel, factor, and whether features are scaled."""

    def __init__(
        self, course: Course, contenders: Sequence[Contender], units: Sequence[float]
    ) -> None:
        self.course, self.contenders, self.units = course, contenders, units
        self.losses: dict[Key, Array] = {}
        self.mistakes: dict[Key, Array] = {}
        self.weights: dict[Key, Array] = {}
        self.means: dict[Key, float] = {}  # of the losses, where all samples were judged

    def _run(self, key: Key, judged: slice, scales: Array | None = None) -> None:
        """Note how those samples fare that are to be judged."""
        place, factor, _ = key
        kernel = self.contenders[place].with_bandwidth(factor * self.units[place], scales)
        left_out, n = self.course.run(kernel), len(self.course.X)
        self.weights[key] = left_out.weights
        for table, of in (
            (self.losses, self.course.losses),
            (self.mistakes, self.course.mistakes),
        ):
            table.setdefault(key, np.empty(n))[judged] = of(left_out)[judged]

    def _group(self, place: int, scaled: bool) -> list[Key]:
        return [key for key in self.losses if (key[0], key[2]) == (place, scaled)]

    def _best(self, group: list[Key]) -> Key:
        return min(group, key=lambda key: self.means[key])

    def _best_factor(self, place: int, scaled: bool = False) -> float:
        return self._best(self._group(place, scaled))[1]

    def _walk(self, place: int, scaled: bool, first: float, run: Callable[[float], None]) -> None:
        """Run with a bandwidth, and on in the direction in which losses fall.

        That is looked for first where the kernel before found it.
        """
        start = FACTORS.index(first)
        ways = [FACTORS[start + 1 :], FACTORS[:start][::-1]]
        if place > 0 and not scaled and self._best_factor(place - 1) < first:
            ways.reverse()
        self._go(place, scaled, (first,), run)
        for way in ways:
            self._go(place, scaled, way, run)
            if self._best_factor(place, scaled) != first:
                break

    def _go(
        self, place: int, scaled: bool, way: Sequence[float], run: Callable[[float], None]
    ) -> None:
        """Run with one bandwidth after the other, as long as losses fall."""
        for factor in way:
            run(factor)
            key = (place, factor, scaled)
            self.means[key] = self.course.mean(self.losses[key])
            if self._best_factor(place, scaled) != factor:
                break

    def run_plain(self, only_standard: bool) -> None:
        """Let each kernel run with the features as they are."""
        for place in range(len(self.contenders)):
            run = partial(self._run_plain, place)
            if only_standard:
                self._go(place, False, (1.0,), run)
            else:
                self._walk(place, False, 1.0, run)

    def _run_plain(self, place: int, factor: float) -> None:
        self._run((place, factor, False), slice(None))

    def run_scaled(self) -> None:
        """Let each kernel run with scaled features: what one half found is judged on the other."""
        found: dict[bool, list[Array]] = {}
        for place, contender in enumerate(self.contenders):
            if contender.adds_up not in found:
                found[contender.adds_up] = self._scales_of_halves(self._scout(place))
            if any((scales != 1.0).any() for scales in found[contender.adds_up]):
                by_even, by_odd = found[contender.adds_up]
                run = partial(self._run_scaled, place, by_even, by_odd)
                self._walk(place, True, self._best_factor(place), run)

    def _scales_of_halves(self, scout: int) -> list[Array]:
        """What each half finds; nothing where all samples find the features alike."""
        factor = self._best_factor(scout)
        kernel = self.contenders[scout].with_bandwidth(factor * self.units[scout])
        if are_alike(self.course, kernel, self.weights[scout, factor, False]):
            return []
        return [self._scales(half, scout) for half in self.course.halves()]

    def _run_scaled(self, place: int, by_even: Array, by_odd: Array, factor: float) -> None:
        self._run((place, factor, True), slice(0, None, 2), by_odd)
        self._run((place, factor, True), slice(1, None, 2), by_even)

    def _scout(self, place: int) -> int:
        """The smoothest kernel of the same distances: it finds scales for all of them."""
        adds_up = self.contenders[place].adds_up
        return max(i for i, one in enumerate(self.contenders) if one.adds_up == adds_up)

    def _scales(self, course: Course, place: int) -> Array:
        return feature_scales(
            course, self.contenders[place], self.units[place], self._best_factor(place)
        )

    def result(self, whole: Course, prefers_narrow: bool) -> Race:
        """Return the table, and the winner with its scales, which all samples find."""
        won = self._winner()
        if prefers_narrow and won != _DEFAULT:
            won = self._narrowest(won)
        ran = sorted(self.losses, key=lambda key: (key[0], key[2], key[1]))
        entries = {key: self._entry(key) for key in ran or [_DEFAULT]}
        place, factor, scaled = won
        scales = self._scales(whole, self._scout(place)) if scaled else None
        return Race(
            tuple(entries.values()),
            entries[_DEFAULT],
            entries[won],
            self.contenders[place].with_bandwidth(factor * self.units[place], scales),
            np.ones(self.course.X.shape[1]) if scales is None else scales,
            len(self.course.X),
        )

    def _winner(self) -> Key:
        """The last who beat the one before him."""
        champion = _DEFAULT
        for place, scaled in product(range(len(self.contenders)), (False, True)):
            group = self._group(place, scaled)
            if group and self._beats(self._best(group), champion):
                champion = self._best(group)
        return champion

    def _narrowest(self, champion: Key) -> Key:
        """The same kernel with the narrowest bandwidth that is about as good."""
        place, _, scaled = champion
        as_good = [
            key
            for key in self._group(place, scaled)
            if not self._leads(self.losses, champion, key, _NARROWER_ERRORS, 0.0)
        ]
        return min(as_good, key=lambda key: key[1])

    def _beats(self, key: Key, champion: Key) -> bool:
        """Whether it is better by more than chance, and than the default by more than a trifle."""
        if champion != _DEFAULT:
            return self._leads(self.losses, key, champion, _NEXT_ERRORS, 0.0)
        trifle = _LEAD_SHARE * self.means[_DEFAULT]
        clear = self._leads(self.losses, key, champion, _LEAD_ERRORS, trifle)
        if not self.course.are_labels:
            return clear
        few = (_MISTAKES - 0.5) / len(self.course.X)
        return clear and self._leads(self.mistakes, key, champion, _MISTAKES_ERRORS, few)

    def _leads(
        self, table: dict[Key, Array], key: Key, champion: Key, errors: float, least: float
    ) -> bool:
        """Whether its lead is more than so many standard errors, and more than the least."""
        lead = table[champion] - table[key]
        return self.course.mean(lead) > max(errors * self.course.error(lead), least)

    def _entry(self, key: Key) -> Entry:
        place, factor, scaled = key
        who = (self.contenders[place].name, factor, factor * self.units[place], scaled)
        if key not in self.losses:
            return Entry(*who, np.nan, np.nan, np.nan)
        lead = self.losses[_DEFAULT] - self.losses[key]
        mean, error = self.course.mean, self.course.error
        return Entry(*who, self.means[key], mean(lead), error(lead))
