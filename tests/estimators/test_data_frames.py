"""Estimators of tables: data frames as they are, gaps, categories, dates, changed schemas."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

import colk
from colk import COLKClassifier, COLKQuantileRegressor, COLKRegressor, KernelCompressor
from colk._encoding.frames import read_table
from colk.export import to_python
from colk.kernels import Gaussian, Laplacian, Linear, Mixed

N = 400


def frame(seed=0, gaps=0.1):
    """Numbers, flags, categories and dates, each with gaps."""
    rng = np.random.default_rng(seed)
    days = pd.to_timedelta(rng.uniform(0.0, 900.0, N), "D")
    table = pd.DataFrame(
        {
            "size": rng.normal(size=N) * 300.0,
            "city": rng.choice(["Bonn", "Rome", "Oslo"], N),
            "open": rng.random(N) < 0.5,
            "when": pd.Timestamp("2024-01-01") + days,
        }
    )
    sign = np.where(table.city == "Bonn", 1.0, -1.0)
    season = np.sin(2.0 * np.pi * table.when.dt.day_of_year / 365.25)
    y = sign * table["size"] / 300.0 + season + table.open
    for name in ("size", "city", "when"):
        table.loc[rng.random(N) < gaps, name] = None
    return table, y.to_numpy()


X, Y = frame()
NEW, NEW_Y = frame(seed=1)
LABELS = np.where(Y > 0.3, "high", "low")
FRAMES = {"pandas": lambda x: x, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


def model(**settings):
    return COLKRegressor(random_state=0, **settings)


@pytest.fixture(scope="module")
def fitted():
    return model().fit(X, Y)


def test_a_table_with_gaps_is_learned(fitted):
    full, y = frame(seed=1, gaps=0.0)
    assert model().fit(*frame(gaps=0.0)).score(full, y) > 0.97
    assert fitted.score(NEW, NEW_Y) > 0.6
    assert isinstance(fitted.kernel_, Mixed)
    assert fitted.feature_names_in_.tolist() == ["size", "city", "open", "when"]
    assert fitted.n_features_in_ == 4


@pytest.mark.parametrize("kind", FRAMES)
def test_all_frames_give_the_same_model(kind, fitted):
    found = model(kernel=fitted.kernel_, standardize=True).fit(FRAMES[kind](X), Y)
    expected = model(kernel=fitted.kernel_, standardize=True).fit(X, Y)
    np.testing.assert_array_equal(found.predict(FRAMES[kind](NEW)), expected.predict(NEW))


def test_all_estimators_take_tables():
    classifier = COLKClassifier(kernel="laplacian", random_state=0).fit(X, LABELS)
    assert classifier.score(NEW, np.where(NEW_Y > 0.3, "high", "low")) > 0.7
    assert classifier.predict_proba(pl.from_pandas(NEW)).shape == (N, 2)
    quantiles = COLKQuantileRegressor(kernel="laplacian", random_state=0).fit(X, Y)
    assert (np.diff(quantiles.predict(NEW), axis=1) >= 0.0).all()
    scores = cross_val_score(clone(classifier), X, LABELS, cv=2)
    assert scores.min() > 0.65


def test_files_pickles_and_exports(fitted, tmp_path):
    expected = fitted.predict(NEW)
    colk.save(fitted, tmp_path / "model.colk")
    for loaded in (colk.load(tmp_path / "model.colk"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(loaded.predict(NEW), expected)
    rows = fitted.encoder_.encode(read_table(NEW)[1])
    values = fitted.function_(rows) + fitted.intercept_
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9)
    names = {}
    exec(to_python(fitted, numpy=True), names)
    np.testing.assert_allclose(names["predict"](rows), expected, rtol=1e-9, atol=1e-9)


def test_a_stream_of_tables_learns_new_values():
    stream = model(kernel="laplacian")
    for start in range(0, N, 50):
        stream.partial_fit(X[start : start + 50], Y[start : start + 50])
    later = X[:50].assign(city="Lima")
    before = stream.encoder_
    stream.partial_fit(later, Y[:50] + 9.0)
    assert before.unknown(later) == {"city": 50}
    assert stream.encoder_.unknown(later) == {}
    assert stream.predict(later).mean() > stream.predict(X[:50]).mean() + 0.3


def test_a_failed_call_leaves_the_table_of_the_model_unchanged(fitted):
    stream = clone(fitted).partial_fit(X, Y)
    before = stream.encoder_, stream.predict(NEW)
    with pytest.raises(ValueError, match="NaN"):
        stream.partial_fit(X.assign(city="Lima"), np.full(N, np.nan))
    assert stream.encoder_ is before[0]
    np.testing.assert_array_equal(stream.predict(NEW), before[1])


CHANGED = {
    "a column gone": (X.drop(columns="size"), "now missing"),
    "another order": (X[["when", "size", "city", "open"]], "same order"),
    "a column more": (X.assign(more=1.0), "unseen at fit time"),
    "text for numbers": (X.assign(size="large"), "column 'size' holds values of the kind"),
    "numbers for text": (X.assign(city=1.0), "column 'city' holds values of the kind"),
    "numbers for dates": (X.assign(when=1.0), "column 'when' holds values of the kind"),
    "lists": (X.assign(size=[[1]] * N), "a string or a number"),
    "no rows": (X[:0], "0 sample"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_changed_tables_get_one_clear_error(what, fitted):
    table, message = CHANGED[what]
    with pytest.raises((ValueError, TypeError), match=message):
        fitted.predict(table)


def test_an_array_is_no_table(fitted):
    with pytest.warns(UserWarning, match="feature names"), pytest.raises(ValueError, match="table"):
        fitted.predict(np.zeros((3, 4)))


def test_a_column_of_gaps_fits_every_kind(fitted):
    for name in X.columns:
        assert np.isfinite(fitted.predict(NEW.assign(**{name: None}))).all()


def test_arrays_with_gaps():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(N, 3))
    y = points[:, 0] + np.where(np.isnan(points[:, 1]), 2.0, 0.0)
    holes = np.where(rng.random((N, 3)) < [0.0, 0.3, 0.0], np.nan, points)
    y = points[:, 0] + 2.0 * np.isnan(holes[:, 1])  # a gap tells something
    found = model(kernel="laplacian").fit(holes, y)
    assert found.score(holes, y) > 0.97
    full = model(kernel="laplacian").fit(points, y)
    first = np.where(np.arange(3) == 0, np.nan, points[:5])
    filled = np.where(np.arange(3) == 0, np.median(points[:, 0]), points[:5])
    np.testing.assert_array_equal(full.predict(first), full.predict(filled))
    mixed = np.array([["a", 1.5, None], ["b", None, "x"]] * 30, dtype=object)
    assert model(kernel="laplacian").fit(mixed, np.tile([1.0, 3.0], 30)).predict(mixed)[1] > 2.0


def test_numbers_are_scaled_if_they_need_it():
    rng = np.random.default_rng(0)
    scaled = rng.normal(size=(N, 2))
    y = np.sin(2.0 * scaled[:, 0]) + scaled[:, 1]
    raw = scaled * [1e-3, 1e5] + [7.0, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_itself = model(kernel="gaussian").fit(raw, y)
    assert by_itself.score(raw, y) > 0.99
    by_hand = model(kernel="gaussian").fit(StandardScaler().fit_transform(raw), y)
    expected = by_hand.predict(StandardScaler().fit_transform(raw))
    np.testing.assert_allclose(by_itself.predict(raw), expected, atol=0.05)
    function = by_itself.function_
    np.testing.assert_allclose(function(raw) + by_itself.intercept_, by_itself.predict(raw))
    compressed = KernelCompressor(clone(by_itself), rel_error=1e-3).fit(raw, y)
    assert compressed.score(raw, y) > 0.99


def test_scaled_numbers_and_kernels_with_units_are_left_alone():
    points = np.random.default_rng(0).normal(size=(N, 2))
    y = points[:, 0] * points[:, 1]
    assert model(kernel="gaussian").fit(points, y).learner_.function.atoms[0] in points
    for settings in ({"kernel": Gaussian(1.0)}, {"kernel": "gaussian", "bandwidth": 1.0}):
        raw = points * [1.0, 100.0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = model(**settings).fit(raw, y)
        assert found.learner_.function.atoms[0] in raw


@pytest.mark.filterwarnings("ignore:one value in all rows")
def test_kernels_of_a_table(fitted):
    given = model(kernel=Laplacian(2.0), standardize=True).fit(X, Y)
    assert given.kernel_.kernel == Laplacian(2.0)
    with pytest.raises(TypeError, match="Sum cannot compare categories"):
        model(kernel=Gaussian(1.0) + Linear()).fit(X, Y)
    with pytest.raises(ValueError, match="standardize must be"):
        model(standardize="often").fit(X, Y)
    with pytest.raises(TypeError, match="numbers without gaps"):
        KernelCompressor(model(kernel="laplacian")).fit(X.assign(city=1.0, when=1.0), Y)


def test_times_in_a_zone_keep_their_time_of_day():
    zone = pd.Series(pd.date_range("2024-01-01", periods=100, freq="h", tz="Asia/Tokyo"))
    plain = zone.dt.tz_localize(None)
    for one, other in zip(
        *(read_table(pd.DataFrame({"t": t}))[1]["t"] for t in (zone, plain)), strict=True
    ):
        assert one == other
