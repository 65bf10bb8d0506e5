"""Displays: what they compute, and that they draw it."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

from colk.estimators import (
    COLKClassifier,
    COLKRegressor,
    LearnedFunctionDisplay,
    LossDistributionDisplay,
    ModelOrderDisplay,
    RaceDisplay,
    RiskTradeoffDisplay,
)
from colk.estimators.displays.losses import tail_mean
from colk.risks import CVaR, Mean

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 2))
Y = np.sin(2 * X[:, 0]) + 0.2 * RNG.exponential(size=400)
SIDES = np.where(X[:, 0] * X[:, 1] > 0, "same", "opposite")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_function_of_one_feature():
    model = COLKRegressor(random_state=0).fit(X[:, :1], Y)
    display = LearnedFunctionDisplay.from_estimator(model, X[:, :1], Y, grid_resolution=50)
    np.testing.assert_array_equal(display.values, model.predict(display.grid[0][:, None]))
    _, drawn = display.ax_.get_lines()[1].get_data()
    np.testing.assert_array_equal(drawn, display.values)
    assert f"{model.n_atoms_} atoms" in [t.get_text() for t in display.ax_.get_legend().get_texts()]


@pytest.mark.parametrize("labels", [SIDES, np.digitize(Y, [-0.5, 0.5])])
def test_function_of_two_features_for_classes(labels):
    model = COLKClassifier(random_state=0).fit(X, labels)
    display = LearnedFunctionDisplay.from_estimator(model, X, labels, grid_resolution=20)
    assert display.values.shape == (20, 20)
    assert display.kind == ("score" if len(model.classes_) == 2 else "label")
    point = np.array([[display.grid[0][3], display.grid[1][7]]])
    place = display.values[3, 7] > 0 if display.kind == "score" else display.values[3, 7]
    assert model.classes_[int(place)] == model.predict(point)[0]


def test_more_features_cannot_be_drawn():
    model = COLKRegressor().fit(np.column_stack([X, X]), Y)
    with pytest.raises(ValueError, match="one or two features"):
        LearnedFunctionDisplay.from_estimator(model, np.column_stack([X, X]), Y)


def test_model_order_ends_where_one_pass_ends():
    model = COLKRegressor(epochs=1, shuffle=False)
    display = ModelOrderDisplay.from_estimator(model, X, Y, n_points=40)
    assert len(display.samples) == len(display.n_atoms) == 40
    assert display.n_atoms[-1] == model.fit(X, Y).n_atoms_
    classes = ModelOrderDisplay.from_estimator(COLKClassifier(), X, SIDES)
    assert classes.n_atoms[-1] > 1


def test_losses_and_their_tail():
    model = COLKRegressor(random_state=0).fit(X, Y)
    fig, ax = plt.subplots()
    display = LossDistributionDisplay.from_estimator(model, X, Y, tail_fraction=0.1, ax=ax)
    residuals = (model.predict(X) - Y) / model.target_scale_
    np.testing.assert_allclose(display.losses, model.loss_.value(residuals, np.zeros(400)))
    assert display.cvar == pytest.approx(np.sort(display.losses)[-40:].mean())
    assert display.figure_ is fig
    assert tail_mean(np.arange(4.0), 1.0) == 1.5
    assert tail_mean(np.arange(4.0), 0.375) == pytest.approx((3.0 + 0.5 * 2.0) / 1.5)


def test_tradeoff_has_a_point_for_each_risk():
    display = RiskTradeoffDisplay.from_estimator(
        COLKRegressor(random_state=0), X, Y, X, Y, risks=[Mean(), CVaR(0.5)]
    )
    expected = COLKRegressor(random_state=0).fit(X, Y)
    assert display.means[0] == pytest.approx(expected._losses(X, Y).mean())
    assert (display.tails > display.means).all()
    assert len(display.ax_.get_legend().get_texts()) == 2


def test_race_has_a_line_for_each_kernel():
    model = COLKRegressor(kernel="auto", bandwidth="auto", random_state=0).fit(X, Y)
    display = RaceDisplay.from_estimator(model)
    *lines, default, chosen = display.ax_.get_lines()
    assert len(lines) == 8
    drawn = {(x, y) for line in lines for x, y in zip(*line.get_data(), strict=True)}
    assert drawn == {(entry.factor, entry.loss) for entry in model.race_.entries}
    assert chosen.get_ydata()[0] == model.race_.winner.loss <= default.get_ydata()[0]


def test_without_a_race_there_is_nothing_to_draw():
    model = COLKRegressor(kernel="gaussian", bandwidth=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="there was no race"):
        RaceDisplay.from_estimator(model)
