"""Features that move on, such as time, are recognised, said by name, and bounded or left out."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import colk
from colk import COLKRegressor
from colk.model.trends import bounded, moves_on
from colk.selection import contenders_for, race
from colk.tabular import TableModel

river = pytest.importorskip("colk.river")
preprocessing = pytest.importorskip("river.preprocessing")

SIZE, BLOCK = 6000, 1000


def noise(rng):
    return 0.1 * rng.normal(size=SIZE)


def hours(rng):
    t, x = np.arange(float(SIZE)), rng.normal(size=SIZE)
    return np.column_stack([t, x]), np.sin(2.0 * x) + 0.3 * np.sin(t / 20.0) + noise(rng)


def rising_target(rng):
    t, x = np.arange(float(SIZE)), rng.normal(size=SIZE)
    return np.column_stack([t, x]), np.sin(2.0 * x) + 1e-3 * t + noise(rng)


def counter(rng):
    count, x = np.cumsum(rng.poisson(3.0, size=SIZE)).astype(float), rng.normal(size=SIZE)
    return np.column_stack([count, x]), np.sin(2.0 * x) + 0.3 * np.sin(count / 60.0) + noise(rng)


def cumulative_sum(rng):
    total, x = np.cumsum(rng.exponential(size=SIZE)), rng.normal(size=SIZE)
    return np.column_stack([total, x]), np.sin(2.0 * x) + noise(rng)


def random_walk(rng):
    walk, x = np.cumsum(rng.normal(size=SIZE)), rng.normal(size=SIZE)
    return np.column_stack([walk, x]), np.sin(2.0 * x) + 0.5 * np.sin(walk / 10.0) + noise(rng)


def dates(rng):
    t, x = 1.7e9 + 3600.0 * np.arange(SIZE), rng.normal(size=SIZE)
    return np.column_stack([t, x]), np.sin(2.0 * x) + 1e-8 * (t - t[0]) + noise(rng)


def drifting(rng):
    """All features drift by 33 standard deviations per 1,000 rows; one counts."""
    X = rng.normal(size=(SIZE, 2)) + 0.033 * np.arange(SIZE)[:, None]
    return X, np.sin(X[:, 0] / 10.0) + 0.1 * X[:, 1] + noise(rng)


STREAMS = {
    each.__name__: each
    for each in (
        hours, rising_target, counter, cumulative_sum, random_walk, dates, drifting
    )
}  # fmt: skip


@pytest.mark.each_value
@pytest.mark.parametrize("seed", [11, 12])
@pytest.mark.parametrize("stream", STREAMS)
def test_no_thousand_rows_are_predicted_badly(stream, seed):
    """With a scaler before the model, as in the README."""
    X, y = STREAMS[stream](np.random.default_rng(seed))
    model = preprocessing.StandardScaler() | river.COLKRegressor()
    found = np.zeros(SIZE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place, (row, target) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
            sample = dict(zip(("moving", "x"), row, strict=True))
            found[place] = model.predict_one(sample)
            model.learn_one(sample, target)
    blocks = [slice(start, start + BLOCK) for start in range(0, SIZE, BLOCK)]
    scores = [1.0 - np.mean((found[b] - y[b]) ** 2) / y[b].var() for b in blocks]
    assert min(scores) > 0.7, scores


def learn_by_river(X, y):
    model = river.COLKRegressor()
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one(dict(zip(("t", "x"), row, strict=True)), target)


def learn_many_by_river(X, y):
    river.COLKRegressor().learn_many(pd.DataFrame(X, columns=["t", "x"]), pd.Series(y))


def learn_by_frame(X, y):
    COLKRegressor().partial_fit(pd.DataFrame(X, columns=["t", "x"]), y)


def learn_by_table(X, y):
    TableModel("y", ["t", "x"]).learn({"t": X[:, 0], "x": X[:, 1]}, y)


DOORS = [learn_by_river, learn_many_by_river, learn_by_frame, learn_by_table]


@pytest.mark.parametrize("door", DOORS)
def test_a_warning_names_the_feature_once(door):
    X, y = hours(np.random.default_rng(0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        door(X[:2000], y[:2000])
    told = [str(each.message) for each in caught if "no earlier row" in str(each.message)]
    assert len(told) == 1
    assert "row had, in: t;" in told[0]


@pytest.mark.parametrize("one_by_one", [False, True])
def test_arrays_are_told_the_place_of_the_feature(one_by_one):
    X, y = hours(np.random.default_rng(0))
    model = COLKRegressor().partial_fit(X[:499], y[:499])
    stop = 500 if one_by_one else 600
    with pytest.warns(UserWarning, match="row had, in: x0;"):
        model.partial_fit(X[499:stop], y[499:stop])


def test_features_that_stay_are_not_named():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=2000), rng.standard_t(1.5, size=2000), np.ones(2000)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        COLKRegressor().partial_fit(X, np.sin(X[:, 0]))


@pytest.mark.parametrize("door", [learn_by_frame, learn_by_table])
def test_a_baseline_that_predicts_better_is_named(door):
    """The model keeps the mean of all rows, which the latest targets have left."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    X[:, 0] += 0.1 * np.arange(4000)
    y = X[:, 0] + 30.0 * X[:, 1] * (np.arange(4000) < 2000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        door(X, y)
    assert any("predicts the next rows better" in str(each.message) for each in caught)


def test_bounds_do_not_change_an_ordinary_race():
    X = np.random.default_rng(0).normal(size=(500, 2))
    found = race(X, np.sin(3.0 * X[:, :1]), contenders_for("auto"))
    assert bounded(found, np.full(2, 1e-6)) is found
    assert not moves_on(X).any()


def test_a_contest_with_a_feature_that_is_left_out_can_be_saved_and_grown(tmp_path):
    X, y = hours(np.random.default_rng(0))
    model = river.COLKRegressor()
    with pytest.warns(UserWarning, match="no earlier row"):
        model.learn_many(pd.DataFrame(X[:1200], columns=["t", "x"]), pd.Series(y[:1200]))
    colk.save(model, tmp_path / "m.colk")
    others = [colk.load(tmp_path / "m.colk"), pickle.loads(pickle.dumps(model))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in (model, *others):
            for t in range(1200, 2000):
                each.learn_one({"t": X[t, 0], "x": X[t, 1], "new": float(t % 7)}, float(y[t]))
    new = {"t": 2000.0, "x": 0.3, "new": 1.0}
    assert len({each.predict_one(new) for each in (model, *others)}) == 1
