"""Numbers that a step reports, recomputed from the function before it and after it."""

import numpy as np
import pytest

from colk.compressors import KOMP
from colk.kernels import Laplacian
from colk.learners import COLK
from colk.losses import Squared
from colk.risks import Mean, Variance

PAIRINGS = ["independent", "overlap", "same"]
STEPS = 30


def learner_of(pairing, batch_size):
    return COLK(
        Laplacian(0.5), Squared(), Variance(0.1), step_size=0.3, regularization=0.2,
        compressor=KOMP(eps=0.05), averaging=None, pairing=pairing, batch_size=batch_size,
        trace=True,
    )  # fmt: skip


def windows(pairing, batch_size, seed=0):
    """The samples that complete each step, and which of them are new to the sums of losses."""
    rng = np.random.default_rng(seed)
    size = 2 * batch_size if pairing == "independent" else batch_size
    n = STEPS * size + (pairing == "overlap")
    X, weight = rng.random((n, 1)), rng.choice([0.5, 1.0, 2.0], size=n)
    y = np.sin(6.0 * X[:, 0]) + 0.1 * rng.normal(size=n)
    for step in range(STEPS):
        start = step * size + (pairing == "overlap" and step > 0)
        stop = (step + 1) * size + (pairing == "overlap")
        new = slice(1 if pairing == "overlap" and step == 0 else 0, None)
        new = slice(0, None, 2) if pairing == "independent" else new
        yield X[start:stop], y[start:stop], weight[start:stop], new


@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_losses_are_those_of_new_samples_before_the_step(pairing, batch_size):
    learner = learner_of(pairing, batch_size)
    losses, weights = 0.0, 0.0
    for step, (X, y, weight, new) in enumerate(windows(pairing, batch_size)):
        before = learner.last_function(X) if step > 0 else np.zeros(len(X))
        learner.learn(X, y, weight)
        assert learner.steps == step + 1
        found = ((before - y) ** 2)[new]
        assert learner.trace.loss[-1] == pytest.approx(found.mean(), rel=1e-9)
        losses, weights = losses + weight[new] @ found, weights + weight[new].sum()
        assert learner.loss_sums == pytest.approx((losses, weights), rel=1e-9)


@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_the_norm_is_that_of_the_function(pairing, batch_size):
    """It is updated by each step and by the loss of compression, not recomputed."""
    learner = learner_of(pairing, batch_size)
    for X, y, weight, _ in windows(pairing, batch_size):
        learner.learn(X, y, weight)
        norm = learner.last_function.norm()
        assert learner.trace.norm[-1] == pytest.approx(norm, rel=1e-7)
    assert learner.trace.error.sum() > 0.1


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_the_length_of_steps_is_the_root_of_their_mean_square(pairing):
    """Without λ and compression, f moves by the steps alone."""
    learner = COLK(
        Laplacian(0.5), Squared(), Variance(0.1), step_size=0.1, regularization=0.0,
        pairing=pairing, batch_size=2, compressor=KOMP(fraction=1e-9), averaging=None,
    )  # fmt: skip
    squares, before = [], None
    for X, y, weight, _ in windows(pairing, 2):
        learner.learn(X, y, weight)
        now = learner.last_function
        squares.append((now.norm() if before is None else (now - before).norm()) ** 2)
        before = now
        assert learner.step_length == pytest.approx(np.sqrt(np.mean(squares)), rel=1e-6)


@pytest.mark.parametrize("bound", [0.2, 0.5])
def test_a_projection_on_the_ball_keeps_the_direction(bound):
    """A step that leaves the ball is scaled back to ‖f‖ = norm_bound."""
    free = COLK(Laplacian(0.5), Squared(), Mean(), step_size=0.4, regularization=0.0,
                compressor=KOMP(eps=0.0), averaging=None)  # fmt: skip
    held = COLK(Laplacian(0.5), Squared(), Mean(), step_size=0.4, regularization=0.0,
                compressor=KOMP(eps=0.0), averaging=None, norm_bound=bound)  # fmt: skip
    X, y = np.array([[0.2]]), np.array([3.0])
    f, g = free.learn(X, y).last_function, held.learn(X, y).last_function
    assert f.norm() > bound
    np.testing.assert_allclose(g.weights, f.weights * bound / f.norm(), rtol=1e-12)
