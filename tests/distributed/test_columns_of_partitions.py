"""Columns of different units, with missing cells and categories, spread over partitions."""

import numpy as np
import pytest

from colk import COLKQuantileRegressor, COLKRegressor
from colk.distributed import DaskCOLKClassifier, DaskCOLKQuantileRegressor, DaskCOLKRegressor

dask_array = pytest.importorskip("dask.array")
dask_frame = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
N = 900
X = RNG.uniform(-1, 1, size=(N, 2)) * [1.0, 1000.0]
Y = np.sin(3 * X[:, 0]) + (X[:, 1] / 1000.0) ** 2 + 0.05 * RNG.normal(size=N)
CITY = RNG.choice(["x", "y", "z"], N)
SMALL = {"kernel": "gaussian", "max_atoms": 25, "sample_size": 300, "random_state": 0}


def frame():
    """Numbers of different units with missing cells, categories and targets; sorted rows."""
    table = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "city": CITY})
    table["y"] = Y + 2.0 * (CITY == "y")
    table.loc[::7, "b"] = np.nan
    table.loc[::11, "city"] = None
    return table.sort_values("a", ignore_index=True)


def test_columns_of_different_units(pool):
    lazy = [dask_array.from_array(a, chunks=(300, *a.shape[1:])) for a in (X, Y)]
    model = DaskCOLKRegressor(client=pool, **SMALL).fit(*lazy)
    assert model.score(X, Y) > 0.95


def test_quantiles_of_columns_of_different_units(pool):
    settings = {**SMALL, "quantiles": (0.2, 0.8)}
    model = DaskCOLKQuantileRegressor(client=pool, **settings).fit(X, Y)
    low, high = model.predict(X).T
    assert np.mean((low < Y) & (high > Y)) == pytest.approx(0.6, abs=0.06)
    settings.pop("sample_size")
    whole = COLKQuantileRegressor(**settings).fit(X, Y)
    assert np.mean(high - low) < 1.2 * np.mean(np.diff(whole.predict(X), axis=1))


def test_missing_cells_of_arrays(pool):
    holes = X.copy()
    holes[::9, 1] = np.nan
    lazy = [dask_array.from_array(a, chunks=(300, *a.shape[1:])) for a in (holes, Y)]
    model = DaskCOLKRegressor(client=pool, **SMALL).fit(*lazy)
    assert model.score(holes, Y) > 0.9
    np.testing.assert_array_equal(model.predict(lazy[0]).compute(), model.predict(holes))


@pytest.mark.parametrize("kind", ["frame", "parquet"])
def test_categories_and_missing_cells(pool, tmp_path, kind):
    table = frame()
    names, lazy = ["a", "b", "city"], dask_frame.from_pandas(table, npartitions=3)
    model = DaskCOLKRegressor(client=pool, **SMALL)
    if kind == "frame":
        model.fit(lazy[names], lazy["y"])
    else:
        table.to_parquet(tmp_path / "t.parquet", row_group_size=300)
        model.fit([tmp_path / "t.parquet"], "y")
    settings = {name: value for name, value in SMALL.items() if name != "sample_size"}
    whole = COLKRegressor(**settings).fit(table[names], table["y"])
    scores = [each.score(table[names], table["y"]) for each in (model, whole)]
    assert scores[0] > scores[1] - 0.03
    found = model.predict(lazy[names])
    np.testing.assert_array_equal(found.compute(), model.local_.predict(table[names]))


def test_classes_of_tables(pool):
    lazy = dask_frame.from_pandas(frame().assign(kind=lambda t: t["y"] > 1.0), npartitions=3)
    names = ["a", "b", "city"]
    model = DaskCOLKClassifier(client=pool, **SMALL).fit(lazy[names], lazy["kind"])
    probabilities = model.predict_proba(lazy[names]).compute()
    is_high = lazy["kind"].compute().to_numpy()
    assert np.mean((probabilities[:, 1] > 0.5) == is_high) > 0.9
