"""The losses of a race: each kernel with several bandwidths, with and without feature scales."""

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from colk._engine.thread_pool import map_in_threads
from colk._validation import Array
from colk.kernels import Kernel
from colk.selection.contenders import Contender
from colk.selection.left_out_losses import RaceSamples

__all__ = ["DEFAULT", "FACTORS", "Key", "RaceRuns", "Shape"]

# Bandwidths to try, as multiples of the standard bandwidth, or of the bandwidth that belongs to
# feature scales. The latter is often too wide, because a ridge regression has fewer atoms than
# samples.
FACTORS = (0.35, 0.6, 1.0, 1.7, 2.8)
FACTORS_OF_SCALES = (0.12, 0.2, *FACTORS)

# If there are at least twice _PILOT samples, kernels that are _HOPELESS standard errors behind the
# best on the first _PILOT samples are not run on all of them.
_PILOT = 200
_HOPELESS = 2.5

# Index of the kernel, factor of the bandwidth, and whether features have scales.
Key = tuple[int, float, bool]
DEFAULT: Key = (0, 1.0, False)


class Shape(NamedTuple):
    """Scales of the features, and the bandwidth that belongs to them.

    Examples
    --------
    >>> Shape.of(np.array([3.0, 4.0]), np.ones(2), is_l1=False).scales.round(3)
    array([0.849, 1.131])
    """

    scales: Array  # (p,); typical distances are as without scales
    bandwidth: float

    @classmethod
    def of(cls, rates: Array, spread: Array, is_l1: bool) -> "Shape":
        """Return the shape with these rates: scales / bandwidth = rates.

        Parameters
        ----------
        rates : array of shape (p,)
            1/length of each feature; 0 is replaced by a small number.
        spread : array of shape (p,)
            Standard deviations of the features.
        is_l1 : bool
            Whether distances are L1 distances.
        """
        sizes = rates * spread
        sizes = np.maximum(sizes, _LEAST * sizes.max())
        size = sizes.sum() / spread.sum() if is_l1 else np.sqrt(sizes @ sizes / (spread @ spread))
        safe = np.where(spread > 0.0, spread, 1.0)
        return cls(np.where(spread > 0.0, sizes / (size * safe), 1.0), 1.0 / float(size))

    @property
    def rates(self) -> Array:
        """1/length of each feature."""
        return np.asarray(self.scales / self.bandwidth)


# Smallest rate of a feature, as a share of the largest.
_LEAST = 1e-3


