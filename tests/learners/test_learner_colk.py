"""COLK: attributes, trace, invalid settings, divergence, extreme streams."""

import numpy as np
import pytest

from colk import DivergenceError
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK, POLK
from colk.losses import EpsilonInsensitive, Huber, Softmax, Squared
from colk.risks import CentralMoments, CVaR, Entropic, Mean, Semivariance, Variance
from colk.schedules import Exponential, PolyakRuppert, PowerDecay


def target(x):
    return 2 * x + 3 * np.sin(6 * x)


def stream(n=500, seed=0, outliers=0.0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    noise = rng.normal(size=n) * np.where(rng.random(n) < outliers, 3.0, 0.1)
    return X, target(X[:, 0]) + noise


def error_of(f):
    grid = np.linspace(0.0, 1.0, 400)[:, None]
    return float(np.mean((f(grid) - target(grid[:, 0])) ** 2))


# -- attributes ---------------------------------------------------------------------------------


def test_a_learner_before_its_first_sample():
    learner = COLK(Gaussian(0.1), risk=Variance(0.1), trace=True)
    assert learner.n_atoms == learner.steps == 0
    assert learner.error_spent == 0.0
    assert np.isnan(learner.prequential_loss)
    assert len(learner.trace) == 0
    np.testing.assert_array_equal(learner.inner_estimate, [0.0])
    with pytest.raises(ValueError, match="has not seen a sample"):
        learner.predict([[0.0]])
    with pytest.raises(ValueError, match="has not seen a sample"):
        _ = learner.function


@pytest.mark.parametrize(
    ("pairing", "risk", "steps"),
    [
        ("independent", Variance(0.1), 250),
        ("overlap", Variance(0.1), 499),
        ("same", Variance(0.1), 500),
        ("independent", Mean(), 500),
    ],
)
def test_how_many_steps_a_pairing_makes(pairing, risk, steps):
    assert COLK(Gaussian(0.1), risk=risk, pairing=pairing).learn(*stream()).steps == steps


def test_what_can_be_read_after_learning():
    X, y = stream()
    learner = COLK(Gaussian(0.1), risk=CVaR(0.2)).learn(X, y)
    assert learner.n_features == 1
    assert learner.n_outputs == 1
    assert learner.n_atoms == learner.function.n_atoms == learner.last_function.n_atoms
    np.testing.assert_allclose(learner.predict(X), learner.function(X), atol=1e-12)
    assert learner.inner_estimate.shape == (2,)
    assert 0.0 < learner.error_spent <= 0.02 * learner.steps
    assert learner.learn(np.empty((0, 1)), np.empty(0)).steps == 250


def test_without_averaging_the_function_is_the_iterate():
    learner = COLK(Gaussian(0.1), averaging=None).learn(*stream())
    assert learner.function == learner.last_function


def test_targets_of_two_columns():
    X, y = stream()
    learner = COLK(Gaussian(0.1), risk=Variance(0.1)).learn(X, np.column_stack([y, -y]))
    predictions = learner.predict(X)
    assert predictions.shape == (500, 2)
    np.testing.assert_allclose(predictions[:, 0], -predictions[:, 1], atol=1e-10)


def test_softmax_learns_classes():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 1))
    y = np.floor(3 * X[:, 0]).astype(int)
    learner = COLK(Gaussian(0.1), Softmax(), Variance(0.1), step_size=0.5, n_outputs=3)
    found = learner.learn(X, y).predict(X).argmax(axis=1)
    assert np.mean(found == y) > 0.95


def test_mini_batches_average_their_pairs():
    X, y = stream(n=4000)
    single = COLK(Gaussian(0.1), risk=Variance(0.1), step_size=0.05).learn(X, y)
    batch = COLK(Gaussian(0.1), risk=Variance(0.1), step_size=0.2, batch_size=4).learn(X, y)
    assert batch.steps == single.steps // 4
    assert error_of(batch.function) < 0.01


