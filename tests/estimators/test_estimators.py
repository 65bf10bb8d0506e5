"""COLKRegressor and COLKClassifier: laws, units, weights, containers, scikit-learn tools."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from colk.estimators import COLKClassifier, COLKRegressor
from colk.kernels import Gaussian, Linear
from colk.losses import Huber, Pinball
from colk.risks import RISKS, Variance
from colk.schedules import Exponential

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
Y = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=300)
LABELS = np.array(["low", "middle", "high"])[np.digitize(X.sum(axis=1), [-0.7, 0.7])]
SIDES = np.where(X[:, 0] * X[:, 1] > 0, "same", "opposite")


def regressor(**settings):
    return COLKRegressor(random_state=0, **settings)


def classifier(**settings):
    return COLKClassifier(random_state=0, **settings)


@pytest.mark.parametrize("risk", ["mean", "variance", "cvar"])
@pytest.mark.parametrize("averaging", [True, False])
def test_one_epoch_without_shuffling_is_partial_fit_to_the_bit(risk, averaging):
    settings = {
        # fit and streams choose a kernel and scales by other samples
        "kernel": "laplacian",
        "bandwidth": 1.0,
        "standardize": False,
        "epochs": 1,
        "shuffle": False,
        "polish": False,
        "risk": risk,
        "averaging": averaging,
    }
    of_numbers = {**settings, "scale_targets": False}
    whole = regressor(**of_numbers).fit(X, Y)
    part = regressor(**of_numbers).partial_fit(X, Y)
    np.testing.assert_array_equal(whole.predict(X), part.predict(X))
    assert whole.function_ == part.function_
    whole = classifier(**settings).fit(X, LABELS)
    part = classifier(**settings).partial_fit(X, LABELS, classes=np.unique(LABELS))
    np.testing.assert_array_equal(whole.predict_proba(X), part.predict_proba(X))


def test_chunks_do_not_matter_once_the_units_are_known():
    settings = {"bandwidth": 1.0, "scale_targets": False, "risk": "variance"}
    whole = regressor(**settings).partial_fit(X, Y)
    chunks = regressor(**settings)
    for start in range(0, 300, 7):
        chunks.partial_fit(X[start : start + 7], Y[start : start + 7])
    np.testing.assert_array_equal(whole.predict(X), chunks.predict(X))


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**30])
def test_units_of_the_targets_do_not_matter(unit):
    expected = regressor().fit(X, Y)
    model = regressor().fit(X, unit * Y)
    np.testing.assert_array_equal(model.predict(X), unit * expected.predict(X))
    assert model.n_atoms_ == expected.n_atoms_


def test_an_offset_of_the_targets_moves_the_intercept_alone():
    expected, model = regressor().fit(X, Y), regressor().fit(X, Y + 1e6)
    np.testing.assert_allclose(model.predict(X) - 1e6, expected.predict(X), atol=1e-6)


def test_equal_targets_are_predicted():
    np.testing.assert_allclose(regressor().fit(X, np.full(300, 7.5)).predict(X), 7.5, rtol=1e-14)
    np.testing.assert_array_equal(regressor().fit(X, np.zeros(300)).predict(X), 0.0)


def test_samples_one_at_a_time_find_their_scale():
    model = regressor()
    for x, y in zip(X, 1e6 + 1e3 * Y, strict=True):
        model.partial_fit(x[None], [y])
    assert 500.0 < model.target_scale_ < 2000.0
    assert model.score(X, 1e6 + 1e3 * Y) > 0.8


def test_function_and_intercept_are_the_prediction():
    model = regressor().fit(X, Y)
    np.testing.assert_allclose(model.function_(X) + model.intercept_, model.predict(X), atol=1e-12)
    machine = classifier().fit(X, SIDES)
    np.testing.assert_array_equal(machine.function_(X), machine.decision_function(X))


def test_several_outputs():
    targets = np.column_stack([Y, 1e5 * np.cos(X[:, 1])])
    model = regressor().fit(X, targets)
    assert model.predict(X).shape == (300, 2)
    assert model.score(X, targets) > 0.8
    np.testing.assert_allclose(model.function_(X) + model.intercept_, model.predict(X), rtol=1e-9)
    with pytest.raises(ValueError, match="y has 1 outputs, the model was fitted with 2"):
        model.partial_fit(X, Y)


def test_attributes():
    model = regressor(kernel="laplacian", risk=Variance(0.1), epochs=3).fit(X, Y)
    assert model.n_steps_ == 3 * 300  # the mean finds the atoms, one step a sample
    assert len(model.loss_curve_) == 3
    assert model.loss_curve_[2] < model.loss_curve_[0]
    assert model.inner_estimate_.shape == (1,)
    assert model.n_atoms_ == model.function_.n_atoms <= 400
    assert model.bandwidth_ == pytest.approx(np.sqrt(np.var(X)))
    assert model.n_features_in_ == 2
    assert model.step_size_ == 1.0
    assert 0.0 < model.eps_ < 0.05  # a share of the steps made
    assert not hasattr(model, "feature_names_in_")


def test_names_and_objects_are_the_same():
    by_name = regressor(kernel="gaussian", bandwidth=0.5, loss="huber", risk="variance")
    objects = regressor(kernel=Gaussian(0.5), loss=Huber(1.0), risk=Variance(0.1))
    np.testing.assert_array_equal(by_name.fit(X, Y).predict(X), objects.fit(X, Y).predict(X))
    assert objects.bandwidth_ == 0.5
    assert regressor(kernel="linear").fit(X, Y).kernel_ == Linear()
    assert regressor(kernel="linear").fit(X, Y).bandwidth_ is None


def test_bandwidth_rules():
    gaussian = regressor(kernel="gaussian").fit(X, Y)
    assert gaussian.bandwidth_ == pytest.approx(np.sqrt(2 * np.var(X) / 2))
    median = regressor(kernel="gaussian", bandwidth="median").fit(X, Y)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)[np.triu_indices(300, 1)]
    assert median.bandwidth_ == pytest.approx(np.median(distances))
    one_point = regressor(bandwidth="median", eps=0.0).fit(np.ones((5, 2)), Y[:5])
    assert one_point.bandwidth_ == 1.0


@pytest.mark.filterwarnings("ignore:one value in all rows")
def test_weights_act_like_repetition_on_average():
    """A sample of weight 3 pulls like three of weight 1: the quantile that is learned shows it."""
    rng = np.random.default_rng(1)
    points = np.zeros((20000, 1))
    y = rng.integers(0, 2, size=20000).astype(float)
    weight = np.where(y == 1.0, 3.0, 1.0)
    settings = {"loss": "squared", "epochs": 1, "step_size": 0.01, "eps": 0.0}
    weighted = regressor(**settings).fit(points, y, sample_weight=weight)
    repeated = np.repeat(y, weight.astype(int))
    again = regressor(**settings).fit(np.zeros((len(repeated), 1)), repeated)
    expected = np.average(y, weights=weight)
    assert weighted.predict([[0.0]])[0] == pytest.approx(expected, abs=0.02)
    assert again.predict([[0.0]])[0] == pytest.approx(expected, abs=0.02)


def test_samples_of_weight_zero_are_not_seen():
    weight = (np.arange(300) < 200).astype(float)
    model = regressor(shuffle=False).fit(X, Y, sample_weight=weight)
    assert model.n_steps_ == 200
    assert model.intercept_ == pytest.approx(Y[:200].mean())


def test_labels_of_three_kinds_and_probabilities():
    model = classifier().fit(X, LABELS)
    assert model.score(X, LABELS) > 0.9
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    chosen = model.classes_[probabilities.argmax(axis=1)]
    np.testing.assert_array_equal(chosen, model.predict(X))
    assert classifier(loss="squared_hinge").fit(X, LABELS).score(X, LABELS) > 0.9
    with pytest.raises(AttributeError, match="predict_proba"):
        classifier(loss="hinge").fit(X, LABELS).predict_proba(X)


def test_two_labels_by_softmax_agree_with_logistic():
    model = classifier(loss="softmax").fit(X, SIDES)
    assert model.decision_function(X).shape == (300,)
    assert (model.predict(X) == classifier().fit(X, SIDES).predict(X)).mean() > 0.97


def test_data_frames_keep_their_names():
    names = ["left", "right"]
    expected = regressor().fit(X, Y).predict(X)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = regressor().fit(frame, Y)
        assert list(model.feature_names_in_) == names
        np.testing.assert_array_equal(model.predict(frame), expected)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=["right", "left"]))


def test_tools_of_scikit_learn():
    pipeline = make_pipeline(StandardScaler(), COLKRegressor(random_state=0))
    pipeline.set_output(transform="pandas")
    assert cross_val_score(pipeline, X, Y, cv=3).min() > 0.6
    grid = {"colkregressor__max_atoms": [3, 300], "colkregressor__loss": ["huber", "squared"]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, Y)
    assert search.best_params_["colkregressor__max_atoms"] == 300
    assert clone(search.best_estimator_).get_params()["colkregressor__max_atoms"] == 300


def test_quantiles_cover_what_they_promise():
    for level in (0.1, 0.9):
        model = regressor(loss=Pinball(level), step_size=0.2, epochs=20).fit(X, Y)
        assert (model.predict(X) > Y).mean() == pytest.approx(level, abs=0.08)


@pytest.mark.parametrize("risk", RISKS)
def test_every_risk_learns_with_the_defaults(risk):
    assert regressor(risk=risk, epochs=20).fit(X, Y).score(X, Y) > 0.7
    assert classifier(risk=risk, epochs=20).fit(X, SIDES).score(X, SIDES) > 0.85


def test_averaging_is_a_choice():
    model = regressor(averaging=Exponential(0.1)).fit(X, Y)
    assert model.score(X, Y) > 0.8
    with pytest.raises(TypeError, match="averaging must be True, False, PolyakRuppert"):
        regressor(averaging="often").fit(X, Y)


BAD_SAMPLES = {
    "infinity in X": (np.where(X[3, 1] == X, np.inf, X), Y, "infinity"),
    "NaN in y": (X, np.where(Y[5] == Y, np.nan, Y), "NaN"),
    "infinity in a sparse X": (csr_array(np.where(X[3, 1] == X, np.inf, X)), Y, "infinity"),
    "vector X": (X[:, 0], Y, "2D array"),
    "complex X": (X + 1j, Y, "[Cc]omplex"),
    "lists in X": (np.array([[{}, 1.0]] * 300, dtype=object), Y, "a string or a number"),
    "lengths": (X, Y[:-1], "inconsistent"),
    "no samples": (X[:0], Y[:0], "0 sample"),
    "strings in y": (X, np.full(300, "a"), "convert"),
    "three-dimensional y": (X, np.zeros((300, 1, 1)), "dim"),
}


@pytest.mark.each_value
@pytest.mark.parametrize(("points", "y", "message"), BAD_SAMPLES.values(), ids=BAD_SAMPLES)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_samples_leave_a_fitted_regressor_unchanged(points, y, message, method):
    model = regressor().fit(X, Y)
    before, state = model.predict(X), dict(vars(model))
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(model, method)(points, y)
    np.testing.assert_array_equal(model.predict(X), before)
    assert vars(model).keys() == state.keys()


BAD_SETTINGS = {
    "kernel": ("cosine", "kernel 'cosine' is unknown; choose one of"),
    "bandwidth": ("wide", "'scale' or 'median'"),
    "loss": ("logistic", "a loss for classification"),
    "risk": (0.5, "risk must be a Risk or one of"),
    "step_size": (-1.0, "step_size"),
    "eps": (-0.1, "eps"),
    "max_atoms": (0, "max_atoms"),
    "epochs": (0, "epochs"),
    "pairing": ("twice", "pairing"),
    "gradient_bound": (0.0, "gradient_bound"),
    "regularization": (-1.0, "regularization"),
    "tracking_rate": (2.0, "tracking_rate"),
}


@pytest.mark.parametrize("name", BAD_SETTINGS)
def test_bad_settings_leave_a_fitted_model_unchanged(name):
    value, message = BAD_SETTINGS[name]
    model = regressor().fit(X, Y)
    before = model.predict(X)
    with pytest.raises((ValueError, TypeError), match=message):
        model.set_params(**{name: value}).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), before)


BAD_LABELS = {
    "one class": ("fit", (X, np.full(300, "same")), "at least 2 classes"),
    "unseen class": ("partial_fit", (X, np.full(300, "else")), "not among the classes"),
    "continuous": ("fit", (X, Y), "continuous"),
    "other classes": ("partial_fit", (X, SIDES, ["a", "b"]), "differ from those"),
    "features": ("partial_fit", (X[:, :1], SIDES), "features"),
    "negative weight": ("fit", (X, SIDES, -np.ones(300)), "[Nn]egative"),
}


@pytest.mark.parametrize(("method", "arguments", "message"), BAD_LABELS.values(), ids=BAD_LABELS)
def test_bad_labels_leave_a_fitted_classifier_unchanged(method, arguments, message):
    model = classifier().fit(X, SIDES)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(*arguments)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_classes_are_needed_at_first():
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        classifier().partial_fit(X, SIDES)
    with pytest.raises(ValueError, match="a loss for regression"):
        classifier(loss="huber").fit(X, SIDES)
