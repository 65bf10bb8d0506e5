"""Quantities measured on the population agree with their names."""

import numpy as np
import pytest

from colk_lab.reproduction.theory import population


@pytest.mark.parametrize("name", population.PROBLEMS)
def test_the_gradient_vanishes_at_the_optimum_and_is_that_of_the_objective(name):
    points = population._population(name, 0, 0.0)
    X, y, _ = points
    form = population.PROBLEMS[name]
    best = population._optimum(name, 0, 0.0)
    if form.regularization:
        assert population._gradient_norm(form, best, best(X), points) < 1e-14

    def objective(f):
        penalty = 0.5 * form.regularization * f.norm() ** 2
        return form.risk.value_at(form.loss, f(X), y) + penalty

    # Along the gradient itself the slope of the objective is the gradient's squared norm.
    f = 0.5 * best
    c = form.risk.gradient_at(form.loss, f(X), y)
    gradient = type(best)(form.kernel, X, c) + form.regularization * f
    h = 1e-5
    slope = (objective(f + h * gradient) - objective(f - h * gradient)) / (2.0 * h)
    assert population._gradient_norm(form, f, f(X), points) == pytest.approx(slope, rel=1e-4)


def test_the_smallest_eigenvalue_is_that_of_second_differences():
    """By finite differences of the gradient; and R is not convex at 0, but convex at its end."""
    X, y, K = population._population("welsch", 0, 0.0)
    form, h = population.PROBLEMS["welsch"], 1e-5
    values = 0.3 * y
    hessian = np.empty((len(y), len(y)))
    for i in range(len(y)):
        step = h * np.eye(len(y))[i]
        up, down = (form.risk.gradient_at(form.loss, values + s, y) for s in (step, -step))
        hessian[i] = (up - down) / (2.0 * h)
    root = population._root("welsch", 0, 0.0)
    np.testing.assert_allclose(root @ root, K, atol=1e-10)
    expected = np.linalg.eigvalsh(root @ hessian @ root)[0]
    np.testing.assert_allclose(population.curvature("welsch", values, 0), expected, atol=1e-6)
    assert population.curvature("welsch", 0.0 * y, 0) < -0.01
    best = population._optimum("welsch", 0, 0.0)
    assert population.curvature("welsch", best(X), 0) > -1e-6


def test_the_regularization_inside_the_hypothesis_is_enough_and_the_other_is_not():
    inside, outside = population.PROBLEMS["inside"], population.PROBLEMS["semivariance"]
    for name, enough in (("inside", True), ("semivariance", False)):
        c = population.constants(name, 0)
        needed = c.outer_lipschitz * c.kernel_bound * c.inner_slope**2
        assert (population.PROBLEMS[name].regularization > needed) == enough
    assert inside.risk == outside.risk


def test_attenuating_steps_come_nearer_than_constant_ones():
    settings = {"tracking_rate": 0.2, "eps": 0.04, "evaluations": 2, "seed": 0, "run": 0}
    found = [
        population.observe("semivariance", 0.2, n_steps=8000, power=power, **settings)
        for power in (0.75, 0.0)
    ]
    assert found[0]["distance"][-1] < 0.3 * found[1]["distance"][-1]


def test_a_run_comes_near_the_optimum():
    settings = {
        "problem": "semivariance",
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
