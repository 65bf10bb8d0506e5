"""The race: compare kernels, bandwidths and feature scales by leave-one-out losses."""

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np

from colk._engine.thread_pool import run_both
from colk._validation import Array
from colk.selection.contenders import Contender
from colk.selection.field import DEFAULT, Key, RaceRuns, Shape
from colk.selection.left_out_losses import RaceSamples
from colk.selection.relevance import (
    MOST_ROWS,
    RelevanceSearch,
    as_laplacian,
    rows_for_relevance,
)
from colk.selection.result import LARGEST, Entry, Race

__all__ = ["race"]

# For labels this many samples are enough. A race with more would take half a second, longer than
# the fit.
_LABELS = 500

# With fewer samples the default wins.
_FEWEST = 30

# To replace the default, a kernel must be better by this many standard errors, and by this share of
# its loss. Among such kernels, a smoother one must be better than a rougher one by _NEXT_ERRORS
# standard errors. A kernel with feature scales must be better than one without by the same number,
# or by _SCALED_ERRORS_IF_SMALL with fewer than _SMALL samples.
_LEAD_ERRORS = 2.5
_LEAD_SHARE = 0.05
_NEXT_ERRORS = 1.0
_SMALL = 500
_SCALED_ERRORS_IF_SMALL = 2.0

# If the sizes of all features are within this factor of each other, features get no scales.
_ALIKE = 1.5

# If narrow bandwidths are preferred, they may be this many standard errors behind the best, because
# the race uses few atoms, which favours wide kernels.
_NARROWER_ERRORS = 2.0

# For labels there must also be fewer mistakes: by this many standard errors, and by this number.
# Five in favour and none against has a probability below 1/20 by chance.
_MISTAKES_ERRORS = 1.5
_MISTAKES = 5


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
    the loss falls. Kernels that are far behind after 200 samples drop out. Feature scales are found
    by marginal likelihood on the last samples (`RelevanceSearch`) and judged on the others. If the
    samples are few, the scales of the winner are then refined on all of them, and its bandwidth is
    chosen again with these scales. The default is the first kernel with its standard bandwidth.
    Another must be better by 2.5 standard errors and by 5 % of the loss. Among these, a smoother
    kernel wins if it is better than the rougher one by a standard error, and so do feature scales
    (two with fewer than 500 samples). For labels there must also be fewer mistakes, by 1.5 standard
    errors and by five.

    Parameters
    ----------
    X : array of shape (n, p)
        Points. At most the first 1000 samples are judged; for labels the first 500. Feature scales
        are found on the last half of the first 2000 samples, at most 500 of them, or 1000 if there
        are more than 40 features.
    Y : array of shape (n, q)
        Targets of standard deviation 1, or labels −1 and 1.
    contenders : sequence of Contender
        The kernels, the default first.
    bandwidth : "auto", "scale", "median" or float
        "auto", the default, chooses the bandwidth and the scales; otherwise only the kernel is
        chosen.
    weight : array of shape (n,), optional
        Weights of the samples; those of weight 0 are ignored.
    are_labels : bool
        Whether Y holds labels. Default: False.
    prefers_narrow : bool
        Whether the winner of a regression takes the narrowest of its bandwidths within two standard
        errors of the best, which suits a learner with more atoms. Default: False.

    Examples
    --------
    >>> from colk.selection import contenders_for
    >>> X = np.random.default_rng(0).uniform(-2.0, 2.0, size=(500, 1))
    >>> race(X, np.sin(3.0 * X), contenders_for("auto")).winner.name
    'matern 5/2'
    """
    counts = np.ones(len(X)) if weight is None else weight
    whole = _samples(X, Y, counts, are_labels, contenders[0].categorical)
    samples = whole.first(_LABELS if are_labels else LARGEST)
    wanted = rows_for_relevance(X.shape[1])
    n_finding = min(wanted, len(whole.X) // 2)
    n_judged = min(len(whole.X) - n_finding, len(samples.X))
    field = RaceRuns(samples, contenders, _units(contenders, bandwidth, samples.X), n_judged)
    relevance = None
    if len(samples.X) >= _FEWEST:
        if bandwidth != "auto":
            field.run_all({}, only_standard=True)
        elif contenders[0].rows is not None:
            field.run_all({})
        else:
            relevance = _run_all(field, whole.part(slice(len(whole.X) - n_finding, None)))
    won = _winner(field)
    if won[2] and n_finding < wanted:
        won = _refine(field, won, whole.first(wanted))
    if prefers_narrow and not are_labels and won != DEFAULT:
        won = _narrowest(field, won)
    return _result(field, won, relevance)


def _samples(
    X: Array, Y: Array, weight: Array, are_labels: bool, categorical: tuple[int, ...]
) -> RaceSamples:
    rows = np.flatnonzero(weight > 0.0)[:MOST_ROWS]
    counts = weight[rows] / weight[rows].mean() if len(rows) else weight[rows]
    return RaceSamples(X[rows], Y[rows], counts, are_labels, categorical)


def _units(contenders: Sequence[Contender], bandwidth: str | float, X: Array) -> list[float]:
    """Return the standard bandwidths; kernels with the same distance have the same."""
    first = {one.is_l1: one for one in reversed(contenders)}
    found = {is_l1: one.unit(bandwidth, X) for is_l1, one in first.items()}
    return [found[one.is_l1] for one in contenders]


def _run_all(field: RaceRuns, finding: RaceSamples) -> Array | None:
    """Run the kernels without and with feature scales; return the relevance of the features."""
    if ((field.samples.spread > 0.0) & (finding.spread > 0.0)).sum() < 2:
        field.run_all({})
        return None
    search = RelevanceSearch(finding)
    rates, _ = run_both(search.rates, partial(field.run_all, {}))
    return _run_scaled(field, search, rates) if rates.any() else None


def _run_scaled(field: RaceRuns, search: RelevanceSearch, rates: Array) -> Array:
    """Run the kernels with the feature scales of these rates; return the relevance of the features.

    The Laplacian begins with the rates for Euclidean distances. If it is not far behind with these,
    it finds its own, while the other kernels run.
    """
    spread = field.samples.spread
    sizes = (rates * spread)[spread > 0.0]
    relevance: Array = rates * spread / sizes.max()
    if sizes.max() < _ALIKE * sizes.min():
        return relevance
    shapes = {False: Shape.of(rates, spread, is_l1=False)}
    if any(one.is_l1 for one in field.contenders):
        start = as_laplacian(rates)
        shapes[True] = Shape.of(start, spread, is_l1=True)
        if field.has_hope(True, shapes):
            run_others = partial(field.run_all, shapes, kinds=(False,))
            laplacian = partial(_run_laplacian, field.copied(), search, start, shapes[False])
            alone, _ = run_both(laplacian, run_others)
            field.take(alone)
            return relevance
    field.run_all(shapes)
    return relevance


def _run_laplacian(
    field: RaceRuns, search: RelevanceSearch, start: Array, others: Shape
) -> RaceRuns:
    """Find the Laplacian's own feature scales, and run it with these."""
    own = Shape.of(search.laplacian_rates(start), field.samples.spread, is_l1=True)
    field.run_all({False: others, True: own}, kinds=(True,))
    return field


