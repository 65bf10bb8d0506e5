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
from colk.selection.learning import learned, searched
from colk.selection.result import LARGEST, Race
from colk.selection.samples import RaceSamples

__all__ = ["race"]

# With fewer samples the default wins.
_FEWEST = 30

# Samples that find bandwidths and metrics in the first heat; each further heat has twice as many,
# up to _MOST. A heat judges as many other samples.
_FIRST, _MOST = 400, LARGEST // 2

# A matrix is learned if there are this many samples for each feature.
_SAMPLES_PER_FEATURE = 4

# The race goes on while the loss is above this share of that of f = 0, as long as a heat lowers
# the ratio of an entrant's loss to that of the default to the share _GAIN, and has _LARGER times
# as many samples.
_SOLVED, _GAIN, _LARGER = 0.1, 0.9, 1.5

# With fewer samples both halves are judged.
_FEW = 1000

# Least size of a feature at the start of a heat, as a share of the largest.
_LEAST_SIZE = 0.01

# The winner learns once more from at most so many samples.
_REFINING = 1000


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
    regression predicts without having seen them. The next heat has twice as many samples, for those
    that are not clearly behind, and takes place if there is more than one, or if the loss falls.
    An entrant with a metric wins if it is ahead by a quarter of a standard error.

    Parameters
    ----------
    X : array of shape (n, p)
        Points. At most the first 3200 samples are used.
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
        nothing = Trial(np.nan, fixed[0], None, None, None)
        return Judged(samples, [nothing], nothing, np.zeros(0)).result(fixed[0])
    if bandwidth != "auto":
        judged = Judged.of(samples, fixed)
        return judged.result(fixed[0], judged.winner())
    plain = np.ones(X.shape[1])
    found = _distances(contenders)
    entrants = [Entrant(kernels, len(kernels) - 1, "none", plain) for kernels in found]
    return _heats(samples, fixed[0], entrants, both_halves)


def _heats(samples: RaceSamples, default: Entrant, plain: list[Entrant], both_halves: bool) -> Race:
    """Run the heats; the winner learns once more on all samples that it has seen."""
    n, size = len(samples.X), min(_FIRST, len(samples.X) // 2)
    before: dict[tuple[str, bool], float] = {}
    entrants: list[Entrant] = []
    while True:
        heat = samples.first(2 * size)
        run = partial(_heat, size=size, default=default, plain=plain, entrants=entrants)
        judged = run(heat)
        if both_halves and n < _FEW:
            judged = judged.and_also(run(heat.swapped(size)))
        won, larger = judged.winner(), min(2 * size, n // 2, _MOST)
        shares = judged.shares()
        gains = not before or any(v < _GAIN * before.get(k, 0.0) for k, v in shares.items())
        is_clear = won.loss < _SOLVED * judged.zero.loss or not gains
        if is_clear or larger < _LARGER * size:
            return judged.result(default, won, _refined(won.entrant, heat))
        entrants = _next(judged, won, larger)
        size, before = larger, shares


def _heat(
    samples: RaceSamples, size: int, default: Entrant, plain: list[Entrant], entrants: list[Entrant]
) -> Judged:
    """Let the entrants learn from the first samples, and judge them on the others.

    In the first heat there are no entrants yet: they are the kernels without and with a metric.
    """
    few = samples.first(size)
    if not entrants:
        found = [searched(one, few).entrant for one in plain]
        entrants = [*found, *_with_metrics(found, samples, size)]
    trained = map_in_threads(partial(_trained, few), entrants)
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


def _next(judged: Judged, won: Trial, size: int) -> list[Entrant]:
    """Return the entrants of the next heat: those that are close, and diagonals that begin anew.

    A diagonal that is close begins with the largest factor of each feature in any diagonal, times
    the root of the share of the loss that it explains: what is 0 in a metric has no gradient.
    """
    close, spread = judged.close_to(won), judged.samples.spread
    fresh: list[Entrant] = []
    if size <= 2 * _FIRST:
        tried = [trial.entrant for trial in judged.trials if trial.entrant.kind == "matrix"]
        known = {(one.kind, one.contender.is_l1) for one in [*close, *tried]}
        plain = [trial.entrant for trial in judged.trials[1:] if trial.entrant.kind == "none"]
        again = _with_metrics(plain, judged.samples, size)
        fresh = [one for one in again if (one.kind, one.contender.is_l1) not in known]
    most = np.zeros(len(spread))
    for trial in judged.trials:
        if trial.entrant.kind == "diagonal":
            sizes = trial.entrant.metric * spread
            explained = max(1.0 - trial.loss / judged.zero.loss, 0.0)
            most = np.maximum(most, sizes / sizes.max() * np.sqrt(explained))
    if not most.max() > 0.0:
        return fresh + close
    metric = (most + _LEAST_SIZE * most.max()) / np.where(spread > 0.0, spread, 1.0)
    return fresh + [replace(one, metric=metric) if one.kind == "diagonal" else one for one in close]


def _trained(samples: RaceSamples, entrant: Entrant) -> Entrant:
    return entrant if entrant.kind == "none" else learned(entrant, samples).entrant


def _refined(won: Entrant, samples: RaceSamples) -> Entrant:
    """Return the winner with the bandwidth and the metric of the samples of the last heat."""
    few = samples.first(_REFINING)
    if won.kind == "none":
        return searched(won, few, step=1.4).entrant
    return learned(won, few, 1).entrant


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
