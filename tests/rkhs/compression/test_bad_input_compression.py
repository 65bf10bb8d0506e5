"""Invalid input to compression gives one clear error."""

import numpy as np
import pytest

from colk.kernels import Gaussian
from colk.rkhs.compression import compress
from colk.rkhs.expansion import KernelExpansion

F = KernelExpansion(Gaussian(1.0), [[0.0], [1.0]], [1.0, -1.0])

BOUNDS = {
    "no bound": ({}, ValueError, "give eps, max_atoms or both"),
    "negative eps": ({"eps": -1.0}, ValueError, "eps must be finite and at least 0, got -1.0"),
    "NaN eps": ({"eps": np.nan}, ValueError, "eps must be finite and at least 0, got nan"),
    "infinite eps": ({"eps": np.inf}, ValueError, "eps must be finite"),
    "text eps": ({"eps": "small"}, TypeError, "eps must be a real number, got str 'small'"),
    "complex eps": ({"eps": 1j}, TypeError, "eps must be a real number"),
    "array eps": ({"eps": np.array([0.1])}, TypeError, "eps must be a real number"),
    "boolean eps": ({"eps": True}, TypeError, "eps must be a real number, got bool"),
    "negative max_atoms": ({"max_atoms": -1}, ValueError, "max_atoms must be at least 0, got -1"),
    "fractional max_atoms": ({"max_atoms": 2.5}, TypeError, "max_atoms must be a whole number"),
    "NaN max_atoms": ({"max_atoms": np.nan}, TypeError, "max_atoms must be a whole number"),
    "text max_atoms": ({"max_atoms": "2"}, TypeError, "max_atoms must be a whole number"),
    "boolean max_atoms": ({"max_atoms": True}, TypeError, "max_atoms must be a whole number"),
    "one bad bound of two": ({"eps": 0.1, "max_atoms": -2}, ValueError, "max_atoms must be at"),
}


@pytest.mark.parametrize("case", BOUNDS)
@pytest.mark.parametrize("call", [lambda **bounds: compress(F, **bounds), F.compress])
def test_bounds(call, case):
    bounds, kind, message = BOUNDS[case]
    with pytest.raises(kind, match=message):
        call(**bounds)


class Estimator:
    def predict(self, X):
        return X


FUNCTIONS = {
    "nothing": None,
    "an array": np.ones((2, 1)),
    "a kernel": Gaussian(1.0),
    "an estimator": Estimator(),
    "a callable": np.sin,
}


@pytest.mark.parametrize("case", FUNCTIONS)
def test_what_is_not_a_function(case):
    with pytest.raises(TypeError, match=r"takes a KernelExpansion, got .*from_sklearn"):
        compress(FUNCTIONS[case], eps=0.1)


def test_bounds_go_by_name():
    with pytest.raises(TypeError, match="positional argument"):
        compress(F, 0.1)