def test_decaying_steps_settle():
    X, y = stream(n=4000)
    decay = PowerDecay(0.3, power=0.7, scale=100.0)
    settled = COLK(Gaussian(0.1), step_size=decay, averaging=None, compressor=KOMP(eps=1e-3))
    restless = COLK(Gaussian(0.1), step_size=0.3, averaging=None, compressor=KOMP(eps=1e-3))
    assert error_of(settled.learn(X, y).function) < error_of(restless.learn(X, y).function) / 2


# -- trace --------------------------------------------------------------------------------------


def test_the_trace_tells_what_each_step_did():
    X, y = stream()
    learner = COLK(Gaussian(0.1), risk=Variance(0.1), trace=True, gradient_bound=3.0)
    learner.learn(X[:301], y[:301]).learn(X[301:], y[301:])
    trace = learner.trace
    assert len(trace) == learner.steps == 250
    np.testing.assert_array_equal(np.cumsum(trace.added - trace.dropped), trace.n_atoms)
    assert trace.n_atoms[-1] == learner.n_atoms
    assert abs(trace.error.sum() - learner.error_spent) < 1e-12
    assert (trace.error <= 0.02).all()
    np.testing.assert_allclose(trace.loss.mean(), learner.prequential_loss, rtol=1e-12)
    assert trace.inner.shape == (250, 1)
    np.testing.assert_array_equal(trace.inner[-1], learner.inner_estimate)
    np.testing.assert_allclose(trace.norm[-1], learner.last_function.norm(), rtol=1e-6)
    np.testing.assert_allclose(
        trace.outer, trace.loss + 0.1 * (trace.loss - trace.inner[:, 0]) ** 2, rtol=1e-12
    )
    assert 0 < trace.clipped.sum() < 250
    assert (trace.step_size == 0.1).all()


def test_nothing_is_recorded_by_default():
    learner = COLK(Gaussian(0.1)).learn(*stream())
    with pytest.raises(ValueError, match="trace=True"):
        _ = learner.trace


def test_a_trace_does_not_change_the_path():
    X, y = stream()
    silent, traced = (COLK(Gaussian(0.1), risk=Variance(), trace=on) for on in (False, True))
    assert silent.learn(X, y).function == traced.learn(X, y).function


# -- bad settings -------------------------------------------------------------------------------

BAD = [
    ({"kernel": "gaussian"}, TypeError, "kernel"),
    ({"loss": "huber"}, TypeError, "loss"),
    ({"risk": 0.1}, TypeError, "risk"),
    ({"compressor": 0.1}, TypeError, "compressor"),
    ({"averaging": True}, TypeError, "averaging"),
    ({"step_size": 0.0}, ValueError, "step_size"),
    ({"step_size": -1.0}, ValueError, "step_size"),
    ({"step_size": "fast"}, TypeError, "step_size"),
    ({"step_size": np.nan}, ValueError, "step_size"),
    ({"tracking_rate": 0.0}, ValueError, "tracking_rate"),
    ({"tracking_rate": 1.5}, ValueError, "tracking_rate"),
    ({"regularization": -1e-3}, ValueError, "regularization"),
    ({"regularization": 10.0, "step_size": 0.1}, ValueError, "lower either"),
    ({"tracker": "adam"}, ValueError, "tracker"),
    ({"pairing": "random"}, ValueError, "pairing"),
    ({"gradient_bound": 0.0}, ValueError, "gradient_bound"),
    ({"norm_bound": -1.0}, ValueError, "norm_bound"),
    ({"batch_size": 0}, ValueError, "batch_size"),
    ({"batch_size": 1.5}, TypeError, "batch_size"),
    ({"n_outputs": 0}, ValueError, "n_outputs"),
    ({"loss": Softmax()}, ValueError, "number of classes"),
]


@pytest.mark.parametrize(("changed", "error", "words"), BAD, ids=lambda value: str(value))
def test_bad_settings_are_named(changed, error, words):
    with pytest.raises(error, match=words):
        COLK(**({"kernel": Gaussian(0.1)} | changed))


BAD_SAMPLES = [
    ([[np.nan]], [0.0], None, "NaN"),
    ([[0.0]], [np.inf], None, "inf"),
    ([[0.0, 1.0]], [0.0], None, "features"),
    ([[0.0]], [0.0, 1.0], None, "y"),
    ([[0.0]], [0.0], [-1.0], "sample_weight"),
    ([[0.0]], [0.0], [1.0, 1.0], "sample_weight"),
]


