"""ConformalRegressor for River."""

import math

import numpy as np
import pytest
from river import compose, datasets, linear_model, preprocessing

from colk import ConformalRegressor as OfArrays
from colk.river import COLKRegressor, ConformalRegressor

RNG = np.random.default_rng(0)
JUMPING = [
    ({"a": float(a)}, (math.sin(2 * a) if t // 1000 != 1 else 5 - 3 * a) + 0.1 * float(noise))
    for t, (a, noise) in enumerate(RNG.normal(size=(3000, 2)))
]


@pytest.mark.parametrize(
    "regressor",
    [
        COLKRegressor(),
        preprocessing.StandardScaler() | COLKRegressor(),
        preprocessing.StandardScaler() | linear_model.LinearRegression(),
    ],
    ids=["COLK", "pipeline", "linear"],
)
def test_coverage_over_jumps(regressor):
    model = ConformalRegressor(regressor.clone(), coverage=0.9)
    covered = {0.9: 0, 0.5: 0}
    for x, y in JUMPING:
        covered[0.9] += y in model.predict_one(x, with_interval=True)
        covered[0.5] += y in model.predict_interval(x, coverage=0.5)
        model.learn_one(x, y)
    for coverage, count in covered.items():
        assert count / 3000 == pytest.approx(coverage, abs=0.015)
        assert model.observed_coverage(coverage) == pytest.approx(coverage, abs=0.015)


def test_in_a_pipeline_it_predicts_what_its_regressor_predicts():
    plain = preprocessing.StandardScaler() | COLKRegressor()
    wrapped = preprocessing.StandardScaler() | ConformalRegressor(COLKRegressor())
    for x, y in datasets.TrumpApproval().take(200):
        plain.learn_one(x, y)
        wrapped.learn_one(x, y)
    assert wrapped.predict_one(x) == plain.predict_one(x)
    interval = wrapped.predict_one(x, with_interval=True)
    assert interval.lower < wrapped.predict_one(x) < interval.upper


def test_at_first_the_interval_is_the_whole_line():
    model = ConformalRegressor(COLKRegressor(), coverage=0.8)
    for x, y in JUMPING[:10]:
        assert model.predict_interval(x).width == math.inf
        model.learn_one(x, y)
    assert math.isnan(model.observed_coverage())
    model.learn_one(*JUMPING[10])
    assert math.isfinite(model.predict_interval(JUMPING[11][0]).width)


def test_bad_targets_leave_it_as_it_was():
    model = ConformalRegressor(COLKRegressor())
    for x, y in JUMPING[:50]:
        model.learn_one(x, y)
    before = model.predict_interval(x)
    for bad in (math.nan, "one"):
        with pytest.raises((ValueError, TypeError), match="y must be"):
            model.learn_one(x, bad)
    after = model.predict_interval(x)
    assert (after.lower, after.upper) == (before.lower, before.upper)
    with pytest.raises(TypeError, match=r"colk\.river\.ConformalRegressor"):
        OfArrays(COLKRegressor())


def noisy(n, seed=1):
    """Rows whose noise grows with a; b has gaps, and the text does not count."""
    rng = np.random.default_rng(seed)
    for t in range(n):
        a = float(rng.uniform(-1.0, 1.0))
        x = {"a": a, "b": None if t % 5 == 0 else float(rng.normal()), "name": "text"}
        yield x, math.sin(3.0 * a) + (0.3 + 0.25 * a) * float(rng.normal())


def test_a_width_that_depends_on_x():
    regressor = compose.Select("a") | COLKRegressor(kernel="laplacian", max_atoms=50)
    model, inside = ConformalRegressor(regressor, coverage=0.9, local=True), ([], [])
    for t, (x, y) in enumerate(noisy(4000)):
        if t > 500:
            inside[x["a"] > 0.0].append(y in model.predict_interval(x))
        model.learn_one(x, y)
    assert [np.mean(part) for part in inside] == pytest.approx([0.9, 0.9], abs=0.025)
    quiet, loud = (model.predict_interval({"a": a}).width for a in (-0.9, 0.9))
    assert loud > 3.0 * quiet
    at_mean = model.predict_interval({"a": 0.0, "b": 0.0})
    assert model.predict_interval({"a": 0.0}).width == pytest.approx(at_mean.width, rel=0.05)


def test_a_width_without_numbers_is_the_same_for_all():
    model = ConformalRegressor(
        preprocessing.OneHotEncoder() | linear_model.LinearRegression(), local=True
    )
    for t in range(100):
        model.learn_one({"name": "xy"[t % 2]}, float(t % 3))
    widths = [model.predict_interval({"name": name}).width for name in "xy"]
    assert widths[0] == pytest.approx(widths[1], rel=1e-12)


def test_drifts_are_passed_on():
    rng = np.random.default_rng(0)
    model = ConformalRegressor(preprocessing.StandardScaler() | COLKRegressor())
    assert model.drifts == []
    assert ConformalRegressor(linear_model.LinearRegression()).drifts == []
    for k in range(2000):
        x = rng.uniform()
        model.learn_one({"x": x}, (5.0 if k > 1000 else 1.0) * np.sin(6.0 * x))
    assert model.drifts == model.regressor[-1].drifts
    assert model.drifts
