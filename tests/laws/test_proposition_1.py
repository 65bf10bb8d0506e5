"""Proposition 1: no step loses more than eps, checked in extended precision.

COLK_SOAK_STEPS sets the number of steps; the longest run so far had 100000.
"""

import os

import numpy as np
import pytest

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import Huber, Squared
from colk.risks import CentralMoments, CVaR, Mean, Variance

STEPS = int(os.environ.get("COLK_SOAK_STEPS", "1500"))
BANDWIDTH = 0.06
BOUND = 10.0


def long_gram(A, B):
    difference = A.astype(np.longdouble)[:, None, 0] - B.astype(np.longdouble)[None, :, 0]
    return np.exp(-0.5 * (difference / np.longdouble(BANDWIDTH)) ** 2)


def quasi_gradient(loss, risk, f, g, x, y):
    """(c, c'), bounded, of the pair in the rows of x and y, from the terms' own functions."""
    predictions = f(x)
    losses, slopes = loss.value(predictions, y), loss.slope(predictions, y)
    if risk.n_inner == 0:
        c = np.array([slopes[0]])
    else:
        through = risk.outer_slope_inner(losses[:1], g) @ risk.inner_slope(losses[1:], g).T
        c = np.array([risk.outer_slope_loss(losses[:1], g)[0], through.item()]) * slopes
    return c * min(1.0, BOUND / max(np.linalg.norm(c), 1e-300))


def lost(f, moved, points, coefficients, step, decay):
    """‖f_{t+1} − f~_{t+1}‖ from the two functions and the step between them."""
    atoms = np.concatenate([moved.atoms, f.atoms, points])
    weights = np.concatenate(
        [
            moved.weights.astype(np.longdouble),
            -(1 - np.longdouble(step) * np.longdouble(decay)) * f.weights,
            np.longdouble(step) * coefficients,
        ]
    )
    unique, index = np.unique(atoms[:, 0], return_inverse=True)
    total = np.zeros(len(unique), dtype=np.longdouble)
    np.add.at(total, index, weights)
    squared = total @ long_gram(unique[:, None], unique[:, None]) @ total
    return float(np.sqrt(max(squared, np.longdouble(0.0))))


@pytest.mark.parametrize(
    ("loss", "risk"),
    [
        (Squared(), CentralMoments(4, 0.1)),
        (Squared(), Mean()),
        (Huber(0.5), Variance(0.1)),
        (Squared(), CVaR(0.2)),
    ],
    ids=repr,
)
def test_no_step_loses_more_than_eps(loss, risk):
    rng = np.random.default_rng(0)
    step, decay, eps = 0.1, 1e-4, 0.02
    learner = COLK(
        Gaussian(BANDWIDTH),
        loss,
        risk,
        step_size=step,
        regularization=decay,
        gradient_bound=BOUND,
        compressor=KOMP(eps=eps),
        averaging=None,
        trace=True,
    )
    size = 1 if risk.n_inner == 0 else 2
    found = []
    f = None
    for _ in range(STEPS):
        x = rng.random((size, 1))
        outlier = rng.random(size) < 0.1
        noise = rng.normal(size=size) * np.where(outlier, 3.0, 0.1)
        y = 2 * x[:, 0] + 3 * np.sin(6 * x[:, 0]) + noise
        learner.learn(x, y)
        moved = learner.last_function
        if f is not None:
            c = quasi_gradient(loss, risk, f, learner.inner_estimate, x, y)
            found.append(lost(f, moved, x[: len(c)], c, step, decay))
        f = moved
    found, recorded = np.array(found), learner.trace.error[1:]
    assert found.max() <= eps * (1 + 1e-9)
    # The recorded error is exact, except at the novelty floor: such points are charged with it.
    assert (found <= recorded + 1e-9).all()
    assert (recorded <= found + 1.01 * step * BOUND * np.sqrt(1e-9)).all()
    assert np.median(np.abs(found - recorded)) < 1e-9
    assert np.mean(found > 0.1 * eps) > 0.02