@pytest.mark.parametrize(("X", "y", "weight", "words"), BAD_SAMPLES, ids=str)
def test_bad_samples_leave_the_model_as_it_was(X, y, weight, words):
    learner = COLK(Gaussian(0.1), risk=Variance(0.1)).learn(*stream())
    before, g = learner.function, learner.inner_estimate
    with pytest.raises(ValueError, match=words):
        learner.learn(X, y, weight)
    assert learner.function == before
    np.testing.assert_array_equal(learner.inner_estimate, g)


def test_learn_one_takes_one_point():
    with pytest.raises(ValueError, match="one point"):
        COLK(Gaussian(0.1)).learn_one([[0.0]], 1.0)


@pytest.mark.parametrize("averaging", [PolyakRuppert(), Exponential(0.1), None], ids=repr)
def test_every_averaging_is_accepted(averaging):
    assert POLK(Gaussian(0.1), averaging=averaging).learn(*stream()).n_atoms > 5


# -- divergence ---------------------------------------------------------------------------------


@pytest.mark.parametrize("heavy", [1e12, 1e50, 1e99])
def test_a_divergence_names_the_weight_that_caused_it(heavy):
    X, weight = np.linspace(0.0, 1.0, 3000)[:, None], np.ones(3000)
    weight[1500] = heavy
    with pytest.raises(DivergenceError, match=r"the weight 1e\+\d\d, .*divide all weights"):
        COLK(Gaussian(0.3)).learn(X, np.sin(6.0 * X[:, 0]), weight)
    with pytest.raises(DivergenceError, match="lower step_size"):
        COLK(Gaussian(0.3), Squared(), step_size=100.0, gradient_bound=1e9).learn(X, X[:, 0])
    learner = COLK(Gaussian(0.3)).learn(X[:9], X[:9, 0])
    if heavy == 1e99:
        with pytest.raises(DivergenceError, match="weight 1e"):
            learner.learn_one(X[9], 5.0, heavy)


def test_divergence_names_the_setting_and_keeps_the_last_good_state():
    X, y = stream(n=2000)
    learner = COLK(Gaussian(0.1), risk=CentralMoments(4, 0.1), gradient_bound=np.inf, trace=True)
    with pytest.raises(DivergenceError, match=r"step_size|gradient_bound") as caught:
        learner.learn(X, y)
    assert f"step {learner.steps} " in str(caught.value)
    assert len(learner.trace) == learner.steps < 20
    good = COLK(Gaussian(0.1), risk=CentralMoments(4, 0.1), gradient_bound=np.inf)
    good.learn(X[: 2 * learner.steps], y[: 2 * learner.steps])
    assert learner.function == good.function
    np.testing.assert_array_equal(learner.inner_estimate, good.inner_estimate)
    assert np.isfinite(learner.predict(X)).all()


def test_an_overflow_of_g_is_named():
    X = np.linspace(0.0, 1.0, 20).reshape(-1, 1)
    learner = COLK(Gaussian(0.5), Squared(), Variance(0.1)).learn(X, X[:, 0])
    before = learner.function, learner.inner_estimate
    with pytest.raises(DivergenceError, match="g of Variance overflowed; scale the targets"):
        learner.learn(X[:2], [1e160, 1e160])
    assert learner.function == before[0]
    np.testing.assert_array_equal(learner.inner_estimate, before[1])


def test_a_refused_sample_can_be_left_out():
    X, y = stream()
    learner = COLK(Gaussian(0.1), gradient_bound=np.inf).learn(X, y)
    before = learner.function
    with pytest.raises(DivergenceError, match="gradient_bound"):
        learner.learn_one([0.5], 1e200)
    assert learner.function == before
    learner.learn_one([0.5], target(0.5))
    assert learner.steps == len(X) + 1


# -- heavy tails --------------------------------------------------------------------------------


