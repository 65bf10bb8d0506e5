"""ConformalRegressor covers its targets when streams jump, around every kind of model."""

import copy
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import SGDRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from colk import COLK, COLKRegressor, ConformalRegressor
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import NORMA


def jumps(n, seed=0):
    """A stream with two jumps: of the function, of the noise and of the level."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 2))
    f = np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2
    noise = (0.1 + 0.3 * (X[:, 0] > 0)) * (rng.exponential(size=n) - 1.0)
    third = np.arange(n) * 3 // n
    return X, np.where(third == 1, 1.0 - 2.0 * f + 5.0 * noise, f + noise + 10.0 * (third == 2))


def learner():
    return COLK(Gaussian(0.4), step_size=0.3, compressor=KOMP(eps=0.05), averaging=None)


def coverage_of(model, X, y, size=1, **settings):
    covered = 0
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        lower, upper = model.predict_interval(X[part], **settings).T
        covered += ((lower <= y[part]) & (y[part] <= upper)).sum()
        model.learn(X[part], y[part])
    return covered / len(y)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("coverage", "size"),
    [(0.5, 10), pytest.param(0.9, 1, marks=pytest.mark.slow), (0.9, 200), (0.95, 10)],
)
def test_coverage_over_a_stream_with_two_jumps(coverage, size):
    X, y = jumps(20_000)
    model = ConformalRegressor(learner(), coverage)
    assert coverage_of(model, X, y, size=size) == pytest.approx(coverage, abs=0.01)
    assert model.observed_coverage() == pytest.approx(coverage, abs=0.01)


class Useless:
    """A model without useful predictions."""

    quantiles = ()

    def learn(self, X, y):
        pass

    def predict(self, X):
        return np.zeros(len(X))


class Wrong(Useless):
    """Quantiles that cross, have the wrong levels, and cover few targets."""

    quantiles = (0.1, 0.5, 0.9)

    def predict(self, X):
        return np.column_stack([0.1 + X[:, 0], X[:, 0], X[:, 0]])


STATIC = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf", alpha=0.1))
MODELS = {
    "COLK": learner,
    "NORMA": lambda: NORMA(Gaussian(0.4)),
    "COLKRegressor": lambda: COLKRegressor(random_state=0),
    "SGDRegressor": lambda: SGDRegressor(random_state=0),
    "fitted pipeline": lambda: STATIC.fit(*jumps(300, seed=1)),
    "useless": Useless,
    "wrong quantiles": Wrong,
}


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_covers(name):
    X, y = jumps(4000)
    model = ConformalRegressor(MODELS[name](), 0.8)
    assert coverage_of(model, X, y, size=20) == pytest.approx(0.8, abs=0.02)


def test_quantiles_are_corrected_at_both_ends():
    """A heteroscedastic stream: intervals from quantiles are wide where the noise is."""

    class Ends(Useless):
        quantiles = (0.95, 0.5, 0.05)

        def predict(self, X):
            return X[:, :1] * [1.0, 0.0, -1.0]

    rng = np.random.default_rng(0)
    X = rng.uniform(0.1, 1.0, (3000, 1))
    y = 3.0 * X[:, 0] * rng.uniform(-1.0, 1.0, 3000)
    model = ConformalRegressor(Ends())
    assert coverage_of(model, X, y) == pytest.approx(0.9, abs=0.01)
    narrow, wide = np.ptp(model.predict_interval([[0.1], [1.0]]), axis=1)
    assert wide - narrow == pytest.approx(2.0 * 0.9)


def test_what_was_predicted_is_what_is_judged():
    """A call of up to 500 samples is one round, whose intervals `predict_interval` has given."""
    X, y = jumps(4000)
    model, covered = ConformalRegressor(learner()), []
    for start in range(0, 4000, 200):
        part = slice(start, start + 200)
        lower, upper = model.predict_interval(X[part]).T
        model.partial_fit(X[part], y[part])
        if start > 0:
            covered.extend(((lower <= y[part]) & (y[part] <= upper)).tolist())
        else:  # the whole line at first; then rounds of 10, the last of which have intervals
            before = model._rule.interval._levels[0.9]
            seen, missed = before.seen, before.missed
    covered.extend([True] * (seen - missed) + [False] * missed)
    assert model.observed_coverage() == pytest.approx(np.mean(covered))


def test_intervals_are_the_whole_line_at_first():
    model = ConformalRegressor(COLKRegressor(), coverage=0.9)
    assert np.isinf(model.predict_interval([[0.0, 0.0]])).all()
    assert math.isnan(model.observed_coverage())
    X, y = jumps(22)
    for x, target in zip(X[:20], y, strict=False):
        assert np.isinf(model.predict_interval([x])).all()
        model.learn_one(x, target)
    model.learn(X[20:], y[20:])
    assert np.isfinite(model.predict_interval(X)).all()
    assert model.predict(X).shape == (22,)


def test_another_coverage_is_followed_from_when_it_is_asked_for():
    X, y = jumps(4000)
    model = ConformalRegressor(learner(), 0.9)
    coverage_of(model, X[:1000], y[:1000], size=10)
    assert math.isnan(model.observed_coverage(0.5))
    found = coverage_of(model, X[1000:], y[1000:], size=10, coverage=0.5)
    assert found == pytest.approx(0.5, abs=0.02)
    assert model.observed_coverage() == pytest.approx(0.9, abs=0.02)


def test_copies_go_on_alone():
    X, y = jumps(600)
    model = ConformalRegressor(learner()).learn(X[:300], y[:300])
    twins = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    before = model.predict_interval(X)
    for twin in twins:
        twin.learn(X[300:], y[300:])
    np.testing.assert_array_equal(model.predict_interval(X), before)
    model.learn(X[300:], y[300:])
    for twin in twins:
        np.testing.assert_array_equal(twin.predict_interval(X), model.predict_interval(X))
        assert twin.observed_coverage() == model.observed_coverage()


def test_data_frames_keep_their_names():
    X, y = jumps(200)
    frame = pd.DataFrame(X, columns=["left", "right"])
    model = ConformalRegressor(COLKRegressor(random_state=0)).learn(frame, y)
    assert list(model.model.feature_names_in_) == ["left", "right"]
    assert model.predict_interval(frame).shape == (200, 2)


BAD = {
    "NaN in y": (lambda m, X, y: m.learn(X, np.where(y == y[70], np.nan, y)), "y"),
    "NaN in X": (lambda m, X, y: m.learn(np.where(X[70, 0] == X, np.nan, X), y), "X"),
    "lengths": (lambda m, X, y: m.learn(X, y[:-1]), "y"),
    "coverage": (lambda m, X, y: m.predict_interval(X, coverage=1.5), "coverage"),
    "features": (lambda m, X, y: m.learn(X[:, :1], y), "features"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_leaves_everything_as_it_was(name):
    call, message = BAD[name]
    X, y = jumps(100)
    model = ConformalRegressor(learner()).learn(X, y)
    before, steps = model.predict_interval(X), model.model.steps
    with pytest.raises(ValueError, match=message):
        call(model, X, y)
    np.testing.assert_array_equal(model.predict_interval(X), before)
    assert model.model.steps == steps


def test_models_that_cannot_be_used_are_refused():
    with pytest.raises(TypeError, match="model must have the method predict, got int"):
        ConformalRegressor(3)
    with pytest.raises(ValueError, match="KernelRidge is not fitted and has neither"):
        ConformalRegressor(KernelRidge()).learn([[0.0]], [0.0])
    X, y = jumps(60)
    two = COLKRegressor().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="COLKRegressor has 2 outputs"):
        ConformalRegressor(two).predict_interval(X)


def test_it_shows_how_it_was_made():
    model = ConformalRegressor(learner(), 0.8, local=True)
    made = eval(repr(model), {"ConformalRegressor": ConformalRegressor, **_names()})
    assert repr(made) == repr(model)


def _names():
    from colk import compressors, kernels, learners, losses, risks

    return {
        name: getattr(module, name)
        for module in (compressors, kernels, learners, losses, risks)
        for name in module.__all__
    }
