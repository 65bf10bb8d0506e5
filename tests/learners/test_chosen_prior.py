"""prior="auto": later samples choose λ."""

import pickle

import numpy as np
import pytest

from colk import COLKRegressor
from colk.compressors import KOMP
from colk.kernels import Laplacian, Linear
from colk.learners import NewtonCOLK
from colk.losses import Huber, Squared
from colk.risks import Variance

KERNEL = Laplacian(1.0)


def samples(n, noise, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 3))
    return X, np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2] + noise * rng.normal(size=n)


def chosen(noise, **settings):
    rule = KOMP(eps=0.05, max_atoms=40)
    return NewtonCOLK(KERNEL, prior="auto", compressor=rule, **settings).learn(
        *samples(1000, noise)
    )


def test_noise_asks_for_more_of_it():
    assert chosen(0.0).current_prior < chosen(1.0).current_prior


def test_it_is_in_units_of_the_loss_and_of_the_kernel():
    X, y = samples(10, 0.1)
    assert NewtonCOLK(KERNEL, Huber(1.0), prior="auto").learn(X, y).current_prior == 0.3
    assert NewtonCOLK(KERNEL, Squared(), prior="auto").learn(X, y).current_prior == 0.6
    assert NewtonCOLK(Linear(), Huber(1.0), prior="auto").learn(X, y).current_prior > 1.0


def test_nothing_is_changed_before_there_were_samples_to_choose_by():
    X, y = samples(399, 1.0)
    fixed, free = NewtonCOLK(KERNEL, prior=0.6), NewtonCOLK(KERNEL, prior="auto")
    np.testing.assert_array_equal(fixed.learn(X, y).predict(X), free.learn(X, y).predict(X))


def test_a_pickle_goes_on_with_what_was_tried_so_far():
    X, y = samples(1000, 0.0)
    rule = KOMP(eps=0.05, max_atoms=40)
    learner = NewtonCOLK(
        KERNEL, risk=Variance(0.1), pairing="overlap", prior="auto", compressor=rule
    )
    learner.learn(X[:700], y[:700])
    other = pickle.loads(pickle.dumps(learner))
    assert other.current_prior == learner.current_prior != 0.6
    for each in (learner, other):
        each.learn(X[700:], y[700:])
    assert other.current_prior == learner.current_prior
    np.testing.assert_array_equal(other.predict(X), learner.predict(X))


def test_steps_bound_what_they_forget_as_ever():
    learner = NewtonCOLK(KERNEL, prior="auto", compressor=KOMP(eps=0.05), trace=True)
    learner.learn(*samples(1000, 0.5))
    assert learner.trace.error.max() <= 0.05 * (1.0 + 1e-9)
    f = learner.function
    assert learner.trace.norm[-1] == pytest.approx(f.norm(), rel=1e-6)


def test_deviations_are_those_of_directions_that_are_late():
    """If the dictionary is full, a new direction has the variance 1/(2λ)."""
    X, y = samples(3000, 0.3)
    rule = KOMP(eps=0.01, max_atoms=60)
    learner = NewtonCOLK(KERNEL, prior="auto", compressor=rule).learn(X[:2000], y[:2000])
    values, std = learner.predict(X[2000:], return_std=True)
    assert learner.n_atoms == 60
    assert np.mean(np.abs(values - y[2000:]) < 1.645 * std) == pytest.approx(0.9, abs=0.03)
    state = learner._stream
    noise_per_curvature = state.squared_slope / state.mean_curvature
    far, _ = state.variances(np.full((1, 3), 1e3))
    assert far[0] == pytest.approx(noise_per_curvature / (2.0 * learner.current_prior))


def test_after_a_restart_p_begins_with_the_prior_that_was_chosen():
    X, y = samples(4000, 0.05)
    y[2500:] = 5.0 - 3.0 * y[2500:]
    rule = KOMP(eps=0.05, max_atoms=40)
    learner = NewtonCOLK(KERNEL, prior="auto", restart=True, compressor=rule).learn(X, y)
    assert learner.restarts >= 1
    assert np.linalg.eigvalsh(learner.covariance).max() <= 1.0 / learner.current_prior + 1e-9


def test_estimators_take_it():
    X, y = samples(300, 1.0)
    model = COLKRegressor(solver="newton", prior="auto", kernel="laplacian", epochs=1).fit(X, y)
    assert model.prior_ == "auto"


def test_a_bad_one_is_refused():
    with pytest.raises(ValueError, match="prior must be 'auto' or a number above 0, got 'best'"):
        NewtonCOLK(KERNEL, prior="best")
    with pytest.raises(ValueError, match="exclude each other"):
        NewtonCOLK(KERNEL, prior="auto", forgetting="auto")
