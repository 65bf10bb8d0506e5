"""Tables with gaps, categories and dates: no row is lost, and batches change nothing."""

import itertools

import numpy as np
import pytest

import colk
from colk.tabular import TableModel

NAMES = ["when", "x", "z", "shop"]


def table(n, seed=0, gaps=0.15):
    """Targets depend on every column; a share of all cells is missing."""
    rng = np.random.default_rng(seed)
    when = np.datetime64("2024-01-01") + np.sort(rng.integers(0, 24 * 30, n)) * np.timedelta64(
        1, "h"
    )
    hour = when.astype("datetime64[h]").astype(int) % 24
    shop = rng.integers(0, 90, n)
    x, z = rng.normal(size=n), rng.normal(1e3, 50.0, n)
    y = 5.0 * np.sin(hour / 24.0 * 2.0 * np.pi) + 3.0 * x + np.where(shop % 2, 4.0, -4.0)
    columns = {
        "when": when.astype("datetime64[s]"),
        "x": np.where(rng.uniform(size=n) < gaps, np.nan, x),
        "z": np.where(rng.uniform(size=n) < gaps, np.nan, z),
        "shop": np.array([f"s{i}" for i in shop], dtype=object),
    }
    columns["when"][rng.uniform(size=n) < gaps] = np.datetime64("NaT")
    columns["shop"][rng.uniform(size=n) < gaps] = None
    return columns, y + 0.1 * rng.normal(size=n)


def made(**settings):
    return TableModel("y", NAMES, categorical=["shop"], dates=["when"], **settings)


def r2(model, columns, y):
    return 1.0 - np.mean((y - model.predict(columns)) ** 2) / y.var()


def parts(columns, y, cuts):
    return [
        ({name: values[i:j] for name, values in columns.items()}, y[i:j])
        for i, j in itertools.pairwise(cuts)
    ]


def test_fit_learns_every_row(tmp_path):
    columns, y = table(1500)
    model = made().fit([(columns, y)])
    assert model.rows == 1500
    # A missing cell hides what it explains: 15 % of each of three terms.
    assert r2(model, *table(800, seed=1)) > 0.75
    kinds = {name: use for name, _, use in model.uses}
    assert "time of day" in kinds["when"]
    assert "year" not in kinds["when"]  # a month has no year
    assert "gaps" in kinds["x"]
    colk.save(model, tmp_path / "m.colk")
    loaded = colk.load(tmp_path / "m.colk")
    assert np.array_equal(loaded.predict(columns), model.predict(columns))
    assert loaded.columns == model.columns


def test_the_batches_of_a_fit_change_nothing():
    columns, y = table(700)
    whole = made(kernel="gaussian").fit([(columns, y)])
    pieces = made(kernel="gaussian").fit(parts(columns, y, [0, 1, 50, 333, 700]))
    assert whole.columns == pieces.columns
    assert np.array_equal(whole.function.weights, pieces.function.weights)


@pytest.mark.parametrize("scale", [True, False])
def test_the_batches_of_a_stream_change_nothing(scale):
    columns, y = table(400)
    if not scale:
        columns["z"] /= 1e3
        columns = {name: values for name, values in columns.items() if name != "when"}
    settings = {"categorical": ["shop"], "solver": "newton", "polish": False, "scale": scale}
    settings |= {"kernel": "laplacian", "dates": ["when"] if scale else []}
    names = [name for name in NAMES if name in columns]
    whole = TableModel("y", names, **settings).learn(columns, y)
    pieces = TableModel("y", names, **settings)
    for part, targets in parts(columns, y, range(0, 401, 1)):
        pieces.learn(part, targets)
    assert pieces.rows == whole.rows == 400
    assert set(whole.columns) == set(pieces.columns)
    np.testing.assert_allclose(pieces.predict(columns), whole.predict(columns), rtol=1e-6)


def test_values_that_were_never_seen_are_predicted():
    columns, y = table(600)
    model = made(kernel="laplacian").fit([(columns, y)])
    row = {"when": [None], "x": [np.nan], "z": [None], "shop": ["a new one"]}
    assert np.isfinite(model.predict(row)).all()
    assert model.unseen_categories(row) == {"shop": 1}
    with pytest.raises(ValueError, match="column 'z' is missing"):
        model.predict({name: values for name, values in row.items() if name != "z"})
    with pytest.raises(ValueError, match="x must be a column of numbers"):
        model.predict({**row, "x": ["much"]})


def test_a_first_gap_at_prediction_time_has_the_typical_value():
    columns, y = table(600, gaps=0.0)
    fitted = made(kernel="laplacian").fit([(columns, y)])
    streamed = made(kernel="laplacian", solver="newton", polish=False)
    streamed.learn({name: values[:400] for name, values in columns.items()}, y[:400])
    row = {name: values[:1].copy() for name, values in columns.items()}
    # That of a stream is the mean of all rows so far, from which its scale may differ a little.
    so_far = columns["z"][:400].mean()
    for model, center in ((fitted, np.median(columns["z"])), (streamed, so_far)):
        filled = model.predict({**row, "z": np.array([center])})
        found = model.predict({**row, "z": np.array([np.nan])})
        assert found == pytest.approx(filled, rel=1e-3)
