"""Compressors with a budget of atoms: truncation, removal, projection, and a growing budget.

The method `make_room` reduces the atoms by one. It takes O(M) time besides a few kernel columns,
and needs no factor; projection takes O(M²) and needs the factor.
"""

import math
from typing import ClassVar

import cython

from colk._engine import counter_rng
from colk._engine.c_types import Readonly
from colk._engine.dictionary import Dictionary
from colk._engine.terms import overridden
from colk._validation import check_count, check_number
from colk.compressors import pursuit
from colk.compressors.base import Compressor, check_limit, check_lost
from colk.kernels import Kernel

__all__ = ["Budget", "Growing", "Projection", "Removal", "Truncation", "enrol", "remove"]


def enrol(d: Dictionary, staged: int) -> int:  # cpdef nogil noexcept
    """Append the staged points, or add their weights to equal atoms; return the number appended.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.compressors import enrol
    >>> from colk._engine.dictionary import Dictionary
    >>> from colk.kernels import Gaussian
    >>> d = Dictionary(Gaussian(0.5), n_features=1, has_factor=False)
    >>> d.set_new_points(np.array([[0.0], [1.0]]), np.array([[1.0], [2.0]]))
    >>> enrol(d, 2), enrol(d, 1), d.weights.ravel().tolist()
    (2, 0, [2.0, 2.0])
    """
    before = d.size
    for b in range(staged):
        place = d.size
        for j in range(d.size):
            if d.atoms_t[0, j] == d.points[b, 0]:
                equal = True
                for k in range(1, d.n_features):
                    equal = equal and d.atoms_t[k, j] == d.points[b, k]
                if equal:
                    place = j
        if place == d.size:
            d.append(b)
        else:
            for row in range(d.n_rows):
                d.weights_t[row, place] += d.amounts[b, row]
    return d.size - before


def remove(d: Dictionary, j: int) -> None:  # cpdef object
    """Remove atom j of a dictionary without a factor; the other weights do not change.

    Examples
    --------
    >>> from colk.compressors import remove
    >>> from colk._engine.dictionary import Dictionary
    >>> from colk.kernels import Gaussian
    >>> d = Dictionary(Gaussian(0.5), n_features=1, has_factor=False)
    >>> d.occupy(2)
    >>> remove(d, 0)
    >>> d.size
    1
    """
    if not 0 <= j < d.size:
        raise IndexError(f"there is no atom {j}: the dictionary has {d.size} atoms")
    if d.has_factor:
        raise ValueError(
            "the dictionary has a factor of K⁻¹, which must be updated; use pursuit.drop"
        )
    d.remove(j)


def squared_norm(d: Dictionary, j: int) -> float:  # cdef noexcept
    """Return ‖w_j‖² κ(d_j, d_j), the squared H-norm of atom j's part of f."""
    squares = 0.0
    for row in range(d.n_priced):
        squares += d.weights_t[row, j] * d.weights_t[row, j]
    return float(squares * d.own[j])


def lightest(d: Dictionary) -> int:  # cdef noexcept
    """Return the atom whose part of f has the least norm; ties go to the oldest atom."""
    chosen, least = 0, math.inf
    for j in range(d.size):
        norm: float = squared_norm(d, j)
        if norm < least:
            chosen, least = j, norm
    return chosen


class Budget(Compressor):
    """A fixed budget: new points are added, then atoms are removed one at a time.

    To define a rule, write a class with the method `make_room(dictionary)`.

    Parameters
    ----------
    max_atoms : int or None
        Largest number of atoms; None for no bound. Default: 100.

    Examples
    --------
    >>> from colk.compressors import Budget, Removal
    >>> issubclass(Removal, Budget), Removal(max_atoms=50).max_atoms
    (True, 50)
    """

    _fields = ("max_atoms",)
    _hooks: ClassVar[tuple[str, ...]] = ("make_room",)
    _sealed: ClassVar[tuple[str, ...]] = ("keep_to",)
    needs_factor: ClassVar[bool] = False

    max_atoms: Readonly[int | None]
    at_most: int

    def __init__(self, max_atoms: int | None = 100) -> None:
        self.at_most = check_limit(max_atoms)
        self.max_atoms = None if max_atoms is None else self.at_most

    def settle(self, d: Dictionary, staged: int, step_size: float, t: int) -> float:
        return self.keep_to(d, staged, self.at_most)

    def keep_to(self, d: Dictionary, staged: int, at_most: int) -> float:  # cdef
        """Add the new points, then make room if necessary; return the H-norm of the error."""
        error = 0.0
        enrol(d, staged)
        while d.size > at_most:
            error += self.make_room(d)
        return error

    def make_room(self, d: Dictionary) -> float:  # cdef
        """Reduce the atoms by one; return the H-norm of the error."""
        with cython.gil:
            return check_lost(overridden(self, "make_room")(d), self)


