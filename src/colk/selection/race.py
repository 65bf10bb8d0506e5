"""The race: compare kernels and metrics on samples that did not find them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from colk._engine.thread_pool import map_in_threads
from colk._validation import Array
from colk.selection.contenders import Contender
from colk.selection.entrants import Entrant, Trial
from colk.selection.judged import Judged
from colk.selection.learning import learned, searched, with_sizes
from colk.selection.pairs import sizes_by_pairs
from colk.selection.result import LARGEST, Race
from colk.selection.samples import RaceSamples

__all__ = ["race"]

# With fewer samples the default wins.
_FEWEST = 30

# Samples that find bandwidths and metrics in the first heat; each further heat has _TIMES as many,
# up to half of LARGEST, if that is at least twice as many. A heat judges as many other samples.
_FIRST, _TIMES = 400, 3

# A matrix is learned if there are this many samples for each feature.
_SAMPLES_PER_FEATURE = 4

# The race goes on while kernels of both distances may win, or while the loss is above this share of
# that of f = 0 and a heat lowers the ratio of an entrant's loss to the default's to this share.
_SOLVED, _GAIN = 0.1, 0.9

# With fewer samples both halves are judged.
_FEW = 1000

# Least size of a feature at the start of a heat, as a share of the largest.
_LEAST_SIZE = 0.05


def race(
    X: Array,
    Y: Array,
    contenders: Sequence[Contender],
    *,
    bandwidth: str | float = "auto",
    weight: Array | None = None,
    are_labels: bool = False,
    both_halves: bool = False,
) -> Race:
    """Choose a kernel, its bandwidth, and a metric of the features.

    The entrants are the contenders with their distance as it is, with a factor for each feature,
    and with a matrix; a metric is learned from the gradients of a ridge regression. Each heat finds
    bandwidths and metrics on the first samples and judges them on as many others, which a ridge
    regression predicts without having seen them. The next heat has three times as many samples. It
    takes place if the best kernels of both distances are close, or if the loss falls, and leaves
    out entrants that are clearly behind. An entrant with a metric wins if it is ahead by a quarter
    of a standard error.

    Parameters
    ----------
    X : array of shape (n, p)
        Points. At most the first 2400 samples are used.
    Y : array of shape (n, q)
        Targets of standard deviation 1, or labels −1 and 1.
    contenders : sequence of Contender
        The kernels, the default first.
    bandwidth : "auto", "scale", "median" or float
        "auto", the default, chooses the bandwidth and the metric; otherwise only the kernel is
        chosen.
    weight : array of shape (n,), optional
        Weights of the samples; those of weight 0 are ignored.
    are_labels : bool
        Whether Y holds labels. Default: False.
    both_halves : bool
        Whether those of few samples that learned and those that were judged change places, so that
        all are judged. Default: False.

    Examples
    --------
    >>> from colk.selection import contenders_for
    >>> X = np.random.default_rng(0).uniform(-2.0, 2.0, size=(500, 1))
    >>> race(X, np.sin(3.0 * X), contenders_for("auto")).winner.name
    'gaussian'
    """
    samples = _samples(X, Y, weight, are_labels, contenders[0].categorical)
    fixed = [_fixed(samples, one, bandwidth) for one in contenders]
    if len(samples.X) < _FEWEST:
        nothing = Trial(np.nan, fixed[0], None, None)
        return Judged(samples, [nothing], nothing, np.zeros(0)).result(fixed[0])
    if bandwidth != "auto":
        judged = Judged.of(samples, fixed)
        return judged.result(fixed[0], judged.winner())
    plain = np.ones(X.shape[1])
    found = _distances(contenders)
    entrants = [Entrant(kernels, len(kernels) - 1, "none", plain) for kernels in found]
    return _heats(samples, fixed[0], entrants, both_halves)


def _heats(samples: RaceSamples, default: Entrant, plain: list[Entrant], both_halves: bool) -> Race:
    """Run the heats; the winner of few samples learns once more on all that it has seen."""
    n, most = len(samples.X), _TIMES * _FIRST
    size = n // 2 if n < most else _FIRST
    before: dict[tuple[str, bool], float] = {}
    entrants: list[Entrant] = []
    sizes: Array | None = None
    while True:
        heat, known = samples.first(2 * size), sizes
        sizes = _sizes(heat.first(size), default) if known is None else None
        run = partial(
            _heat, size=size, default=default, plain=plain, entrants=entrants, sizes=sizes
        )
        judged = run(heat)
        if both_halves and n < _FEW:
            judged = judged.and_also(run(heat.swapped(size)))
        won, larger = judged.winner(), min(_TIMES * size, n // 2)
        shares, close = judged.shares(), judged.close_to(won)
        gains = not before or any(v < _GAIN * before.get(k, 0.0) for k, v in shares.items())
        is_solved = won.loss < _SOLVED * judged.zero.loss or not gains
        is_open = len({one.contender.is_l1 for one in [won.entrant, *close]}) > 1
        if larger < 2 * size or (is_solved and not is_open):
            last = won.entrant if entrants else _retrained(samples.first(most), won.entrant)
            return judged.result(default, won, last)
        entrants, sizes = close, known if sizes is None else sizes
        size, before = larger, shares


def _sizes(samples: RaceSamples, default: Entrant) -> Array | None:
    if default.contender.rows is not None:
        return None
    return sizes_by_pairs(samples.X, samples.Y, samples.weight)


def _heat(
    samples: RaceSamples,
    size: int,
    default: Entrant,
    plain: list[Entrant],
    entrants: list[Entrant],
    sizes: Array | None,
) -> Judged:
    """Let the entrants learn from the first samples, and judge them on the others.

    In the first heat there are no entrants yet: they are the kernels without and with a metric.
    Diagonals that have left the race come back if features are found to act together.
    """
    few = samples.first(size)
    if not entrants:
        found = [searched(one, few).entrant for one in plain]
        entrants = [*found, *_with_metrics(found, samples, size)]
        trained = map_in_threads(partial(_trained, few, sizes), entrants)
    else:
        if sizes is not None:
            known = {one.contender.is_l1 for one in entrants if one.kind == "diagonal"}
            back = [one for one in _with_metrics(plain, samples, size) if one.kind == "diagonal"]
            entrants = [*entrants, *(one for one in back if one.contender.is_l1 not in known)]
        trained = map_in_threads(partial(_retrained, few, sizes=sizes), entrants)
    return Judged.of(samples, [default, *trained], size)


def _with_metrics(plain: Sequence[Entrant], samples: RaceSamples, size: int) -> list[Entrant]:
    """Return the entrants that learn a metric from the first of these samples."""
    spread = samples.spread
    if plain[0].contender.rows is not None or np.count_nonzero(spread) < 2:
        return []
    scales = 1.0 / np.where(spread > 0.0, spread, 1.0)
    found = [replace(one, kind="diagonal", metric=scales) for one in plain]
    if size < _SAMPLES_PER_FEATURE * len(spread):
        return found
    matrices = [
        replace(one, kind="matrix", metric=np.diag(scales))
        for one in plain
        if not (one.contender.is_l1 or one.contender.categorical)
    ]
    return found + matrices


def _trained(samples: RaceSamples, sizes: Array | None, entrant: Entrant) -> Entrant:
    """Return an entrant of the first heat after it has learned."""
    if entrant.kind == "none":
        return entrant
    return learned(_started(samples, sizes, entrant)[0], samples).entrant


def _retrained(samples: RaceSamples, entrant: Entrant, sizes: Array | None = None) -> Entrant:
    """Return an entrant that has learned before, after it has learned from more samples."""
    if entrant.kind == "none":
        return searched(entrant, samples, ("factor",), 1.4).entrant
    entrant, is_new = _started(samples, sizes, entrant)
    return learned(entrant, samples, is_new).entrant


def _started(samples: RaceSamples, sizes: Array | None, entrant: Entrant) -> tuple[Entrant, bool]:
    """Return the diagonal to begin with, and whether it is new: pairs of features may know better.

    What is 0 in a metric has no gradient, so no feature begins with less than a share of the
    largest.
    """
    if entrant.kind != "diagonal":
        return entrant, False
    known = entrant.metric * samples.spread
    first = with_sizes(entrant, samples, known, _LEAST_SIZE) or entrant
    if sizes is None:
        return first, False
    second = with_sizes(entrant, samples, sizes, _LEAST_SIZE) or entrant
    is_better = second.trial(samples).loss < first.trial(samples).loss
    return (second if is_better else first), is_better


def _samples(
    X: Array, Y: Array, weight: Array | None, are_labels: bool, categorical: tuple[int, ...]
) -> RaceSamples:
    counts = np.ones(len(X)) if weight is None else weight
    rows = np.flatnonzero(counts > 0.0)[:LARGEST]
    share = counts[rows] / counts[rows].mean() if len(rows) else counts[rows]
    return RaceSamples(X[rows], Y[rows], share, are_labels, categorical)


def _distances(contenders: Sequence[Contender]) -> list[tuple[Contender, ...]]:
    """Return the contenders by their distance; those of one distance are in one search."""
    found = [tuple(one for one in contenders if one.is_l1 is is_l1) for is_l1 in (True, False)]
    return [kernels for kernels in found if kernels]


def _fixed(samples: RaceSamples, contender: Contender, bandwidth: str | float) -> Entrant:
    """Return the entrant whose bandwidth follows a rule."""
    given = contender.unit(bandwidth, samples.X)
    return Entrant((contender,), 0, "none", np.ones(samples.X.shape[1]), given=given)
