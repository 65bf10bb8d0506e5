"""The whole test suite of River."""

from collections.abc import Iterator
from typing import Any

import pytest
from river import checks

from colk.kernels import Gaussian
from colk.risks import Variance
from colk.river import (
    COLKClassifier,
    COLKQuantileRegressor,
    COLKRegressor,
    ConformalClassifier,
    ConformalRegressor,
)

MODELS = [
    COLKRegressor(),
    COLKRegressor(kernel=Gaussian(1.0), risk=Variance(0.1), averaging=True, max_atoms=50),
    COLKClassifier(),
    COLKClassifier(risk="cvar", averaging=True, max_atoms=50),
    COLKRegressor(solver="newton", forgetting=0.99, max_atoms=50),
    COLKClassifier(solver="newton", max_atoms=50),
    ConformalRegressor(COLKRegressor(max_atoms=50)),
    ConformalClassifier(COLKClassifier(max_atoms=50)),
    COLKQuantileRegressor((0.1, 0.5, 0.9), max_atoms=50),
]


def _cases() -> Iterator[Any]:
    for model in MODELS:
        measured = False
        for check in checks.yield_checks(model):
            # River measures the memory on every data set; it grows by the same code.
            if check.__name__ != "check_bounded_memory_growth" or not measured:
                yield pytest.param(model, check, id=f"{type(model).__name__}-{check.__name__}")
            measured |= check.__name__ == "check_bounded_memory_growth"


@pytest.mark.parametrize(("model", "check"), list(_cases()))
def test_river_check(model: Any, check: Any) -> None:
    check(model.clone())
