"""Small versions of the benchmarks: COLK reaches the batch optimum and the one-pass error."""

import numpy as np
import pytest

from colk import objective
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import Huber, Squared
from colk.risks import CVaR, Entropic, Mean, Semivariance, Variance
from colk.rkhs.batch import minimize
from colk.schedules import PolyakRuppert, PowerDecay

KERNEL, DECAY = Gaussian(0.2), 1e-2


def samples(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    return X, np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=n)


def optimum_of(loss, risk):
    """The minimiser of the empirical risk, on atoms dense enough to span X."""
    atoms = np.linspace(0.0, 1.0, 30)[:, None]
    return minimize(*samples(5000, seed=2), KERNEL, loss, risk, DECAY, atoms=atoms).function


def make(loss, risk, **changed):
    settings = {
        "step_size": 0.1,
        "tracking_rate": 0.02,
        "regularization": DECAY,
        "compressor": KOMP(eps=1e-3),
        "averaging": PolyakRuppert(growth=2.0),
    }
    return COLK(KERNEL, loss, risk, **(settings | changed))


@pytest.mark.parametrize("loss", [Squared(), Huber(0.5)], ids=repr)
@pytest.mark.parametrize(
    "risk", [Mean(), Semivariance(0.2, 0.1), CVaR(0.3, 0.5, 0.2), Entropic(0.5)], ids=repr
)
def test_the_average_is_within_2_percent_of_the_batch_optimum(loss, risk):
    learner = make(loss, risk).learn(*samples(30000, seed=0))
    optimum = optimum_of(loss, risk)
    held_out = samples(10000, seed=1)
    ours, best = (
        objective(f, *held_out, loss, risk, regularization=DECAY).total
        for f in (learner.function, optimum)
    )
    assert ours < 1.02 * best


def test_the_distance_to_the_optimum_falls_with_the_step_size():
    X, y = samples(20000, seed=3)
    optimum = optimum_of(Squared(), Mean())
    found = []
    for step in (0.4, 0.1):
        learner = make(
            Squared(), Mean(), step_size=step, compressor=KOMP(eps=0.02 * step), averaging=None
        )
        learner.learn(X[:10000], y[:10000])
        squares = []
        for rows in np.array_split(np.arange(10000, 20000), 40):
            learner.learn(X[rows], y[rows])
            squares.append(learner.last_function.distance(optimum) ** 2)
        found.append(np.sqrt(np.mean(squares)))
    slope = np.log(found[0] / found[1]) / np.log(4.0)
    assert 0.25 < slope < 0.9


def tracking_error(tracker, step, seed):
    """Mean squared error of g while f makes its first steps, against the truth of that f."""
    X, y = samples(200, seed)
    held_out = samples(4000, seed=1000 + seed)
    learner = make(Squared(), Variance(0.1), step_size=step, tracker=tracker)
    errors = []
    for first in range(0, 200, 2):
        f = learner.last_function if first else None
        learner.learn(X[first : first + 2], y[first : first + 2])
        if first >= 20:
            truth = np.mean((f(held_out[0]) - held_out[1]) ** 2)
            errors.append((learner.inner_estimate[0] - truth) ** 2)
    return np.mean(errors)


def test_momentum_follows_a_function_that_moves():
    """While the loss falls, the moving average lags behind; momentum does not."""
    momentum, average = (
        np.mean([tracking_error(tracker, 0.05, seed) for seed in range(8)])
        for tracker in ("momentum", "average")
    )
    assert momentum < average


def test_one_pass_with_outliers():
    rng = np.random.default_rng(0)
    X = rng.random((24000, 1))
    noise = rng.normal(size=24000) * np.where(rng.random(24000) < 0.1, 3.0, 0.2)
    learner = COLK(
        Gaussian(0.06),
        Huber(0.25),
        step_size=PowerDecay(2.0, power=0.6, scale=1000.0),
        regularization=3e-5,
        compressor=KOMP(eps=1e-3),
        averaging=PolyakRuppert(growth=0.5),
    ).learn(X, 2 * X[:, 0] + 3 * np.sin(6 * X[:, 0]) + noise)
    grid = np.linspace(0.0, 1.0, 2001)[:, None]
    truth = 2 * grid[:, 0] + 3 * np.sin(6 * grid[:, 0])
    assert np.mean((learner.predict(grid) - truth) ** 2) < 2e-4
    assert learner.n_atoms <= 30
