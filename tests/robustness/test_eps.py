"""The certificate equals the true error of a step, for any eps."""

import numpy as np
import pytest
from exact_norm import follow, gaussian, polynomial

from colk.compressors import KOMP
from colk.kernels import Gaussian, Polynomial
from colk.learners import COLK, Trace

STEPS = 60


def make(kernel, eps, step_size, batch_size=1):
    return COLK(
        kernel,
        step_size=step_size,
        compressor=KOMP(eps=eps),
        gradient_bound=np.inf,
        averaging=None,
        batch_size=batch_size,
        trace=True,
    )


@pytest.mark.each_pair
@pytest.mark.parametrize("eps", [1e-2, 1e-4, 1e-5, 1e-7, 0.0])
@pytest.mark.parametrize(
    ("kernel", "exact", "step_size"),
    [
        (Gaussian(0.3), gaussian(0.3), 0.5),
        (Gaussian(2.0), gaussian(2.0), 0.9),
        (Polynomial(4, 1.0), polynomial(4, 1.0), 0.05),
    ],
    ids=["narrow", "wide", "polynomial"],
)
@pytest.mark.parametrize("batch_size", [1, 2])
def test_the_certificate_never_understates(kernel, exact, step_size, eps, batch_size):
    rng = np.random.default_rng(1)
    X = rng.random((STEPS, 1))
    y = 10.0 * np.sin(6.0 * X[:, 0])
    learner = make(kernel, eps, step_size, batch_size)
    lost, said = follow(learner, exact, X, y)
    norm = max(learner.last_function.norm(), 1.0)
    assert (lost <= said * (1.0 + 1e-6) + 1e-10 * norm).all()
    np.testing.assert_allclose(learner.trace.error, said, rtol=1e-6, atol=1e-12 * norm)


def test_a_crowd_of_points_costs_what_it_says():
    """Points a millionth apart: the floor under the novelty decides, and its cost is reported."""
    rng = np.random.default_rng(2)
    X = 0.5 + 1e-6 * rng.random((STEPS, 1))
    y = 1e3 * rng.normal(size=STEPS)
    learner = make(Gaussian(0.3), 1e-9, 0.5)
    lost, said = follow(learner, gaussian(0.3), X, y)
    assert (lost <= said * (1.0 + 1e-6) + 1e-9 * max(learner.last_function.norm(), 1.0)).all()
    assert learner.n_atoms < 10


@pytest.mark.parametrize("eps", [1e-2, 1e-3])
def test_a_step_keeps_to_eps_where_eps_is_above_the_floors(eps):
    rng = np.random.default_rng(3)
    X = rng.random((2000, 1))
    learner = make(Gaussian(0.2), eps, 0.1).learn(X, np.sin(6.0 * X[:, 0]))
    assert learner.trace.error.max() <= eps


@pytest.mark.parametrize("term", [KOMP, Trace])
def test_the_docs_say_that_a_step_may_exceed_a_tiny_eps(term):
    assert "exceed" in term.__doc__
