"""prior="auto": the λ that an exhaustive search over refits of f to all samples finds."""

from dataclasses import replace

import numpy as np
import pytest
from newton_steps import POINTS, ROUGH, assert_same, make_oracle, move, state_of, stream

from colk.compressors import KOMP
from colk.kernels import Laplacian
from colk.learners import NewtonCOLK
from colk.losses import Huber, Softmax, Squared
from colk.losses.scale import loss_scale
from colk.reference import fit_weights
from colk.risks import CVaR, Mean, Variance

CANDIDATES = 10.0 ** np.linspace(-1.0, 1.0, 5)


@pytest.mark.parametrize(
    ("loss", "risk", "settings"),
    [
        (Softmax(), Mean(), {"n_outputs": 3}),
        (Squared(), Mean(), {"noise": 0.01}),
        (Squared(), Mean(), {"noise": 0.04}),  # a third of λ gains more than 2.5 %, less than 5 %
        (Squared(), Mean(), {"noise": 2.0}),
        (Squared(), Variance(0.1), {"pairing": "overlap", "noise": 0.01}),
        (Squared(), CVaR(0.3), {"pairing": "independent", "n": 820, "noise": 0.6}),
        (Huber(0.3), Mean(), {"batch_size": 2, "noise": 0.6, "weight": np.tile([0.5, 2.0], 410)}),
        (Squared(), Mean(), {"n_outputs": 2, "forgetting": 0.9999, "noise": 0.01}),
        (Squared(), Mean(), {"noise": 0.01, "spoilt": 3.0, "weight": np.tile([1.0, 1e-6], 205)}),
    ],
    ids=[
        "softmax",
        "clean",
        "faint",
        "noisy",
        "overlap",
        "independent",
        "batches",
        "outputs",
        "weights",
    ],
)
def test_the_prior_is_the_best_of_five_for_the_samples_to_come(loss, risk, settings):
    """At 200 steps each λ refits f to all samples; at 400 the λ of the least loss is taken."""
    settings = {"n_outputs": 1, "pairing": "same", "batch_size": 1, "forgetting": 1.0} | settings
    weight, noise = settings.pop("weight", None), settings.pop("noise", 0.1)
    n = settings.pop("n", 410 if weight is None else len(weight))
    X, Y = stream(n, loss, settings["n_outputs"], noise=noise)
    Y[1::4] += settings.get("spoilt", 0.0)  # samples of a small weight
    Y[3::4] -= settings.pop("spoilt", 0.0)
    X = np.round(X * 25.0) / 25.0  # few points: nothing is compressed, and matrices are small
    weight = np.ones(n) if weight is None else weight
    learner = NewtonCOLK(
        ROUGH, loss, risk, compressor=KOMP(eps=0.0), prior="auto", tracking_rate=0.1, **settings
    )
    oracle, first = make_oracle(learner), 0.3 * loss_scale(loss)
    tried, lost = None, np.zeros(5)
    for sample in zip(X, Y, weight, strict=True):
        x, y, w = (np.array([part]) for part in sample)
        learner.learn(x, y, w)
        oracle.learn(x, y, oracle.pairing, settings["batch_size"], w)
        if oracle.last is None:
            continue
        if tried is not None:
            lost += losses_of(tried, oracle, settings, loss)
        move(oracle, learner.last_function.atoms)
        if oracle.steps in (200, 400):
            if oracle.steps == 400:
                chosen = first * CANDIDATES[brute_force_choice(lost)]
                oracle.state = with_prior(oracle.state, chosen - oracle.prior)
                oracle.prior = chosen
            tried = [with_prior(oracle.state, lam * first - oracle.prior) for lam in CANDIDATES]
        assert learner.current_prior == pytest.approx(oracle.prior, rel=1e-14)
        if oracle.steps >= 395 or oracle.steps in (199, 200, 201):
            assert_same(learner, oracle, oracle.state)
    assert learner.steps > 400
    assert learner.current_prior != first


def test_functions_of_other_priors_are_projected_where_an_atom_leaves():
    X, Y = stream(260, Squared())
    X[200:] += 1.0  # a region without atoms
    learner = NewtonCOLK(ROUGH, compressor=KOMP(max_atoms=8), prior="auto").learn(X[:200], Y[:200])
    before, dropped = state_of(learner, 5), 0
    for t in range(200, 260):
        learner.learn(X[t : t + 1], Y[t : t + 1])
        after = state_of(learner, 5)
        if not np.array_equal(after.atoms, before.atoms):
            dropped += 1
            expected = [fit_weights(ROUGH, after.atoms, before.atoms, w) for w in before.weights]
            np.testing.assert_allclose(after.weights, expected, atol=1e-9)
        before = after
    assert dropped > 3
    assert np.ptp(before.weights, axis=0).max() > 0.01


def with_prior(state, change):
    """The minimum of the quadratic of all samples, with another λ from the first one on."""
    precision = state.precision + change * ROUGH.gram(state.atoms)
    weights = np.linalg.solve(precision, state.precision @ state.weights)
    return replace(state, weights=weights, precision=precision)


def losses_of(tried, oracle, settings, loss):
    """Losses at every ξ of the window, by its weight, before it is learned from."""
    xis = {"same": slice(None), "overlap": slice(1, None), "independent": slice(1, None, 2)}
    kept = xis[oracle.pairing]
    points, targets, weights = oracle.assessed
    return np.array(
        [
            weights[kept] @ loss.value(state.values(ROUGH, points[kept])[0], targets[kept])
            for state in tried
        ]
    )


def brute_force_choice(lost):
    """The least loss; the λ below the first must be better by 2.5 and 5 % of it."""
    return int(np.argmin(lost / lost.min() + [0.05, 0.025, 0.0, 0.0, 0.0]))


def test_another_prior_is_as_if_it_had_been_there_from_the_first_sample():
    X, Y = stream(400, Squared(), seed=5, noise=1.0)
    kernel = Laplacian(0.05)
    learner = NewtonCOLK(kernel, compressor=KOMP(eps=0.0), prior="auto").learn(X, Y)
    assert learner.current_prior != 0.6
    ridge = kernel.gram(X) + learner.current_prior / 2.0 * np.eye(400)
    expected = kernel(POINTS, X) @ np.linalg.solve(ridge, Y)
    np.testing.assert_allclose(learner.predict(POINTS), expected, atol=1e-8)
