"""Columns that hardly vary do not count; moving any column moves predictions smoothly."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

import colk
from colk import COLKClassifier, COLKQuantileRegressor, COLKRegressor
from colk.cli import main
from colk.data import load_bike_rentals
from colk.distributed import DaskCOLKRegressor
from colk.selection import contenders_for, race
from colk.tabular import TableModel

VALUES = [0.0, 0.1, -7.7, 1000.1, 1e9 + 0.1]
MOVES = [1e-9, 1e-6, 1.0, -1e6]

pytestmark = pytest.mark.filterwarnings("ignore:one value in all rows")


def table(n, value=0.1, seed=0, noise=0):
    """Rows in which only a, b and t say something; c is a constant, up to `noise` spacings."""
    rng = np.random.default_rng(seed)
    steps = rng.integers(-noise, noise + 1, size=n)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.normal(size=n),
            "c": value + steps * np.spacing(value),
            "t": rng.choice(["x", "y"], n),
        }
    )
    return X, (np.sin(2 * X.a) + 0.5 * X.b + (X.t == "x")).to_numpy()


def r2(y, found):
    return 1.0 - np.mean((y - found) ** 2) / np.var(y)


def moved(X, by):
    return X.assign(c=X["c"] + by)


def columns(X):
    return {name: X[name].to_numpy() for name in X.columns}


def parts(X, y, size=50):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(X), size)]


def numbers(X):
    return np.column_stack([X["a"], 100.0 * X["b"], X["c"], X["t"] == "x"])


# -- the doors: each takes rows and targets, and returns the function that predicts ---------------


def of_frame(X, y):
    return COLKRegressor(random_state=0).fit(X, y).predict


def of_gaps(X, y):
    X = numbers(X)
    X[::7, 1] = np.nan
    X[3::9, 2] = np.nan
    model = COLKRegressor(random_state=0).fit(X, y)
    return lambda X: model.predict(numbers(X))


def of_array(**settings):
    def door(X, y):
        model = COLKRegressor(random_state=0, **settings).fit(numbers(X), y)
        return lambda X: model.predict(numbers(X))

    return door


def of_like_columns(X, y):
    model = COLKRegressor(random_state=0).fit(X[["a", "b", "c"]].to_numpy(), y)
    return lambda X: model.predict(X[["a", "b", "c"]].to_numpy())


def of_parts(X, y):
    model = COLKRegressor(random_state=0, solver="newton")
    for rows, targets in parts(X, y):
        model.partial_fit(rows, targets)
    return model.predict


def of_batches(X, y):
    model = COLKRegressor(random_state=0).fit(parts(numbers(X), y))
    return lambda X: model.predict(numbers(X))


def of_quantiles(X, y):
    model = COLKQuantileRegressor([0.5], random_state=0).fit(X, y)
    return lambda X: model.predict(X)[:, 0]


def of_dask(X, y):
    with ThreadPoolExecutor(2) as pool:
        model = DaskCOLKRegressor(client=pool, sample_size=400, random_state=0)
        model.fit(numbers(X), y)
    return lambda X: model.predict(numbers(X))


def of_table(X, y):
    model = TableModel("y", list(X), ["t"]).fit([(columns(X), y)])
    return lambda X: model.predict(columns(X))


def of_unscaled_table(X, y):
    model = TableModel("y", list(X), ["t"], scale=False).fit([(columns(X), y)])
    return lambda X: model.predict(columns(X))


def of_stream_of_tables(X, y):
    model = TableModel("y", list(X), ["t"], solver="newton")
    for rows, targets in parts(X, y):
        model.learn(columns(rows), targets)
    return lambda X: model.predict(columns(X))


DOORS = {
    "frame": of_frame,
    "gaps": of_gaps,
    "array": of_array(),
    "standardised": of_array(standardize=True),
    "unscaled": of_array(standardize=False),
    "gaussian": of_array(kernel="gaussian"),
    "like columns": of_like_columns,
    "partial_fit": of_parts,
    "batches": of_batches,
    "quantiles": of_quantiles,
    "dask": of_dask,
    "table": of_table,
    "unscaled table": of_unscaled_table,
    "learn": of_stream_of_tables,
}
# Without t, a third of the variance is unexplained.
LEAST = {"like columns": 0.6, "gaps": 0.8}


@pytest.mark.each_value
@pytest.mark.parametrize("noise", [0, 4], ids=["constant", "nearly constant"])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("door", DOORS)
def test_a_constant_column_does_not_count(door, value, noise):
    if noise and value == 0.0:
        pytest.skip("numbers around 0 have no resolution")
    predict = DOORS[door](*table(600, value, noise=noise))
    X, y = table(200, value, seed=1)
    expected = predict(X)
    assert r2(y, expected) > LEAST.get(door, 0.9)
    for move in MOVES:
        assert np.array_equal(predict(moved(X, move)), expected)


def test_a_classifier_leaves_out_a_constant_column():
    X, y = table(600, 0.3)
    model = COLKClassifier(random_state=0).fit(X, y > 0.5)
    X, y = table(400, 0.3, seed=1)
    assert model.score(X, y > 0.5) > 0.93
    assert np.array_equal(model.predict_proba(moved(X, 1e-9)), model.predict_proba(X))
    assert np.array_equal(model.predict_proba(moved(X, 1e9)), model.predict_proba(X))


@pytest.mark.parametrize("noise", [0, 4])
@pytest.mark.parametrize("value", VALUES[1:])
def test_a_constant_column_has_no_relevance(value, noise):
    X, y = table(600, value, noise=noise)
    framed = COLKRegressor(random_state=0).fit(X, y)
    assert framed.feature_relevance_.argmax() == 0
    assert framed.feature_relevance_[2] == 0.0
    found = race(X[["a", "b", "c"]].to_numpy(), y[:, None] / y.std(), contenders_for("auto"))
    metric = np.eye(3) if found.kernel.metric is None else found.kernel.metric
    inner = found.kernel.of_atoms if found.kernel.metric is None else found.kernel.kernel
    assert np.max(np.linalg.norm(metric, axis=1) / np.asarray(inner.bandwidth)) < 100.0


def test_categories_dates_and_columns_of_gaps_may_be_constant_too():
    X, y = table(600)
    same = {"text": "DE", "date": np.datetime64("2024-03-01T12:00"), "gap": np.nan}
    model = COLKRegressor(random_state=0).fit(X.assign(**same), y)
    X, y = table(300, seed=1)
    expected = model.predict(X.assign(**same))
    assert r2(y, expected) > 0.9
    for other in ({"text": "FR"}, {"date": np.datetime64("2025-07-09T01:00")}):
        assert np.array_equal(model.predict(X.assign(**same | other)), expected)
    # The column of gaps has an indicator, which changes.
    assert r2(y, model.predict(X.assign(**same | {"gap": 1e6}))) > 0.8


def test_a_constant_date_does_not_count_in_a_stream():
    X, y = table(600)
    model = TableModel("y", ["a", "b", "d"], dates=["d"], solver="newton")
    days = np.full(600, np.datetime64("2024-03-01T12:00"))
    for some in np.array_split(np.arange(600), 12):
        rows = {"a": X.a.to_numpy()[some], "b": X.b.to_numpy()[some], "d": days[some]}
        model.learn(rows, y[some])
    rows = {"a": X.a.to_numpy(), "b": X.b.to_numpy(), "d": days}
    later = rows | {"d": days + np.timedelta64(100, "D")}
    assert np.array_equal(model.predict(later), model.predict(rows))


# -- what the user is told ------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("fit", [of_frame, of_table], ids=["frame", "table"])
def test_a_warning_names_the_column(fit):
    with pytest.warns(UserWarning, match="one value in all rows, .*: 'c'; drop it") as caught:
        fit(*table(300))
    assert len(caught) == 1


def test_the_command_names_the_column(tmp_path, capsys):
    X, y = table(300)
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    file, model = str(tmp_path / "rows.csv"), str(tmp_path / "m.colk")
    assert main(["fit", file, "--target", "y", "--model", model]) == 0
    assert "one value in all rows, so the model leaves out: 'c'" in capsys.readouterr().err


@pytest.mark.filterwarnings("error")
def test_a_stream_or_a_few_rows_cause_no_warning():
    X, y = table(60)
    COLKRegressor().partial_fit(X, y)
    COLKRegressor().fit(X[:15], y[:15])


# -- columns that begin to vary -------------------------------------------------------------------


def stream(n, seed=0):
    """The column c is constant in the first half, then it determines most of y."""
    X, y = table(n, 5.0, seed)
    X.loc[n // 2 :, "c"] += np.random.default_rng(seed + 9).normal(size=n - n // 2)
    return X, y + 2.0 * (X["c"].to_numpy() - 5.0)


@pytest.mark.parametrize("door", ["partial_fit", "learn", "river"])
def test_a_column_that_begins_to_vary_becomes_usable(door):
    doors = DOORS | {"river": of_river}
    X, y = stream(4000)
    predict = doors[door](X[["a", "b", "c", "t"]], y)
    X, y = stream(1000, seed=3)
    assert r2(y[500:], predict(X[500:])) > 0.9


def of_river(X, y):
    preprocessing = pytest.importorskip("river.preprocessing")
    from colk.river import COLKRegressor as Online

    model = preprocessing.StandardScaler() | Online()
    X = X.assign(t=X["t"] == "x")
    for row, target in zip(X.to_dict("records"), y.tolist(), strict=True):
        model.learn_one(row, target)
    rows = lambda X: X.assign(t=X["t"] == "x").to_dict("records")  # noqa: E731
    return lambda X: np.array([model.predict_one(row) for row in rows(X)])


@pytest.mark.parametrize("value", [0.1, 1000.1])
def test_river_takes_a_raw_constant_feature(value):
    pytest.importorskip("river")
    from colk.river import COLKRegressor as Online

    X, y = table(800, value, noise=4)
    model = Online()
    for row, target in zip(X[["a", "b", "c"]].to_dict("records"), y.tolist(), strict=True):
        model.learn_one(row, target)
    X, y = table(200, value, seed=1)
    X = X[["a", "b", "c"]]
    predict = lambda X: np.array([model.predict_one(row) for row in X.to_dict("records")])  # noqa: E731
    expected = predict(X)
    assert r2(y, expected) > 0.6
    for move in (1e-9, 1e-6 * value):
        assert np.abs(predict(moved(X, move)) - expected).max() < 1e-3 * y.std()


def test_the_split_of_a_stream_into_batches_changes_nothing():
    X, y = stream(200)
    whole, single = (TableModel("y", list(X), ["t"], solver="newton") for _ in range(2))
    whole.learn(columns(X), y)
    for rows, targets in parts(X, y, 1):
        single.learn(columns(rows), targets)
    assert np.array_equal(whole.predict(columns(X)), single.predict(columns(X)))


# -- files and functions --------------------------------------------------------------------------


def test_a_saved_model_still_leaves_the_column_out(tmp_path):
    X, y = table(300)
    for model in (COLKRegressor(random_state=0).fit(X, y), COLKRegressor().partial_fit(X, y)):
        colk.save(model, tmp_path / "m.colk")
        loaded = colk.load(tmp_path / "m.colk")
        assert np.array_equal(loaded.predict(moved(X, 3.0)), model.predict(X))


@pytest.mark.parametrize("settings", [{}, {"standardize": True}, {"kernel": "gaussian"}])
def test_the_function_leaves_the_column_out(settings):
    X, y = table(300, 7.3)
    model = COLKRegressor(random_state=0, **settings).fit(X[["a", "b", "c"]].to_numpy(), y)
    other = moved(X, 5.0)[["a", "b", "c"]].to_numpy()
    np.testing.assert_allclose(model.function_(other) + model.intercept_, model.predict(other))


# -- any column of any table ----------------------------------------------------------------------


def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X, y.to_numpy()


def bikes():
    rows = load_bike_rentals()[::4]
    return pd.DataFrame([x for x, _ in rows]), np.array([y for _, y in rows])


def difficult():
    """Numbers of many scales, and columns that hardly vary."""
    X, y = table(800)
    rng, n = np.random.default_rng(5), len(X)
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, n).astype("timedelta64[D]")
    size = np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(size=n))
    X = X.assign(
        day=days,
        size=size,
        far=1e9 + rng.normal(size=n),
        tiny=1e-12 * rng.normal(size=n),
        number=np.arange(n) + 10**7,
        once=np.where(np.arange(n) == 400, 1e6, 0.0),
        block=np.where(np.arange(n) < n // 2, 0.0, rng.normal(size=n)),
    )
    return X, y


@pytest.mark.parametrize("rows", [diabetes, bikes, difficult])
def test_moving_a_column_moves_the_predictions_smoothly(rows):
    X, y = rows()
    model = COLKRegressor(random_state=0).fit(X, y)
    expected = model.predict(X)
    for name in X.columns[[kind in "fiu" for kind in (X[each].dtype.kind for each in X)]]:
        values = X[name].astype(float)
        size, deviation = values.abs().max(), values.std()

        def change(step, name=name, values=values):
            found = model.predict(X.assign(**{name: values + step}))
            return np.abs(found - expected).max() / expected.std()

        if deviation < 1e-12 * size:
            assert change(1e-6 * size) == change(10.0 * size) == 0.0
            continue
        # One in a million is nothing, unless the column is a large number that hardly varies.
        assert change(1e-6 * size) < 1e-3 or 1e-6 * size > 5e-5 * deviation
        for step in (1e-6, 1e-3, 0.1, 1.0):
            assert change(step * deviation) < 15.0 * step


def test_a_feature_that_hardly_varies_in_a_part_keeps_a_length():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    X[700:, 2] = 1.0 + 1e-9 * rng.normal(size=800)
    Y = np.sin(2.0 * X[:, :1]) + 0.5 * X[:, 1:2]
    found = race(X, Y / Y.std(), contenders_for("auto"))
    assert np.min(found.kernel.bandwidth) > 1e-3
    assert (found.scales * X[:500].std(axis=0)).argmax() == 0
