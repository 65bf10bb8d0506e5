"""The race: compare kernels, bandwidths and feature scales by leave-one-out losses."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import numpy as np

from colk._validation import Array
from colk.selection.contenders import Contender
from colk.selection.left_out_losses import RaceSamples
from colk.selection.relevance import FACTORS, are_alike, feature_scales
from colk.selection.result import LARGEST, Entry, Race

__all__ = ["race"]

# For labels this many samples are enough, and a race of half a second would take longer than the
# fit.
_LABELS = 500

# With fewer samples the default wins.
_FEWEST = 30

# To replace the default, a kernel must be better by this many standard errors, and by this share of
# its loss. Among such kernels, a smoother one must be better than a rougher one by _NEXT_ERRORS
# standard errors, and so must features with scales.
_LEAD_ERRORS = 2.5
_LEAD_SHARE = 0.05
_NEXT_ERRORS = 1.0

# If narrow bandwidths are preferred, they may be this many standard errors behind the best, because
# the race uses few atoms, which favours wide kernels.
_NARROWER_ERRORS = 2.0

# For labels there must also be fewer mistakes: by this many standard errors, and by this number.
# Five in favour and none against has a probability below 1/20 by chance.
_MISTAKES_ERRORS = 1.5
_MISTAKES = 5


# Index of the kernel, factor of the bandwidth, and whether features have scales.
Key = tuple[int, float, bool]
_DEFAULT: Key = (0, 1.0, False)


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

    For each kernel, a ridge regression with one in five samples as atoms predicts each sample
    without having seen it: with the standard bandwidth, and with others in the direction in which
    the loss falls. Feature scales are found on one half of the samples and judged on the other; the
    winner's scales are then found on all samples. They are not tried if the ridge regression
    changes about equally along all features. The default is the first kernel with its standard
    bandwidth. Another must be better by 2.5 standard errors and by 5 % of the loss. Among these, a
    smoother kernel wins if it is better than the rougher one by a standard error, and so do feature
    scales. For labels there must also be fewer mistakes, by 1.5 standard errors and by five.

    Parameters
    ----------
    X : array of shape (n, p)
        Points. At most the first 1000 samples are used; for labels the first 500, except for the
        scales of the winner.
    Y : array of shape (n, q)
        Targets of standard deviation 1, or labels −1 and 1.
    contenders : sequence of Contender
        The kernels, the default first.
    bandwidth : "auto", "scale", "median" or float
        "auto" chooses the bandwidth and the scales; with others only the kernel is chosen.
    weight : array of shape (n,), optional
        Weights of the samples; those of weight 0 are ignored.
    are_labels : bool
        Whether Y holds labels.
    prefers_narrow : bool
        Whether the winner of a regression takes the narrowest of its bandwidths within two standard
        errors of the best, which suits a learner with more atoms.

    Examples
    --------
    >>> from colk.selection import contenders_for
    >>> X = np.random.default_rng(0).uniform(-2.0, 2.0, size=(500, 1))
    >>> race(X, np.sin(3.0 * X), contenders_for("auto")).winner.name
    'matern 3/2'
    """
    counts = np.ones(len(X)) if weight is None else weight
    whole = _samples(X, Y, counts, are_labels, contenders[0].categorical)
    samples = whole.first(_LABELS) if are_labels else whole
    field = _Field(samples, contenders, [kind.unit(bandwidth, X) for kind in contenders])
    if len(samples.X) >= _FEWEST:
        field.run_plain(only_standard=bandwidth != "auto")
        if bandwidth == "auto" and (samples.spread > 0.0).sum() > 1:
            field.run_scaled()
    return field.result(whole, prefers_narrow=prefers_narrow and not are_labels)


def _samples(
    X: Array, Y: Array, weight: Array, are_labels: bool, categorical: tuple[int, ...]
) -> RaceSamples:
    rows = np.flatnonzero(weight > 0.0)[:LARGEST]
    counts = weight[rows] / weight[rows].mean() if len(rows) else weight[rows]
    return RaceSamples(X[rows], Y[rows], counts, are_labels, categorical)


