"""A learner's step uses its terms correctly: g, and both samples of a pair."""

import numpy as np
import pytest
from variance_cases import AS_COMPOSITION, AS_CUSTOM

from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import Squared
from colk.risks import CVaR, Entropic, Variance
from colk.trackers import Momentum, MovingAverage


@pytest.mark.parametrize("written", [AS_COMPOSITION, AS_CUSTOM], ids=["composition", "custom"])
@pytest.mark.parametrize("tracker", [Momentum(), MovingAverage()], ids=repr)
@pytest.mark.parametrize("pairing", ["independent", "same"])
def test_three_ways_to_write_the_variance_learn_alike(written, tracker, pairing):
    rng = np.random.default_rng(1)
    X, Y = rng.uniform(size=(60, 1)), rng.normal(size=(60, 2))
    learners = [
        COLK(
            Gaussian(0.3),
            Squared(),
            risk,
            step_size=0.02,
            tracking_rate=0.2,
            tracker=tracker,
            pairing=pairing,
            n_outputs=2,
        ).learn(X, Y)
        for risk in (Variance(0.5), written)
    ]
    expected, found = (learner.predict(X) for learner in learners)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
    estimates = [learner.inner_estimate for learner in learners]
    np.testing.assert_allclose(estimates[1], estimates[0], rtol=1e-10)


def test_the_first_sample_starts_g_at_its_own_inner_value():
    learner = COLK(Gaussian(0.3), Squared(), Variance(0.1), tracking_rate=0.25, pairing="same")
    learner.learn([[0.5]], [3.0])
    assert learner.inner_estimate.tolist() == [9.0]


def test_without_expectations_the_second_sample_has_no_part():
    """Of a pair (θ, ξ) only θ can become an atom; a variance makes atoms of both."""
    X, y = np.array([[0.0], [5.0], [10.0], [15.0]]), [1.0, 2.0, 3.0, 4.0]
    for risk, n_most in ((CVaR(0.2), 2), (Entropic(0.5), 2), (Variance(0.1), 4)):
        learner = COLK(Gaussian(0.1), Squared(), risk, pairing="independent").learn(X, y)
        assert 1 <= learner.n_atoms <= n_most
        assert np.count_nonzero(learner.predict(X)[[1, 3]]) == n_most - 2
