"""TableModel: batches do not change the result, files restore everything."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colk
from colk._engine.running_scale import RunningScale
from colk.model.defaults import eps_share
from colk.tabular import TableModel

N = 300


def rows():
    rng = np.random.default_rng(0)
    columns = {
        "x": rng.normal(1e6, 1e3, N),
        "z": rng.uniform(size=N),
        "city": rng.choice(["Bonn", "Rome", "Oslo"], N).astype(object),
    }
    y = np.sin(columns["x"] / 500.0) + columns["z"] * (columns["city"] == "Rome")
    return columns, y


TARGETS = {
    "regression": lambda y: y,
    "classification": lambda y: np.where(y > 1.0, "high", np.where(y > 0.0, "mid", "low")),
}
MODELS = [
    ("regression", {}),
    ("regression", {"kernel": "gaussian", "risk": "variance", "averaging": False}),
    ("classification", {}),
    ("regression", {"kernel": "rational_quadratic", "step_size": 0.01}),
    ("regression", {"scale": False}),
    ("regression", {"solver": "newton", "risk": "variance"}),
    ("classification", {"solver": "newton", "forgetting": 0.99}),
]


def learned(task, options, cuts):
    columns, y = rows()
    model = TableModel("y", list(columns), categorical=["city"], task=task, **options)
    targets = TARGETS[task](y)
    for start, stop in zip([0, *cuts], [*cuts, N], strict=True):
        model.learn({n: v[start:stop] for n, v in columns.items()}, targets[start:stop])
    return model


def same(one, other):
    return (
        one.columns == other.columns
        and one.labels == other.labels
        and np.array_equal(one.function.atoms, other.function.atoms)
        and np.array_equal(one.function.weights, other.function.weights)
        and np.array_equal(one.center, other.center)
        and np.array_equal(one.unit, other.unit)
        and one.target_unit == other.target_unit
    )


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, N), max_size=6).map(sorted))
@pytest.mark.parametrize(("task", "options"), MODELS)
def test_batches_change_nothing(task, options, cuts):
    assert same(learned(task, options, cuts), learned(task, options, []))


@pytest.mark.parametrize(("task", "options"), MODELS)
def test_saved_models_learn_on_bit_for_bit(task, options, tmp_path):
    model = learned(task, options, [100])
    model.notes = {"a": [1.0, "b", {"c": None}]}
    colk.save(model, tmp_path / "m.colk")
    columns, y = rows()
    copies = [colk.load(tmp_path / "m.colk"), pickle.loads(pickle.dumps(model))]
    model.learn(columns, TARGETS[task](y))
    for copy in copies:
        assert copy.notes == model.notes
        assert same(copy.learn(columns, TARGETS[task](y)), model)
        assert copy.rows == 2 * N


def test_it_learns():
    columns, y = rows()
    model = learned("regression", {}, [])
    for _ in range(10):
        model.learn(columns, y)
    assert np.abs(model.predict(columns) - y).mean() < 0.3 * y.std()
    classifier = learned("classification", {}, [])
    labels = TARGETS["classification"](y)
    for _ in range(10):
        classifier.learn(columns, labels)
    assert (classifier.predict(columns) == labels).mean() > 0.8
    shares = classifier.predict_proba(columns)
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert np.array_equal(
        np.array(classifier.labels)[shares.argmax(axis=1)], classifier.predict(columns)
    )


def test_scales_are_those_of_all_rows():
    X = np.random.default_rng(0).normal(1e8, 1.0, size=(1000, 2))
    scales = RunningScale(2)
    scaled = X.copy()
    scales.absorb(scaled)
    assert np.allclose(scales.means, X.mean(axis=0), rtol=1e-14)
    assert np.allclose(scales.units, X.std(axis=0), rtol=1e-6)
    assert np.allclose(scaled[-1], (X[-1] - X.mean(axis=0)) / X.std(axis=0), rtol=1e-5)
    assert RunningScale(1).units == [1.0]


def test_categories_have_no_limit_but_classes_have():
    model = TableModel("y", ["id"], categorical=["id"])
    model.learn({"id": [str(number) for number in range(1000)]}, np.zeros(1000))
    assert model.columns == ["id"]
    assert model.category_values("id")[-1] == "999"
    with pytest.raises(ValueError, match="is it a regression"):
        TableModel("y", ["x"], task="classification").learn(
            {"x": np.arange(1000.0)}, [str(number) for number in range(1000)]
        )


def test_two_classes_by_their_margin():
    columns, y = rows()
    model = TableModel("y", ["x", "z"], task="classification", loss="hinge")
    model.learn(columns, np.where(y > 0.5, "yes", "no"))
    assert set(model.predict(columns)) == {"yes", "no"}
    with pytest.raises(TypeError, match="no probabilities"):
        model.predict_proba(columns)
    with pytest.raises(ValueError, match="two classes"):
        model.learn(columns, ["perhaps"] * N)


def test_compressed_models_predict():
    columns, _ = rows()
    model = learned("regression", {}, [])
    small, certificate = model.compressed(max_atoms=10)
    moved = np.abs(small.predict(columns) - model.predict(columns)).max()
    assert small.n_atoms == 10
    assert moved <= certificate.error * model.target_unit * (1.0 + 1e-9)
    with pytest.raises(ValueError, match="compressed model"):
        small.learn(columns, np.zeros(N))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"features": []}, "no features"),
        ({"features": ["y"]}, "among the features"),
        ({"features": ["x", "x"]}, "named twice"),
        ({"categorical": ["q"]}, "'q' is not among the features"),
        ({"task": "ranking"}, "task must be one of"),
        ({"loss": "hinge"}, "loss for classification"),
        ({"loss": "huber", "task": "classification"}, "loss for regression"),
        ({"bandwidth": -1.0}, "bandwidth"),
        ({"dates": ["q"]}, "'q' is not among the features"),
    ],
)
def test_settings_that_make_no_model(arguments, message):
    with pytest.raises(ValueError, match=message):
        TableModel("y", **{"features": ["x"], **arguments})


@pytest.mark.parametrize(
    ("columns", "y", "message"),
    [
        ({}, [1.0], "column 'x' is missing"),
        ({"x": [1e200]}, [1.0], "missing or beyond"),
        ({"x": [np.nan]}, [np.nan], "missing or beyond"),
        ({"x": [1.0]}, [np.inf], "missing or beyond"),
        ({"x": [1.0]}, [1.0, 2.0], "expected 1"),
        ({"x": ["a"]}, [1.0], "column of numbers"),
    ],
)
def test_bad_rows_leave_the_model_as_it_was(columns, y, message):
    model = TableModel("y", ["x"]).learn({"x": [1.0, 2.0]}, [1.0, 2.0])
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.learn(columns, y)
    assert pickle.dumps(model) == before


def test_nothing_learned_nothing_predicted():
    with pytest.raises(ValueError, match="not seen a row"):
        TableModel("y", ["x"]).predict({"x": [1.0]})


@pytest.mark.parametrize("risk", ["mean", "variance", "cvar"])
@pytest.mark.parametrize("kernel", ["laplacian", "gaussian", "linear"])
def test_steps_are_those_of_the_estimators(kernel, risk):
    """If κ(x, x) is not 1, they estimate it from their data, which are not known here."""
    X = np.random.default_rng(1).normal(size=(2000, 3))
    settings = {"kernel": kernel, "risk": risk}
    regressor = colk.COLKRegressor(**settings).partial_fit(X, X[:, 0])
    classifier = colk.COLKClassifier(**settings).partial_fit(X, X[:, 0] > 0.0, [False, True])
    for task, estimator in (("regression", regressor), ("classification", classifier)):
        model = TableModel("y", list("abc"), task=task, **settings)
        assert model.step_size == pytest.approx(estimator.step_size_, rel=0.1)
        ours, theirs = model._online.learner.compressor, estimator._online.learner.compressor
        assert ours.eps == theirs.eps
        share = theirs.fraction / eps_share(estimator._online.learner.loss)
        assert ours.fraction / eps_share(model.loss) == pytest.approx(share, rel=0.1)
        assert model._online.learner.implicit == estimator._online.learner.implicit