class _Field:
    """Losses of the samples for each kernel, factor, and with or without feature scales."""

    def __init__(
        self, samples: RaceSamples, contenders: Sequence[Contender], units: Sequence[float]
    ) -> None:
        self.samples, self.contenders, self.units = samples, contenders, units
        self.losses: dict[Key, Array] = {}
        self.mistakes: dict[Key, Array] = {}
        self.weights: dict[Key, Array] = {}
        self.means: dict[Key, float] = {}  # of the losses, if all samples were judged

    def _run(self, key: Key, judged: slice, scales: Array | None = None) -> None:
        """Record losses and mistakes of the samples to be judged."""
        place, factor, _ = key
        kernel = self.contenders[place].with_bandwidth(factor * self.units[place], scales)
        left_out, n = self.samples.run(kernel), len(self.samples.X)
        self.weights[key] = left_out.weights
        for table, of in (
            (self.losses, self.samples.losses),
            (self.mistakes, self.samples.mistakes),
        ):
            table.setdefault(key, np.empty(n))[judged] = of(left_out)[judged]

    def _group(self, place: int, scaled: bool) -> list[Key]:
        return [key for key in self.losses if (key[0], key[2]) == (place, scaled)]

    def _best(self, group: list[Key]) -> Key:
        return min(group, key=lambda key: self.means[key])

    def _best_factor(self, place: int, scaled: bool = False) -> float:
        return self._best(self._group(place, scaled))[1]

    def _walk(self, place: int, scaled: bool, first: float, run: Callable[[float], None]) -> None:
        """Try a bandwidth, then others in the direction in which the loss falls.

        The direction of the kernel before is tried first.
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
        """Try one bandwidth after the other, as long as the loss falls."""
        for factor in way:
            run(factor)
            key = (place, factor, scaled)
            self.means[key] = self.samples.mean(self.losses[key])
            if self._best_factor(place, scaled) != factor:
                break

    def run_plain(self, only_standard: bool) -> None:
        """Try each kernel without feature scales."""
        for place in range(len(self.contenders)):
            run = partial(self._run_plain, place)
            if only_standard:
                self._go(place, False, (1.0,), run)
            else:
                self._walk(place, False, 1.0, run)

    def _run_plain(self, place: int, factor: float) -> None:
        self._run((place, factor, False), slice(None))

    def run_scaled(self) -> None:
        """Try each kernel with feature scales found on one half and judged on the other."""
        found: dict[bool, list[Array]] = {}
        for place, contender in enumerate(self.contenders):
            if contender.is_l1 not in found:
                found[contender.is_l1] = self._scales_of_halves(self._scout(place))
            if any((scales != 1.0).any() for scales in found[contender.is_l1]):
                by_even, by_odd = found[contender.is_l1]
                run = partial(self._run_scaled, place, by_even, by_odd)
                self._walk(place, True, self._best_factor(place), run)

    def _scales_of_halves(self, scout: int) -> list[Array]:
        """Return the scales that each half finds; none if all features count alike."""
        factor = self._best_factor(scout)
        kernel = self.contenders[scout].with_bandwidth(factor * self.units[scout])
        if are_alike(self.samples, kernel, self.weights[scout, factor, False]):
            return []
        return [self._scales(half, scout) for half in self.samples.halves()]

    def _run_scaled(self, place: int, by_even: Array, by_odd: Array, factor: float) -> None:
        self._run((place, factor, True), slice(0, None, 2), by_odd)
        self._run((place, factor, True), slice(1, None, 2), by_even)

    def _scout(self, place: int) -> int:
        """Return the smoothest kernel with the same distance, which finds the scales for all."""
        is_l1 = self.contenders[place].is_l1
        return max(i for i, one in enumerate(self.contenders) if one.is_l1 == is_l1)

    def _scales(self, samples: RaceSamples, place: int) -> Array:
        return feature_scales(
            samples, self.contenders[place], self.units[place], self._best_factor(place)
        )

    def result(self, whole: RaceSamples, prefers_narrow: bool) -> Race:
        """Return the table, and the winner with the scales that all samples find."""
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
            np.ones(self.samples.X.shape[1]) if scales is None else scales,
            len(self.samples.X),
        )

    def _winner(self) -> Key:
        """Return the winner: kernels are compared with the best so far, one by one."""
        champion = _DEFAULT
        for place, scaled in product(range(len(self.contenders)), (False, True)):
            group = self._group(place, scaled)
            if group and self._beats(self._best(group), champion):
                champion = self._best(group)
        return champion

    def _narrowest(self, champion: Key) -> Key:
        """Return the same kernel with the narrowest bandwidth that is about as good."""
        place, _, scaled = champion
        as_good = [
            key
            for key in self._group(place, scaled)
            if not self._leads(self.losses, champion, key, _NARROWER_ERRORS, 0.0)
        ]
        return min(as_good, key=lambda key: key[1])

    def _beats(self, key: Key, champion: Key) -> bool:
        """Whether it is better than the best so far by the required margins."""
        if champion != _DEFAULT:
            return self._leads(self.losses, key, champion, _NEXT_ERRORS, 0.0)
        least = _LEAD_SHARE * self.means[_DEFAULT]
        clear = self._leads(self.losses, key, champion, _LEAD_ERRORS, least)
        if not self.samples.are_labels:
            return clear
        few = (_MISTAKES - 0.5) / len(self.samples.X)
        return clear and self._leads(self.mistakes, key, champion, _MISTAKES_ERRORS, few)

    def _leads(
        self, table: dict[Key, Array], key: Key, champion: Key, errors: float, least: float
    ) -> bool:
        """Whether it leads by more than `errors` standard errors, and by more than `least`."""
        lead = table[champion] - table[key]
        return self.samples.mean(lead) > max(errors * self.samples.error(lead), least)

    def _entry(self, key: Key) -> Entry:
        place, factor, scaled = key
        who = (self.contenders[place].name, factor, factor * self.units[place], scaled)
        if key not in self.losses:
            return Entry(*who, np.nan, np.nan, np.nan)
        lead = self.losses[_DEFAULT] - self.losses[key]
        mean, error = self.samples.mean, self.samples.error
        return Entry(*who, self.means[key], mean(lead), error(lead))
