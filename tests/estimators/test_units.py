"""The units of loss, targets and scaled features do not change the model."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from colk import COLKClassifier, COLKRegressor
from colk.losses import LOSSES, CustomLoss, Huber, Logistic, Squared
from colk.losses.scale import loss_scale
from colk.model.defaults import needs_implicit_step
from colk.risks import RISKS, Mean
from colk.river import COLKRegressor as RiverRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 4))
Y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.2 * RNG.normal(size=900)
TRAIN, TEST = slice(None, 600), slice(600, None)
FACTORS = [1e-3, 0.1, 10.0, 1e3]
LABELS = Y > 0.3


# In plain Python: compiled formulas cannot be called from a loss of one's own.
FORMULAS = {
    "squared": (lambda f, y: (f - y) ** 2, lambda f, y: 2 * (f - y)),
    "huber": (
        lambda f, y: min((f - y) ** 2 / 2, abs(f - y) - 0.5),
        lambda f, y: max(-1.0, min(1.0, f - y)),
    ),
    "absolute": (lambda f, y: abs(f - y), lambda f, y: float(np.sign(f - y))),
    "logistic": (
        lambda f, y: float(np.logaddexp(0.0, -y * f)),
        lambda f, y: -y / (1.0 + float(np.exp(y * f))),
    ),
}


def times(name, factor):
    """A loss, multiplied by a number."""
    value, slope = FORMULAS[name]
    return CustomLoss(
        lambda f, y: factor * value(f, y),
        lambda f, y: factor * slope(f, y),
        kind="binary" if name == "logistic" else "regression",
        is_convex=True,
        kinks=(0.0,) if name == "absolute" else (),
    )


def score(model, targets=Y):
    return model.fit(X[TRAIN], targets[TRAIN]).score(X[TEST], targets[TEST])


@pytest.mark.parametrize("polish", [True, False])
@pytest.mark.parametrize("name", ["squared", "huber", "absolute"])
def test_a_loss_times_a_constant_is_the_same_model(name, polish):
    settings = {"kernel": "gaussian", "polish": polish, "epochs": 1, "random_state": 0}
    expected = score(COLKRegressor(loss=times(name, 1.0), **settings))
    assert expected > 0.8
    for factor in FACTORS:
        found = score(COLKRegressor(loss=times(name, factor), **settings))
        assert found == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("polish", [True, False])
def test_a_loss_of_labels_times_a_constant_is_the_same_model(polish):
    settings = {"kernel": "gaussian", "polish": polish, "epochs": 1, "random_state": 0}
    expected = score(COLKClassifier(loss=times("logistic", 1.0), **settings), LABELS)
    for factor in FACTORS:
        found = score(COLKClassifier(loss=times("logistic", factor), **settings), LABELS)
        assert found == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("polish", [True, False])
def test_units_of_targets_and_features_change_nothing(polish):
    settings = {"polish": polish, "random_state": 0}
    expected = score(COLKRegressor(**settings))
    for factor in (1e-6, 1e6):
        assert score(COLKRegressor(**settings), factor * Y) == pytest.approx(expected, abs=0.01)
    units = np.array([1e-3, 1e3, 1.0, 1e3])
    scaled = make_pipeline(StandardScaler(), COLKRegressor(**settings))
    plain = scaled.fit(X[TRAIN], Y[TRAIN]).score(X[TEST], Y[TEST])
    again = scaled.fit(units * X[TRAIN], Y[TRAIN]).score(units * X[TEST], Y[TEST])
    assert again == pytest.approx(plain, abs=0.01)


def test_river_too_does_not_mind_the_unit_of_the_loss():
    rows = [dict(zip("abcd", row, strict=True)) for row in X.tolist()]

    def error(factor):
        model, total = RiverRegressor(loss=times("huber", factor), kernel="laplacian"), 0.0
        for x, y in zip(rows, Y.tolist(), strict=True):
            total += abs(model.predict_one(x) - y)
            model.learn_one(x, y)
        return total / len(rows)

    expected = error(1.0)
    for factor in FACTORS:
        assert error(factor) == pytest.approx(expected, rel=0.01)


def test_no_step_runs_away():
    """An explicit step of size 50 would overshoot by as much."""
    settings = {"kernel": "gaussian", "polish": False, "epochs": 1, "random_state": 0}
    for loss in ("squared", "huber", "epsilon_insensitive"):
        for step_size in (5.0, 50.0):
            model = COLKRegressor(loss=loss, step_size=step_size, **settings)
            assert score(model) > 0.7


@pytest.mark.parametrize("name", LOSSES)
def test_a_step_that_is_not_implicit_stays_short_of_the_best_prediction(name):
    loss = LOSSES[name]()
    step = 1.0 / loss_scale(loss)
    if loss.kind != "regression" or needs_implicit_step(loss, Mean(), step):
        return
    residuals = np.linspace(-20.0, 20.0, 401)
    after = residuals - step * loss.slope(residuals, np.zeros(401))
    assert (loss.value(after, np.zeros(401)) <= loss.value(residuals, np.zeros(401)) + 1e-12).all()
    assert (after * residuals >= -1e-12).all()


def test_under_a_risk_steps_are_implicit():
    for name, risk in RISKS.items():
        assert needs_implicit_step(Huber(), risk(), 0.1) == (name != "mean")
    assert not needs_implicit_step(Logistic(), Mean(), 2.0)
    assert needs_implicit_step(Logistic(), Mean(), 3.0)
    assert needs_implicit_step(Squared(), Mean(), 0.5, largest=2.0)
