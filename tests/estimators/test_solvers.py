"""solver="newton": one pass instead of several, units, and limits of its values."""

import pickle

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from colk import COLKClassifier, COLKRegressor
from colk._engine.running_scale import COLUMNS, RunningScale
from colk.compressors import KOMP
from colk.kernels import Gaussian, Polynomial
from colk.learners import NewtonCOLK
from colk.losses import CustomLoss, Huber
from colk.risks import RISKS
from colk.schedules import Exponential

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 2))
Y = np.sin(2 * X[:, 0]) + 0.3 * RNG.normal(size=900)
LABELS = np.array(["low", "middle", "high"])[np.digitize(X.sum(axis=1), [-0.7, 0.7])]
SIDES = X[:, 0] * X[:, 1] > 0.0


def regressor(**settings):
    return COLKRegressor(solver="newton", random_state=0, **settings)


def classifier(**settings):
    return COLKClassifier(solver="newton", random_state=0, **settings)


def test_it_is_the_learner_on_scaled_targets():
    settings = {"kernel": "gaussian", "forgetting": 0.99, "prior": 0.2}
    model = regressor(**settings).partial_fit(X, Y)
    learner = NewtonCOLK(
        Gaussian(model.bandwidth_), Huber(1.0), prior=0.2, forgetting=0.99, restart=True,
        compressor=KOMP(eps=0.05, max_atoms=400), pairing="overlap",
    )  # fmt: skip
    points, targets = X.copy(), Y[:, None].copy()
    RunningScale(X.shape[1], COLUMNS).absorb(points)
    RunningScale(1).absorb(targets)
    learner.learn(points, targets[:, 0])
    values, deviations = learner.predict(model.encode_points(X), return_std=True)
    found, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(found, Y.mean() + Y.std() * values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(std, Y.std() * deviations, rtol=1e-9)
    assert (model.prior_, model.eps_, model.step_size_, model.gradient_bound_) == (
        0.2, 0.05, None, None,
    )  # fmt: skip


def test_one_pass_does_what_several_along_gradients_do():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(4000, 4))
    clean = np.sin(2 * points[:, 0]) + points[:, 1] * points[:, 2]
    y = clean + 0.5 * rng.normal(size=4000)

    def error(**settings):
        settings = {"kernel": "gaussian", "polish": False, "random_state": 0, **settings}
        model = COLKRegressor(**settings).fit(points[:3000], y[:3000])
        return np.mean((model.predict(points[3000:]) - clean[3000:]) ** 2)

    once = error(solver="newton", epochs=1)
    assert once < 0.7 * error(epochs=1)
    assert once < 1.15 * error(epochs=5)


def test_epochs_are_one_unless_they_are_given():
    assert regressor(polish=False).fit(X, Y).n_steps_ == 900
    assert regressor(polish=False, epochs=2).fit(X, Y).n_steps_ == 1800


@pytest.mark.parametrize("factor", [1e-3, 10.0, 1e3])
def test_units_of_the_loss_change_nothing(factor):
    def fitted(times):
        loss = CustomLoss(
            lambda f, y: times * min((f - y) ** 2 / 2, abs(f - y) - 0.5),
            lambda f, y: times * max(-1.0, min(1.0, f - y)),
            is_convex=True,
        )
        return regressor(kernel="gaussian", loss=loss, polish=False).fit(X, Y)

    np.testing.assert_allclose(
        fitted(factor).predict(X), fitted(1.0).predict(X), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**30])
def test_units_of_the_targets_change_nothing(unit):
    values, std = regressor().fit(X, Y).predict(X, return_std=True)
    found, scaled = regressor().fit(X, unit * Y).predict(X, return_std=True)
    np.testing.assert_array_equal(found, unit * values)
    np.testing.assert_array_equal(scaled, unit * std)


@pytest.mark.parametrize("factor", [2.0**-20, 4.0, 2.0**20])
def test_a_factor_of_the_kernel_changes_nothing(factor):
    settings = {"regularization": 0.0, "polish": False}
    values, std = regressor(kernel=Gaussian(1.0), **settings).fit(X, Y).predict(X, return_std=True)
    model = regressor(kernel=factor * Gaussian(1.0), **settings).fit(X, Y)
    found, scaled = model.predict(X, return_std=True)
    np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(scaled, std, rtol=1e-9)


def test_a_polynomial_learns():
    model = regressor(kernel=Polynomial(3), polish=False).fit(X, X[:, 0] ** 3 - X[:, 1])
    assert model.score(X, X[:, 0] ** 3 - X[:, 1]) > 0.99


@pytest.mark.parametrize("risk", RISKS)
def test_every_risk_is_learned(risk):
    quick = {"kernel": "gaussian", "max_atoms": 60, "risk": risk}
    assert regressor(**quick).fit(X, Y).score(X, Y) > 0.6
    assert classifier(**quick).fit(X, SIDES).score(X, SIDES) > 0.9


