"""Places of methods over many problems: Friedman's test, and Wilcoxon's with Holm's correction.

Demšar (JMLR 7, 2006) describes both and the diagram; Benavoli, Corani and Mangili (JMLR 17, 2016)
say why pairs are compared by signed ranks and not by the mean places of all methods.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

from colk_lab.arrays import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Places", "draw_places", "holm", "places"]

# Fewer problems cannot show a difference between several methods.
_FEWEST = 5


@dataclass(frozen=True)
class Places:
    """Mean places of methods, from the best to the worst.

    Parameters
    ----------
    means : mapping of str to float
        The mean place of each method; 1 is the best.
    groups : sequence of tuples of str
        Largest sets of neighbours between which no difference is shown.
    p_equal : float
        Friedman's probability of places that differ as much, if all methods are equal.
    n_problems : int
        Number of problems.
    """

    means: Mapping[str, float]
    groups: Sequence[tuple[str, ...]]
    p_equal: float
    n_problems: int


def places(badness: Mapping[str, Mapping[str, float]], level: float = 0.05) -> Places | None:
    """Compare methods over problems.

    Parameters
    ----------
    badness : mapping
        For each problem and method, a number that is smaller if the method is better. Methods that
        lack a problem are left out.
    level : float, default=0.05
        Probability of at least one difference that is shown but not there.

    Returns
    -------
    Places or None
        None for fewer than five problems or three methods.

    Examples
    --------
    >>> errors = {f"set {k}": {"a": 1.0, "b": 2.0 + k, "c": 13.0 - k} for k in range(12)}
    >>> found = places(errors)
    >>> list(found.means), found.groups
    (['a', 'b', 'c'], [('b', 'c')])
    """
    if len(badness) < _FEWEST:
        return None
    methods = [
        name
        for name in next(iter(badness.values()))
        if all(np.isfinite(by_method.get(name, np.nan)) for by_method in badness.values())
    ]
    if len(methods) < 3:
        return None
    table = np.array([[each[name] for name in methods] for each in badness.values()])
    means = np.mean([rankdata(row) for row in table], axis=0)
    order = np.argsort(means, kind="stable")
    names, table = [methods[k] for k in order], table[:, order]
    pairs = list(combinations(range(len(names)), 2))
    differ = dict(
        zip(pairs, holm([_signed_ranks(*table.T[list(p)]) for p in pairs], level), strict=True)
    )
    return Places(
        {name: float(means[k]) for name, k in zip(names, order, strict=True)},
        _groups(names, differ),
        float(friedmanchisquare(*table.T).pvalue),
        len(table),
    )


def _signed_ranks(first: Array, second: Array) -> float:
    difference = first - second
    if not difference.any():
        return 1.0
    return float(wilcoxon(difference, zero_method="zsplit").pvalue)


def holm(p_values: Sequence[float], level: float = 0.05) -> list[bool]:
    """Return which hypotheses are rejected if all errors together have a probability of `level`.

    Examples
    --------
    >>> holm([0.04, 0.001, 0.03])
    [False, True, False]
    """
    rejected = [False] * len(p_values)
    for tried, place in enumerate(np.argsort(p_values)):
        if p_values[place] > level / (len(p_values) - tried):
            break
        rejected[place] = True
    return rejected


def _groups(names: Sequence[str], differ: Mapping[tuple[int, int], bool]) -> list[tuple[str, ...]]:
    """Return the longest runs of neighbours of which no pair differs."""
    found: list[tuple[int, int]] = []
    for first in range(len(names)):
        last = first
        while last + 1 < len(names) and not any(
            differ[k, last + 1] for k in range(first, last + 1)
        ):
            last += 1
        if last > first and not (found and found[-1][1] >= last):
            found.append((first, last))
    return [tuple(names[first : last + 1]) for first, last in found]


def draw_places(figure: "Figure", found: Places, ours: str = "colk") -> None:
    """Draw the places on a line; bars join methods between which no difference is shown."""
    axes = figure.add_subplot()
    names, values = list(found.means), list(found.means.values())
    half, low, high = (len(names) + 1) // 2, 1.0, max(len(names), 2)
    bars = 0.45 * len(found.groups) + 0.6
    axes.set(xlim=(low - 0.02, high + 0.02), ylim=(-bars - half, 1.2))
    axes.axis("off")
    axes.plot([low, high], [0.0, 0.0], color="0.5", lw=1)
    for tick in range(int(low), int(high) + 1):
        axes.plot([tick, tick], [0.0, 0.15], color="0.5", lw=1)
        axes.text(tick, 0.3, str(tick), ha="center", color="0.45")
    for k, (name, value) in enumerate(zip(names, values, strict=True)):
        is_left = k < half
        depth = -bars - (k if is_left else len(names) - 1 - k)
        end, align = (low, "right") if is_left else (high, "left")
        color = "#D55E00" if name.startswith(ours) else "#0072B2"
        axes.plot([value, value, end], [0.0, depth, depth], color=color, lw=1)
        shift = (-6, -3) if is_left else (6, -3)
        text = f"{name}  {value:.2f}" if is_left else f"{value:.2f}  {name}"
        axes.annotate(text, (end, depth), shift, textcoords="offset points", ha=align, color=color)
    for k, group in enumerate(found.groups):
        ends = [found.means[group[0]] - 0.04, found.means[group[-1]] + 0.04]
        axes.plot(ends, [-0.4 - 0.45 * k] * 2, color="0.4", lw=4, solid_capstyle="butt")
