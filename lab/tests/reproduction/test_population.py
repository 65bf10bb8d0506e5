"""Quantities measured on the population agree with their names."""

import numpy as np
import pytest

from colk.losses import Squared
from colk_lab.reproduction.theory import population


@pytest.mark.parametrize("risk", population.RISKS)
def test_the_gradient_vanishes_at_the_optimum_and_is_that_of_the_objective(risk):
    points = population._population(0, 0.0)
    X, y, _ = points
    form = population.RISKS[risk]
    best = population._optimum(risk, 0, 0.0)
    assert population._gradient_norm(form, best, best(X), points) < 1e-14

    def objective(f):
        penalty = 0.5 * population.REGULARIZATION * f.norm() ** 2
        return form.value_at(Squared(), f(X), y) + penalty

    # Along the gradient itself the slope of the objective is the gradient's squared norm.
    f = 0.5 * best
    c = form.gradient_at(Squared(), f(X), y)
    gradient = type(best)(population.KERNEL, X, c) + population.REGULARIZATION * f
    h = 1e-5
    slope = (objective(f + h * gradient) - objective(f - h * gradient)) / (2.0 * h)
    assert population._gradient_norm(form, f, f(X), points) == pytest.approx(slope, rel=1e-5)


def test_a_run_comes_near_the_optimum():
    settings = {
        "risk": "semivariance",
        "tracking_rate": 0.1,
        "eps": 1e-3,
        "evaluations": 5,
        "seed": 0,
    }
    found = population.observe(step_size=0.05, n_steps=2000, run=0, **settings)
    start = population._optimum("semivariance", 0, 0.0).norm() ** 2
    assert found["distance"][-1] < 0.2 * start
    assert np.isfinite(found["tracking"]).all()
    assert found["order"][-1] < 20
