"""Tuples of arrays by reference: compiled code sees what Python pinned."""

from typing import NamedTuple

import numba
import numpy as np
import pytest

from colk._core.jit import stepper
from colk._core.reference import (
    Counts,
    Cube,
    Flags,
    Matrix,
    Pinned,
    _type_of,
    reference_to,
)
from colk._validation import Array


class Inner(NamedTuple):
    values: Matrix
    number: int


class Outer(NamedTuple):
    first: Array
    inner: Inner
    cube: Cube
    counts: Counts
    flags: Flags
    real: float


_outer_at = reference_to(Outer)


@stepper
def _total(address):
    m = _outer_at(address)
    m.counts[0] += m.inner.number
    m.first[1] = m.inner.values[1, 2] + m.cube[1, 0, 1]
    return m.real + m.inner.values.shape[1] + (1.0 if m.flags[1] else 0.0)


def outer():
    return Outer(
        first=np.zeros(2),
        inner=Inner(np.arange(6.0).reshape(2, 3), 7),
        cube=np.arange(8.0).reshape(2, 2, 2),
        counts=np.array([5]),
        flags=np.array([False, True]),
        real=0.25,
    )


def test_compiled_code_reads_and_writes_what_was_pinned():
    value = outer()
    assert _total(Pinned(value).address) == 0.25 + 3 + 1
    assert value.first[1] == 5.0 + 5.0
    assert value.counts[0] == 12


def test_the_declared_type_is_that_of_the_tuple():
    assert numba.typeof(outer()) == _type_of(Outer)


@pytest.mark.parametrize(
    "wrong",
    [np.zeros((2, 2)), np.zeros(2, dtype=np.float32), np.zeros(4)[::2], np.zeros(2, dtype=int)],
    ids=["dimensions", "precision", "strided", "kind"],
)
def test_an_array_of_another_sort_is_refused(wrong):
    with pytest.raises(TypeError, match="was expected"):
        Pinned(outer()._replace(first=wrong))