def _refine(field: RaceRuns, won: Key, samples: RaceSamples) -> Key:
    """Refine the scales of the winner on all samples, because half of them were few.

    Return the winner with the bandwidth that is best with these scales: the likelihood changes the
    size of all rates as well, by a factor that depends on where its few iterations end.
    """
    is_l1 = field.contenders[won[0]].is_l1
    refined = RelevanceSearch(samples).refined(field.shapes[is_l1].rates, is_l1)
    return field.walk_again(won, Shape.of(refined, field.samples.spread, is_l1))


# -- the verdict -----------------------------------------------------------------------------


def _winner(field: RaceRuns) -> Key:
    """Return the winner: kernels are compared with the best so far, first those without scales."""
    champion = DEFAULT
    for scaled, place in product((False, True), range(len(field.contenders))):
        group = field.group(place, scaled)
        if group and _beats(field, field.best(group), champion):
            champion = field.best(group)
    return champion


def _beats(field: RaceRuns, key: Key, champion: Key) -> bool:
    """Whether it is better than the best so far by the required margins."""
    if champion != DEFAULT:
        is_small = key[2] and len(field.samples.X) < _SMALL
        return field.leads(key, champion, _SCALED_ERRORS_IF_SMALL if is_small else _NEXT_ERRORS)
    least = _LEAD_SHARE * field.means[DEFAULT]
    clear = field.leads(key, champion, _LEAD_ERRORS, least)
    if not field.samples.are_labels:
        return clear
    few = (_MISTAKES - 0.5) / len(field.losses[key])
    return clear and field.leads(key, champion, _MISTAKES_ERRORS, few, of_mistakes=True)


def _narrowest(field: RaceRuns, champion: Key) -> Key:
    """Return the same kernel with the narrowest bandwidth that is about as good."""
    place, _, scaled = champion
    as_good = [
        key
        for key in field.group(place, scaled)
        if not field.leads(champion, key, _NARROWER_ERRORS)
    ]
    return min(as_good, key=lambda key: key[1])


def _result(field: RaceRuns, won: Key, relevance: Array | None) -> Race:
    """Return the table, the winner, and the relevance of the features."""
    ran = sorted(field.losses, key=lambda key: (key[0], key[2], key[1]))
    entries = {key: _entry(field, key) for key in ran or [DEFAULT]}
    ones, is_l1 = np.ones(field.samples.X.shape[1]), field.contenders[won[0]].is_l1
    return Race(
        tuple(entries.values()),
        entries[DEFAULT],
        entries[won],
        field.kernel(won),
        field.shapes[is_l1].scales if won[2] else ones,
        len(field.samples.X),
        relevance,
    )


def _entry(field: RaceRuns, key: Key) -> Entry:
    place, factor, scaled = key
    bandwidth = field.bandwidth(key)
    who = (field.contenders[place].name, factor, bandwidth, scaled)
    if key not in field.losses:
        return Entry(*who, np.nan, np.nan, np.nan)
    return Entry(*who, field.means[key], *field.lead(key, DEFAULT))