def test_data_choose_the_kernel_as_they_do_for_gradients():
    race = COLKRegressor(random_state=0).fit(X, Y).race_
    model = regressor().fit(X, Y)
    assert str(model.race_) == str(race)
    assert model.kernel_ == race.kernel
    stream = regressor()
    for start in range(0, 900, 30):
        stream.partial_fit(X[start : start + 30], Y[start : start + 30])
    assert stream.race_ is not None
    assert stream.score(X, Y) > 0.8
    assert stream.predict(X, return_std=True)[1].shape == (900,)


def test_classes_have_probabilities():
    assert classifier().fit(X, LABELS).score(X, LABELS) > 0.95
    margin = classifier(loss="hinge").fit(X, SIDES)
    assert margin.score(X, SIDES) > 0.95
    stream = classifier().partial_fit(X, SIDES, classes=[False, True])
    np.testing.assert_allclose(stream.predict_proba(X).sum(axis=1), 1.0)
    assert stream.score(X, SIDES) > 0.95


def test_weights_are_repetition():
    """Without compression they are equal up to rounding, unlike gradient steps."""
    points, y = X[:60], Y[:60]
    weight = np.random.default_rng(2).integers(0, 4, size=60)
    settings = {
        "kernel": Gaussian(0.3), "loss": "squared", "polish": False, "shuffle": False, "eps": 0.0,
        "scale_targets": False,
    }  # fmt: skip
    weighted = regressor(**settings).fit(points, y, sample_weight=weight)
    repeated = regressor(**settings).fit(np.repeat(points, weight, 0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-8)


def test_several_outputs_have_deviations_of_their_own():
    targets = np.column_stack([Y, 1e5 * (np.cos(X[:, 1]) + 0.1 * RNG.normal(size=900))])
    values, std = regressor().fit(X, targets).predict(X, return_std=True)
    assert values.shape == std.shape == (900, 2)
    assert 0.2 < np.median(std[:, 0]) < 0.5
    assert 1e4 < np.median(std[:, 1]) < 2e4


def test_pickles_learn_on_to_the_bit():
    model = regressor(kernel="gaussian", forgetting=0.99).partial_fit(X[:500], Y[:500])
    twin = pickle.loads(pickle.dumps(model))
    pair = [one.partial_fit(X[500:], Y[500:]).predict(X, return_std=True) for one in (model, twin)]
    np.testing.assert_array_equal(pair[0], pair[1])


def test_a_search_finds_the_solver_and_its_settings():
    grid = {"solver": ["newton"], "prior": [0.1, 10.0], "forgetting": [0.5, 1.0]}
    search = GridSearchCV(
        COLKRegressor(kernel="gaussian", polish=False, random_state=0), grid, cv=3
    ).fit(X, Y)
    assert search.best_params_["forgetting"] == 1.0


def test_another_solver_leaves_nothing_behind():
    model = COLKRegressor(random_state=0).fit(X, Y)
    assert model.prior_ is None
    model.set_params(solver="newton").fit(X, Y)
    assert model.step_size_ is None
    assert model.prior_ == 0.1


@pytest.mark.parametrize("settings", [{"polish": False}, {"risk": "cvar"}])
def test_deviations_need_curvature(settings):
    model = COLKRegressor(random_state=0, **settings).fit(X, Y)
    with pytest.raises(ValueError, match="return_std needs solver='newton', or a fit"):
        model.predict(X, return_std=True)


@pytest.mark.parametrize("kind", [COLKRegressor, COLKClassifier])
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"solver": "second"}, r"solver must be one of \['gradient', 'newton'\], got 'second'"),
        ({"solver": None}, "solver must be one of"),
        ({"solver": "newton", "step_size": 0.5}, "step_size=0.5 would be ignored beside solver"),
        ({"solver": "newton", "gradient_bound": 1.0}, "gradient_bound=1.0 would be ignored"),
        ({"solver": "newton", "averaging": Exponential(0.1)}, "averaging=Exponential.* ignored"),
        ({"forgetting": 0.9}, "forgetting=0.9 would be ignored beside solver='gradient'"),
        ({"prior": 0.5}, "prior=0.5 would be ignored beside solver='gradient'"),
        ({"solver": "newton", "prior": 0.0}, "prior must be"),
        ({"solver": "newton", "forgetting": 0.0}, "forgetting must"),
    ],
    ids=str,
)
def test_bad_settings_are_refused_and_leave_the_model_as_it_was(kind, settings, said):
    model = kind(kernel="gaussian", random_state=0).fit(X, SIDES)
    before = model.predict(X)
    model.set_params(**settings)
    with pytest.raises(ValueError, match=said):
        model.fit(X, SIDES)
    np.testing.assert_array_equal(model.predict(X), before)