@pytest.mark.parametrize("risk", [Mean(), Variance(0.1), CVaR(0.2), Entropic(-0.5)], ids=repr)
@pytest.mark.parametrize("loss", [Squared(), Huber(0.5)], ids=repr)
def test_cauchy_noise(loss, risk):
    X, _ = stream(n=4000)
    y = target(X[:, 0]) + 0.1 * np.random.default_rng(1).standard_cauchy(4000)
    learner = COLK(Gaussian(0.1), loss, risk, norm_bound=20.0, trace=True).learn(X, y)
    assert np.isfinite(learner.predict(X)).all()
    assert learner.trace.norm.max() <= 20.0
    assert learner.last_function.norm() <= 20.0 * (1 + 1e-9)
    if isinstance(loss, Huber) and not isinstance(risk, CVaR):
        assert error_of(learner.function) < 0.1


@pytest.mark.parametrize("loss", [EpsilonInsensitive(0.1), Huber(0.3)], ids=repr)
def test_one_sample_in_1000_a_million_times_too_large(loss):
    X, y = stream(n=8000)
    y[::1000] *= 1e6
    learner = COLK(Gaussian(0.1), loss, norm_bound=20.0, trace=True).learn(X, y)
    assert learner.trace.norm.max() <= 20.0
    assert error_of(learner.function) < 0.02


def test_one_sample_in_1000_under_a_dispersion():
    X, y = stream(n=8000)
    y[::1000] *= 1e6
    learner = COLK(Gaussian(0.1), Squared(), Semivariance(0.1), norm_bound=20.0).learn(X, y)
    assert np.isfinite(learner.predict(X)).all()
    assert learner.last_function.norm() <= 20.0 * (1 + 1e-9)


@pytest.mark.parametrize("risk", [Mean(), Variance(0.1), CVaR(0.2), Entropic(0.5)], ids=repr)
def test_constant_targets(risk):
    X, _ = stream(n=3000)
    learner = COLK(Gaussian(0.2), Squared(), risk, norm_bound=20.0).learn(X, np.full(3000, 2.0))
    errors = np.abs(learner.predict(X) - 2.0)
    assert np.median(errors) < 0.05
    assert errors.max() < 0.3


@pytest.mark.parametrize("risk", [Mean(), Variance(0.1), CVaR(0.5), Entropic(0.5)], ids=repr)
def test_constant_points(risk):
    rng = np.random.default_rng(0)
    y = 1.0 + 0.1 * rng.normal(size=3000)
    learner = COLK(Gaussian(0.2), Squared(), risk).learn(np.full((3000, 1), 0.5), y)
    assert learner.n_atoms == 1
    assert abs(learner.predict([[0.5]])[0] - 1.0) < 0.05


@pytest.mark.parametrize("risk", [Mean(), Variance(0.1), Entropic(-0.1)], ids=repr)
def test_a_jump_of_a_hundred_standard_deviations(risk):
    X, y = stream(n=12000)
    y[4000:] += 10.0  # the noise has a standard deviation of 0.1
    learner = COLK(
        Gaussian(0.1), Squared(), risk, averaging=Exponential(0.01), norm_bound=100.0, trace=True
    )
    learner.learn(X[:4000], y[:4000])
    assert error_of(learner.function) < 0.02
    learner.learn(X[4000:], y[4000:])
    assert learner.trace.norm.max() <= 100.0
    assert error_of(lambda x: learner.function(x) - 10.0) < 0.1


# -- the paper's printed settings ---------------------------------------------------------------


@pytest.mark.parametrize("outliers", [0.0, 0.1])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_printed_settings_finish_at_the_printed_size(outliers, seed):
    X, y = stream(n=24000, seed=seed, outliers=outliers)
    learner = COLK(
        Gaussian(0.06),
        Squared(),
        CentralMoments(4, 0.1),
        step_size=0.02,
        tracking_rate=0.01,
        compressor=KOMP(parsimony=5.0),
        trace=True,
    ).learn(X, y)
    settled = learner.trace.n_atoms[learner.steps // 2 :]
    assert settled.min() >= 18
    assert settled.max() <= 30
    assert error_of(learner.function) < (0.01 if outliers == 0.0 else 0.2)