class Truncation(Budget):
    """Drop the oldest atom: NORMA's rule.

    Examples
    --------
    >>> from colk.compressors import Truncation
    >>> Truncation(200)
    Truncation(max_atoms=200)
    """

    def make_room(self, d: Dictionary) -> float:
        lost = math.sqrt(squared_norm(d, 0))
        d.remove(0)
        return lost


class Removal(Budget):
    """Drop the atom with the least ‖w_p‖² κ(d_p, d_p); the other weights do not change.

    Examples
    --------
    >>> from colk.compressors import Removal
    >>> Removal(50)
    Removal(max_atoms=50)
    """

    def make_room(self, d: Dictionary) -> float:
        j = lightest(d)
        lost = math.sqrt(squared_norm(d, j))
        d.remove(j)
        return lost


class Projection(Budget):
    """Drop the atom with the least ‖w_p‖²/(K⁻¹)_pp and refit the other weights.

    This is the best approximation by B of the B + 1 atoms: KOMP with a number of atoms instead of
    eps.

    Examples
    --------
    >>> from colk.compressors import Projection
    >>> Projection(50)
    Projection(max_atoms=50)
    """

    needs_factor: ClassVar[bool] = True

    def prepare(self, d: Dictionary) -> None:
        pursuit.attach_scratch(d)

    def keep_to(self, d: Dictionary, staged: int, at_most: int) -> float:
        return pursuit.absorb(d, staged, 0.0, 0, at_most)


class Growing(Compressor):
    """NPBSGD's budget, which grows at random.

    If there are more atoms than the budget, the rule makes room with probability min(1, βN/t) at
    step t = 1, 2, …; otherwise the budget grows by one. The draw of step t depends only on the seed
    and t.

    Parameters
    ----------
    rule : Budget
        The rule that removes atoms; its `max_atoms` is the first budget.
    growth : float
        β > 0. Default: 1. With β ≥ 1 the budget does not grow within the horizon.
    horizon : int
        N, the expected length of the stream. Default: 10,000.
    seed : int
        Seed of the random draws. Default: 0.

    Examples
    --------
    >>> from colk.compressors import Growing, Removal
    >>> Growing(Removal(50), growth=0.5, horizon=2000)
    Growing(rule=Removal(max_atoms=50), growth=0.5, horizon=2000, seed=0)
    """

    _fields = ("rule", "growth", "horizon", "seed")

    rule: Readonly[Budget]
    growth: Readonly[float]
    horizon: Readonly[int]
    seed: Readonly[int]

    def __init__(
        self, rule: Budget, growth: float = 1.0, horizon: int = 10_000, seed: int = 0
    ) -> None:
        if not isinstance(rule, Budget):
            raise TypeError(f"rule must be a Budget such as Removal, got {type(rule).__name__}")
        self.rule = rule
        self.growth = check_number(growth, "growth", above=0.0)
        self.horizon = check_count(horizon, "horizon")
        self.seed = check_count(seed, "seed", at_least=0)

    @property
    def max_atoms(self) -> int | None:
        """The first budget."""
        return self.rule.max_atoms

    @property
    def needs_factor(self) -> bool:  # type: ignore[override]  # the rule's own
        return self.rule.needs_factor

    def prepare(self, d: Dictionary) -> None:
        self.rule.prepare(d)

    def check(self, kernel: Kernel) -> None:
        self.rule.check(kernel)

    def settle(self, d: Dictionary, staged: int, step_size: float, t: int) -> float:
        """If the budget is exceeded, grow it or apply the rule, by the draw of step t + 1."""
        allowed = max(self.rule.at_most, d.size)
        if d.size + staged > allowed:
            chance = self.growth * self.horizon / (t + 1.0)
            if chance < 1.0 and counter_rng.uniform(self.seed, t + 1) >= chance:
                allowed += 1
        return self.rule.keep_to(d, staged, allowed)
