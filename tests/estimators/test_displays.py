"""Displays compute the right values and draw them."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

mpl.use("Agg")

import matplotlib.pyplot as plt

from colk import COLK, ConformalRegressor
from colk.estimators import (
    COLKClassifier,
    COLKRegressor,
    FeatureRelevanceDisplay,
    IntervalDisplay,
    LearnedFunctionDisplay,
    LossDistributionDisplay,
    ModelOrderDisplay,
    RaceDisplay,
    RiskTradeoffDisplay,
    StreamDisplay,
)
from colk.estimators.displays.losses import tail_mean
from colk.kernels import Gaussian
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


def test_more_features_are_curves_of_mean_predictions():
    wide = np.column_stack([X, X[::-1]])
    model = COLKRegressor(random_state=0).fit(wide, Y)
    display = LearnedFunctionDisplay.from_estimator(model, wide, Y, grid_resolution=7)
    assert display.values.shape == (4, 7)
    assert len(display.ax_) == 4
    changed = wide[np.linspace(0, len(wide) - 1, 200).astype(int)]
    changed[:, 1] = display.grid[1][3]
    assert display.values[1, 3] == pytest.approx(model.predict(changed).mean(), abs=1e-12)


def test_several_classes_of_more_features_have_no_curve():
    wide = np.column_stack([X, X[::-1]])
    model = COLKClassifier(random_state=0).fit(wide, np.digitize(Y, [-0.5, 0.5]))
    with pytest.raises(ValueError, match="one or two features"):
        LearnedFunctionDisplay.from_estimator(model, wide)


def test_model_order_ends_where_one_pass_ends():
    model = COLKRegressor(epochs=1, shuffle=False)
    display = ModelOrderDisplay.from_estimator(model, X, Y, n_points=40)
    assert len(display.samples) == len(display.n_atoms) == 40
    assert display.n_atoms[-1] == model.fit(X, Y).n_atoms_
    classes = ModelOrderDisplay.from_estimator(COLKClassifier(), X, SIDES)
    assert classes.n_atoms[-1] > 1


def test_a_stream_shows_errors_before_learning_and_drift():
    x = np.random.default_rng(1).uniform(-1.0, 1.0, size=(3000, 1))
    y = np.where(np.arange(3000) < 1800, 1.0, -1.0) * np.sin(3.0 * x[:, 0])
    model = COLKRegressor(kernel="gaussian", random_state=0)
    display = StreamDisplay.from_estimator(model, x, y, n_points=30)
    np.testing.assert_array_equal(display.samples, np.arange(100, 3001, 100))
    twin = clone(model).partial_fit(x[:100], y[:100])
    expected = np.abs(twin.predict(x[100:200]) - y[100:200]).mean()
    assert np.isnan(display.errors[0])
    assert display.errors[1] == pytest.approx(expected)
    assert display.errors[18] > 10 * display.errors[17]  # the first block after the change
    (drift,) = display.drifts
    assert 1800 < drift <= 1900
    assert [line.get_xdata()[0] for line in display.axes_[1].lines[1:]] == [drift]


def test_a_stream_of_labels_shows_wrong_ones():
    figure, axes = plt.subplots(2)
    display = StreamDisplay.from_estimator(COLKClassifier(), X, SIDES, n_points=4, axes=axes)
    assert 0.0 < display.errors[-1] < 0.5
    assert display.n_atoms[-1] > 1
    assert display.figure_ is figure


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


SCALED = make_pipeline(StandardScaler(), COLKRegressor(random_state=0))
FAR = 1e3 * X + 5e3


def test_displays_look_through_pipelines():
    model = clone(SCALED).fit(FAR, Y)
    inside = StandardScaler().fit_transform(FAR)
    display = LossDistributionDisplay.from_estimator(model, FAR, Y)
    np.testing.assert_array_equal(display.losses, model[-1]._losses(inside, Y))
    order = ModelOrderDisplay.from_estimator(model, FAR, Y, n_points=5)
    expected = ModelOrderDisplay.from_estimator(model[-1], inside, Y, n_points=5)
    np.testing.assert_array_equal(order.n_atoms, expected.n_atoms)
    risks = [Mean(), CVaR(0.5)]
    tradeoff = RiskTradeoffDisplay.from_estimator(SCALED, FAR, Y, FAR, Y, risks=risks)
    expected = RiskTradeoffDisplay.from_estimator(SCALED[-1], inside, Y, inside, Y, risks=risks)
    np.testing.assert_array_equal(tradeoff.tails, expected.tails)
    assert SCALED[-1].risk == "mean"


def test_functions_of_pipelines_are_drawn_in_the_units_of_the_data():
    nested = make_pipeline(StandardScaler(), clone(SCALED)).fit(FAR[:, :1], Y)
    display = LearnedFunctionDisplay.from_estimator(nested, FAR[:, :1], Y, grid_resolution=30)
    np.testing.assert_array_equal(display.values, nested.predict(display.grid[0][:, None]))
    assert len(display.atoms) == nested[-1][-1].n_atoms_
    nearest = np.abs(display.atoms - FAR[:, 0]).min(axis=1)  # atoms are samples
    np.testing.assert_allclose(nearest, 0.0, atol=1e-6)
    lossy = make_pipeline(Normalizer(), clone(SCALED)).fit(FAR, Y)
    drawn = LearnedFunctionDisplay.from_estimator(lossy, FAR, Y, grid_resolution=5)
    assert drawn.atoms.shape == (0, 2)


def test_searches_show_their_best():
    frame = pd.DataFrame(FAR, columns=["left", "right"])
    search = GridSearchCV(SCALED, {"colkregressor__loss__threshold": [0.5, 1.0]}, cv=2)
    search.fit(frame, Y)
    display = LossDistributionDisplay.from_estimator(search, frame, Y)
    inside = search.best_estimator_[0].transform(frame)
    np.testing.assert_array_equal(display.losses, search.best_estimator_[-1]._losses(inside, Y))
    drawn = LearnedFunctionDisplay.from_estimator(search, frame, Y, grid_resolution=5)
    assert drawn.names == ["left", "right"]


def test_intervals_of_a_stream():
    model = ConformalRegressor(COLK(Gaussian(1.0)))
    display = IntervalDisplay.from_stream(model, X, Y, coverage=0.8)
    inside = (display.lower[:, 0] <= Y) & (display.upper[:, 0] >= Y)
    assert display.coverage[0] == inside.mean() == pytest.approx(0.8, abs=0.05)
    assert model.model.steps == 0
    missed = display.ax_.get_lines()[1].get_xdata()
    np.testing.assert_array_equal(missed, np.flatnonzero(~inside))
    shown = display.ax_.get_legend().get_texts()[0].get_text()
    assert shown == f"80 % interval: {100 * inside.mean():.1f} % covered"
    share = display.coverage_ax_.get_lines()[0].get_ydata()
    np.testing.assert_allclose(share[0], inside[:100].mean())
    np.testing.assert_allclose(share[-1], inside[-100:].mean())


class Quantiles(RegressorMixin, BaseEstimator):
    """Quantiles in a shuffled order; predictions of three columns."""

    quantiles = (0.75, 0.05, 0.95, 0.25)

    def fit(self, X, y):
        self.spread_ = np.quantile(y, self.quantiles)
        return self

    def predict(self, X):
        return np.zeros((len(X), 1)) + self.spread_


def test_intervals_of_quantiles():
    model = make_pipeline(StandardScaler(), Quantiles()).fit(X, Y)
    display = IntervalDisplay.from_estimator(model, X, Y)
    assert display.nominal == (0.9, 0.5)
    np.testing.assert_allclose(display.coverage, [0.9, 0.5], atol=0.01)
    assert display.label == "samples, sorted by prediction"
    np.testing.assert_array_equal(np.sort(display.position), np.arange(400))
    _, ax = plt.subplots()
    alone = IntervalDisplay.from_estimator(model, X, Y, feature=1, ax=ax)
    assert alone.coverage_ax_ is None
    np.testing.assert_array_equal(alone.position, X[:, 1])
    fitted = ConformalRegressor(Quantiles().fit(X, Y)).learn(X, Y)
    assert IntervalDisplay.from_estimator(fitted, X, Y, coverage=0.5).lower.shape == (400, 1)
    with pytest.raises(TypeError, match="COLKRegressor has no intervals"):
        IntervalDisplay.from_estimator(COLKRegressor().fit(X, Y), X, Y)


def test_intervals_that_are_known():
    display = IntervalDisplay.from_predictions(
        [1.0, 2.0, 3.0], [0.0, 2.5, -np.inf], [1.0, 3.0, 3.0]
    )
    assert display.coverage == pytest.approx(2 / 3)
    low, high = display.ax_.get_ylim()
    assert np.isfinite([low, high]).all()
    with pytest.raises(ValueError, match="position"):
        IntervalDisplay.from_predictions([1.0], [0.0], [2.0], position=[1.0, 2.0])


def test_widths_lie_on_the_diagonal_if_they_follow_the_difficulty():
    rng = np.random.default_rng(0)
    spread = rng.uniform(1.0, 5.0, size=20_000)
    y, half = spread * rng.normal(size=20_000), 1.645 * spread
    ends = np.append(half, np.inf)
    display = IntervalDisplay.from_predictions(np.append(y, 0.0), -ends, ends)
    ax = display.plot_widths()
    x, widths = ax.lines[0].get_data()
    assert len(x) == 10
    np.testing.assert_allclose(widths, x, rtol=0.08)
    assert np.all(np.diff(widths) > 0.0)


def test_race_has_a_line_for_each_kernel():
    model = COLKRegressor(kernel="auto", bandwidth="auto", random_state=0).fit(X, Y)
    display = RaceDisplay.from_estimator(model)
    entries = sorted(model.race_.entries, key=lambda entry: entry.loss)
    losses, chosen, default = display.ax_.get_lines()
    np.testing.assert_array_equal(losses.get_xdata(), [entry.loss for entry in entries])
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert len(labels) == len(entries) > 4
    assert all(entry.name in label for entry, label in zip(entries, labels, strict=True))
    assert any(label.endswith(", diagonal") for label in labels)
    assert chosen.get_xdata()[0] == model.race_.winner.loss <= default.get_xdata()[0]


def test_the_race_of_a_pipeline_and_of_a_search():
    pipeline = make_pipeline(StandardScaler(), COLKRegressor(random_state=0)).fit(X, Y)
    assert RaceDisplay.from_estimator(pipeline).race is pipeline[-1].race_
    search = GridSearchCV(pipeline, {"colkregressor__max_atoms": [20, 30]}, cv=2).fit(X, Y)
    assert RaceDisplay.from_estimator(search).race is search.best_estimator_[-1].race_


def test_without_a_race_there_is_nothing_to_draw():
    model = COLKRegressor(kernel="gaussian", bandwidth=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="has no race"):
        RaceDisplay.from_estimator(model)


def test_relevance_has_a_bar_for_each_feature_and_the_largest_is_first():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 4))
    model = COLKRegressor(random_state=0).fit(points, np.sin(2.0 * points[:, 2]))
    display = FeatureRelevanceDisplay.from_estimator(model, max_features=3)
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, np.sort(model.feature_relevance_)[::-1][:3])
    assert display.ax_.get_yticklabels()[0].get_text() == "feature 2"


def test_texts_and_dates_point_to_what_draws_them():
    from sklearn.inspection import PartialDependenceDisplay

    days = pd.date_range("2023-01-01", periods=100, freq="h")
    frame = pd.DataFrame({"x": X[:100, 0], "city": ["Bonn", "Rome"] * 50, "when": days})
    model = COLKRegressor(random_state=0).fit(frame, frame.x)
    with pytest.raises(TypeError, match=r"categorical_features.*colk show --plot"):
        LearnedFunctionDisplay.from_estimator(model, frame)
    given = {"categorical_features": ["city"], "ax": plt.figure().subplots()}  # as the message says
    PartialDependenceDisplay.from_estimator(model, frame, ["city"], **given)
