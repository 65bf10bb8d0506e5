"""The data of the experiments agree with the paper and with the named distributions."""

import numpy as np
import pytest

from colk_lab.reproduction.laws import LAWS, OutlierLaw, generator, signal
from colk_lab.reproduction.lidar.runs import prepare
from colk_lab.reproduction.methods import METHODS, trials
from colk_lab.reproduction.risk.runs import NOISES, draw
from colk_lab.reproduction.streams import checkpoints, draw_data


@pytest.mark.parametrize("law", [law for law in LAWS if law.is_heavy], ids=str)
def test_heavy_tails_have_no_variance(law):
    """P(|t₂| > x) is 2/x², and P(Pareto > x) is x^(−3/2), for large x."""
    X, y = law.draw(400_000, generator(0, "law"))
    outliers = (y - signal(X[:, 0])) / law.size
    far = outliers > 20.0
    expected = law.share * (20.0**-2 / 2.0 if law.kind == "Student" else 21.0**-1.5)
    assert far.mean() == pytest.approx(expected, rel=0.25)
    assert (outliers < -20.0).any() == (law.kind == "Student")


@pytest.mark.parametrize("law", [law for law in LAWS if not law.is_heavy], ids=str)
def test_share_size_and_kind_of_outliers(law):
    X, y = law.draw(200_000, generator(0, "law"))
    noise = y - signal(X[:, 0])
    mean = law.share * law.size if law.kind == "skewed" else 0.0
    second = law.size**2 * (2.0 if law.kind == "skewed" else 1.0)
    variance = law.noise**2 + law.share * second - mean**2
    assert noise.mean() == pytest.approx(mean, abs=4.0 * np.sqrt(variance / len(y)) + 1e-9)
    assert noise.var() == pytest.approx(variance, rel=0.05)


def test_training_sets_are_halves_that_never_touch_the_test_set():
    first, test = draw_data(OutlierLaw(), 1000, seed=3, run=0)
    second, same = draw_data(OutlierLaw(), 1000, seed=3, run=1)
    assert len(first[0]) == len(second[0]) == 400
    np.testing.assert_array_equal(test[0], same[0])
    points, others = set(first[0][:, 0]), set(second[0][:, 0])
    assert len(points) == 400
    assert not points & set(test[0][:, 0])
    assert 100 < len(points & others) < 300


def test_lidar_outliers_are_in_the_training_set_only():
    clean, test = prepare(0.0, seed=0, run=2)
    noisy, same = prepare(0.2, seed=0, run=2)
    np.testing.assert_array_equal(test[1], same[1])
    np.testing.assert_array_equal(clean[0], noisy[0])
    assert 0.1 < (clean[1] != noisy[1]).mean() < 0.3


@pytest.mark.parametrize("noise", NOISES)
def test_noise_of_the_risk_experiment_is_centred_and_skewed(noise):
    X, y = draw(noise, 100_000, generator(0, "noise"))
    standard = (y - signal(X[:, 0])) / NOISES[noise](X[:, 0])
    assert standard.mean() == pytest.approx(0.0, abs=0.02)
    assert standard.std() == pytest.approx(1.0, abs=0.02)
    assert (standard**3).mean() > 0.5


def test_looks_are_even_and_end_at_the_end():
    marks = checkpoints(24_000, 40)
    assert marks[-1] == 24_000
    assert (marks % 2 == 0).all()
    assert (np.diff(marks) > 0).all()


@pytest.mark.parametrize("name", METHODS)
def test_trials_lie_in_the_space_and_repeat(name):
    method = METHODS[name]
    tried = trials(method, 16, seed=5)
    assert tried == trials(method, 16, seed=5)
    assert len({tuple(trial.values()) for trial in tried}) == 16
    for trial in tried:
        for key, (low, high) in method.space.items():
            assert 0.99 * low <= trial[key] <= 1.01 * high


@pytest.mark.parametrize("name", METHODS)
def test_methods_keep_their_budget(name):
    X, y = OutlierLaw().draw(400, generator(0, "budget"))
    learner = METHODS[name].make(trials(METHODS[name], 1, 0)[0], 10, 0).learn(X, y)
    order = getattr(learner, "n_atoms", None) or learner.n_components
    assert order == 50 if name in ("scgd", "nasa") else order <= 10