class RaceRuns:
    """Losses and mistakes of the samples for each kernel and bandwidth that was run.

    Parameters
    ----------
    samples : RaceSamples
        Samples.
    contenders : sequence of Contender
        The kernels, the default first.
    units : sequence of float
        Their standard bandwidths.
    n_judged : int
        Number of first samples, on which feature scales are compared. The scales were found on the
        others.

    Examples
    --------
    >>> from colk.selection import contenders_for
    >>> X = np.random.default_rng(0).normal(size=(100, 1))
    >>> samples = RaceSamples(X, np.sin(X), np.ones(100), are_labels=False)
    >>> field = RaceRuns(samples, contenders_for("gaussian"), [1.0], 100)
    >>> field.run_all({})
    >>> sorted(factor for _, factor, _ in field.losses)
    [0.6, 1.0, 1.7]
    """

    def __init__(
        self,
        samples: RaceSamples,
        contenders: Sequence[Contender],
        units: Sequence[float],
        n_judged: int,
    ) -> None:
        self.samples, self.contenders, self.units = samples, contenders, units
        self.n_judged = n_judged
        self.shapes: dict[bool, Shape] = {}  # by whether distances are L1 distances
        self.losses: dict[Key, Array] = {}
        self.mistakes: dict[Key, Array] = {}
        self.means: dict[Key, float] = {}
        self._pilot: RaceRuns | None = None  # the field of the first samples

    # -- kernels -----------------------------------------------------------------------------

    def bandwidth(self, key: Key) -> float:
        """Return the bandwidth before it is divided by feature scales."""
        place, factor, scaled = key
        if not scaled:
            return factor * self.units[place]
        contender = self.contenders[place]
        return factor * contender.width * self.shapes[contender.is_l1].bandwidth

    def kernel(self, key: Key) -> Kernel:
        """Return the kernel."""
        contender = self.contenders[key[0]]
        scales = self.shapes[contender.is_l1].scales if key[2] else None
        return contender.with_bandwidth(self.bandwidth(key), scales)

    # -- running -----------------------------------------------------------------------------

    def run(self, key: Key) -> None:
        """Record losses and mistakes, unless that has been done."""
        if key in self.losses:
            return
        left_out = self.samples.run(self.kernel(key))
        judged = slice(self.n_judged if key[2] else None)
        self.losses[key] = self.samples.losses(left_out)[judged]
        self.mistakes[key] = self.samples.mistakes(left_out)[judged]
        self.means[key] = self.samples.mean(self.losses[key])

    def run_all(
        self,
        shapes: dict[bool, Shape],
        only_standard: bool = False,
        kinds: tuple[bool, ...] = (False, True),
    ) -> None:
        """Run the kernels that are not far behind on the first samples.

        Parameters
        ----------
        shapes : dict of bool to Shape
            Feature scales by whether distances are L1 distances; empty to run without scales.
        only_standard : bool
            Whether to try only the standard bandwidth, with every kernel. Default: False.
        kinds : tuple of bool
            Whether distances are L1 distances, for the kernels to run. Default: both.
        """
        if shapes:
            self._use(shapes)
        if only_standard:
            for place in self._places(shapes):
                self.run((place, 1.0, bool(shapes)))
            return
        starts = self._starts(self._places(shapes), shapes)
        ours = {i: factor for i, factor in starts.items() if self.contenders[i].is_l1 in kinds}
        self._walk_all(ours, bool(shapes))

    def _places(self, shapes: dict[bool, Shape]) -> list[int]:
        """Return the kernels that can run with these shapes; all without shapes."""
        return [i for i, one in enumerate(self.contenders) if not shapes or one.is_l1 in shapes]

    def _use(self, shapes: dict[bool, Shape]) -> None:
        """Use these feature scales; forget the losses with others."""
        kept = [is_l1 for is_l1 in shapes if self.shapes.get(is_l1) is shapes[is_l1]]
        for key in list(self.losses):
            if key[2] and self.contenders[key[0]].is_l1 not in kept:
                del self.losses[key], self.mistakes[key], self.means[key]
        self.shapes = shapes

    def has_hope(self, is_l1: bool, shapes: dict[bool, Shape]) -> bool:
        """Return whether a kernel with these distances is not far behind on the first samples.

        Parameters
        ----------
        is_l1 : bool
            Whether distances are L1 distances.
        shapes : dict of bool to Shape
            Feature scales.
        """
        starts = self._starts(self._places(shapes), shapes)
        return any(self.contenders[place].is_l1 == is_l1 for place in starts)

    def _starts(self, places: list[int], shapes: dict[bool, Shape]) -> dict[int, float]:
        """Return the kernels to run, with the factors of the bandwidths to begin with."""
        n_seen = self.n_judged if shapes else len(self.samples.X)
        return self._hopeful(places, shapes) if n_seen >= 2 * _PILOT else dict.fromkeys(places, 1.0)

    def _hopeful(self, places: list[int], shapes: dict[bool, Shape]) -> dict[int, float]:
        """Return the kernels that are not far behind on the first samples, with their factors."""
        if self._pilot is None:
            first = self.samples.first(_PILOT)
            self._pilot = RaceRuns(first, self.contenders, self.units, _PILOT)
        pilot, scaled = self._pilot, bool(shapes)
        if scaled:
            pilot._use(shapes)
        pilot._walk_all(dict.fromkeys(places, 1.0), scaled)
        best = {place: pilot.best(pilot.group(place, scaled)) for place in places}
        leader = pilot.best(list(best.values()))
        return {
            place: key[1] for place, key in best.items() if not pilot.leads(leader, key, _HOPELESS)
        }

    def _walk_all(self, starts: dict[int, float], scaled: bool) -> None:
        """Walk with each kernel, in threads.

        A kernel that has walked with its feature scales does not walk again. Without scales the
        default runs in any case.
        """
        walks = [
            partial(RaceRuns._walk, place=place, scaled=scaled, first=first)
            for place, first in starts.items()
            if not scaled or (place, first, True) not in self.losses
        ]
        if not scaled and DEFAULT[0] not in starts:
            walks.append(partial(RaceRuns.run, key=DEFAULT))
        for alone in map_in_threads(self._after, walks):
            self.take(alone)

    def _after(self, walk: Callable[["RaceRuns"], None]) -> "RaceRuns":
        """Return a copy of this field after a walk."""
        alone = self.copied()
        walk(alone)
        return alone

    def copied(self) -> "RaceRuns":
        """Return a copy, which another thread can use while this one uses the original."""
        alone = copy.copy(self)
        alone.losses, alone.mistakes = dict(self.losses), dict(self.mistakes)
        alone.means = dict(self.means)
        alone._pilot = None if self._pilot is None else self._pilot.copied()
        return alone

    def take(self, alone: "RaceRuns") -> None:
        """Take the losses and the feature scales of a copy."""
        self.shapes = {**self.shapes, **alone.shapes}
        self.losses |= alone.losses
        self.mistakes |= alone.mistakes
        self.means |= alone.means

    def _walk(self, place: int, scaled: bool, first: float) -> None:
        """Try a bandwidth, then others in the direction in which the loss falls."""
        factors = FACTORS_OF_SCALES if scaled else FACTORS
        start = factors.index(first)
        if place == DEFAULT[0] and not scaled:
            self.run(DEFAULT)
        self.run((place, first, scaled))
        for way in (factors[start + 1 :], factors[:start][::-1]):
            for factor in way:
                self.run((place, factor, scaled))
                if self.best(self.group(place, scaled))[1] != factor:
                    break
            if self.best(self.group(place, scaled))[1] != first:
                break

    def walk_again(self, key: Key, shape: Shape) -> Key:
        """Try the bandwidths of a kernel with other feature scales; return the best.

        All samples are judged. The losses of this kernel with the scales before are forgotten.

        Parameters
        ----------
        key : Key
            The kernel, and the bandwidth to begin with.
        shape : Shape
            The scales.
        """
        place, first, scaled = key
        for old in self.group(place, scaled):
            del self.losses[old], self.mistakes[old], self.means[old]
        self.shapes = {**self.shapes, self.contenders[place].is_l1: shape}
        self.n_judged = len(self.samples.X)
        self._walk(place, scaled, first)
        return self.best(self.group(place, scaled))

    # -- comparing ---------------------------------------------------------------------------

    def group(self, place: int, scaled: bool) -> list[Key]:
        """Return all bandwidths of a kernel that were run."""
        return [key for key in self.losses if (key[0], key[2]) == (place, scaled)]

    def best(self, group: list[Key]) -> Key:
        """Return the one with the least loss."""
        return min(group, key=lambda key: self.means[key])

    def lead(self, key: Key, other: Key, of_mistakes: bool = False) -> tuple[float, float]:
        """Return by how much the mean loss of `key` is lower, and the standard error of this."""
        table = self.mistakes if of_mistakes else self.losses
        size = min(len(table[key]), len(table[other]))
        lead = table[other][:size] - table[key][:size]
        return self.samples.mean(lead), self.samples.error(lead)

    def leads(
        self, key: Key, other: Key, errors: float, least: float = 0.0, of_mistakes: bool = False
    ) -> bool:
        """Whether it leads by more than `errors` standard errors, and by more than `least`."""
        lead, error = self.lead(key, other, of_mistakes)
        return lead > max(errors * error, least)
