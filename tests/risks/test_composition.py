"""A risk of predictions and targets from five user-defined functions."""

import pickle

import numpy as np
import pytest

from colk._engine.user_functions import compilation
from colk.losses import Squared
from colk.risks import Composition, Variance
from colk.trackers import MovingAverage


@pytest.fixture(params=["numba", "plain"], autouse=True)
def mode(request, monkeypatch):
    if request.param == "numba":
        pytest.importorskip("numba")
    else:
        monkeypatch.setattr(compilation, "_has_numba", lambda: False)
    return request.param


def residuals(f, y):
    return (f[0] - y[0]) ** 2, (f[1] - y[1]) ** 2


def residuals_slope(f, y):
    return (2 * (f[0] - y[0]), 0), (0, 2 * (f[1] - y[1]))


def worst(f, y, g):
    return g[0] ** 2 + g[1] ** 2 + (f[0] - f[1]) ** 2


def worst_slope(f, y, g):
    return 2 * (f[0] - f[1]), -2 * (f[0] - f[1])


def worst_slope_inner(f, y, g):
    return 2 * g


FUNCTIONS = {
    "inner": residuals,
    "inner_slope": residuals_slope,
    "outer": worst,
    "outer_slope_prediction": worst_slope,
    "outer_slope_inner": worst_slope_inner,
}


def balanced(**functions):
    return Composition(
        **{**FUNCTIONS, **functions}, n_inner=2, n_outputs=2, n_targets=2, is_convex=True
    )


def square(f, y):
    return (f[0] - y[0]) ** 2


def square_slope(f, y):
    return 2.0 * (f[0] - y[0])


def spread(f, y, g):
    loss = (f[0] - y[0]) ** 2
    return loss + 0.1 * (loss - g[0]) ** 2


def spread_slope(f, y, g):
    r = f[0] - y[0]
    return 2.0 * r * (1.0 + 0.2 * (r**2 - g[0]))


def spread_slope_inner(f, y, g):
    return -0.2 * ((f[0] - y[0]) ** 2 - g[0])


def as_variance():
    return Composition(square, square_slope, spread, spread_slope, spread_slope_inner)


def data(q=2, seed=12):
    return np.random.default_rng(seed).normal(size=(2, 30, q))


def test_has_the_value_and_the_gradient_of_its_formula():
    F, Y = data()
    risk, g = balanced(), ((F - Y) ** 2).mean(axis=0)
    np.testing.assert_allclose(risk.estimate_at(Squared(), F, Y), g, rtol=1e-13)
    value = (g**2).sum() + ((F[:, 0] - F[:, 1]) ** 2).mean()
    assert risk.value_at(Squared(), F, Y) == pytest.approx(value, rel=1e-13)
    apart = 2.0 * (F[:, 0] - F[:, 1])[:, None] * [1.0, -1.0]
    expected = (apart + 4.0 * g * (F - Y)) / len(F)
    np.testing.assert_allclose(risk.gradient_at(Squared(), F, Y), expected, rtol=1e-12)


def test_equals_the_built_in_risk():
    (F, Y), loss = data(1), Squared()
    custom, built_in = as_variance(), Variance(0.1)
    assert custom.value_at(loss, F, Y) == pytest.approx(built_in.value_at(loss, F, Y), rel=1e-13)
    np.testing.assert_allclose(
        custom.gradient_at(loss, F, Y), built_in.gradient_at(loss, F, Y), rtol=1e-11
    )


@pytest.mark.parametrize("tracker", [None, MovingAverage()], ids=repr)
def test_tracks_like_the_built_in_risk(tracker):
    (F, Y), loss = data(1), Squared()
    before = F + 0.1
    path = as_variance().follow(F, Y, before, tracker=tracker)
    losses, earlier = loss.value(F, Y), loss.value(before, Y)
    expected = Variance(0.1).follow(losses, earlier, tracker=tracker)
    np.testing.assert_allclose(path, expected, rtol=1e-12)


@pytest.mark.skipif(not hasattr(Composition, "chain_at"), reason="only steps call it compiled")
def test_slopes_of_a_pair_are_those_of_the_built_in_risk():
    (F, Y), loss, g = data(1), Squared(), np.array([0.3])
    slopes, factors, work = np.zeros((2, 1)), np.zeros(2), np.zeros(6)
    composition, variance = as_variance(), Variance(0.1)
    composition.chain_at(F, Y, 0, 1, g, slopes, work)
    losses = loss.value(F[:2], Y[:2])
    variance.chain(losses[0], losses[1], g, 1, factors)
    np.testing.assert_allclose(slopes[:, 0], factors * loss.slope(F[:2], Y[:2]).ravel(), rtol=1e-12)
    outer = composition.outer_at_row(F, Y, 0, g, work)
    assert outer == pytest.approx(variance.outer_at(losses[0], g), rel=1e-12)


def raising(f, y, g=None):
    raise OverflowError("not for me")


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::colk.errors.SlowFunctionWarning")
def test_what_a_function_raises_reaches_the_caller(name):
    F, Y = data()
    with pytest.raises(OverflowError, match="not for me"):
        balanced(**{name: raising}).tabulate(name, F, Y, [0.0, 0.0])


def picky(f, y):
    if f[0] > 0.0:
        raise ValueError("positive")
    return f[0], f[1]


def test_an_error_in_the_middle_of_a_stream_reaches_the_caller():
    risk = balanced(inner=picky)
    assert (risk.follow([[-1.0, 2.0]], [[0.0, 0.0]]) == [[-1.0, 2.0]]).all()
    with pytest.raises(ValueError, match="positive"):
        risk.follow([[-1.0, 2.0], [1.0, 2.0]], np.zeros((2, 2)))


def one_number(f, y):
    return 1.0


def turned(f, y):
    return np.ones((1, 4))


def ragged(f, y):
    return (1.0, 2.0), 3.0


@pytest.mark.parametrize("slope", [one_number, turned, ragged])
@pytest.mark.filterwarnings("ignore::colk.errors.SlowFunctionWarning")
def test_a_result_of_the_wrong_shape_is_named(slope):
    F, Y = data()
    with pytest.raises(ValueError, match=r"inner_slope must return shape \(2, 2\), got"):
        balanced(inner_slope=slope).tabulate("inner_slope", F, Y, [0.0, 0.0])


def growing(f, y):
    return np.ones(int(f[0]))


def test_a_result_that_changes_its_size_is_named():
    risk = balanced(inner=growing)
    with pytest.raises(ValueError, match=r"inner must return shape \(2,\), got \(3,\)"):
        risk.estimate_at(Squared(), [[2.0, 0.0], [3.0, 0.0]], np.zeros((2, 2)))


def greedy(f, y, g):
    f[:], y[:], g[:] = 0.0, 0.0, 0.0
    return 1.0


def test_a_function_has_copies_of_its_own():
    F, Y = data()
    g, kept = np.ones(2), (F.copy(), Y.copy())
    assert (balanced(outer=greedy).tabulate("outer", F, Y, g) == 1.0).all()
    assert (g == 1.0).all()
    assert np.array_equal(kept, (F, Y))


def test_is_shown_compared_and_replaced():
    risk = balanced()
    assert repr(risk) == (
        "Composition(inner=residuals, inner_slope=residuals_slope, outer=worst, "
        "outer_slope_prediction=worst_slope, outer_slope_inner=worst_slope_inner, n_inner=2, "
        "n_outputs=2, n_targets=2, is_convex=True, is_monotone=False, n_inputs=0, "
        "derivatives=None, first_g=None)"
    )
    assert pickle.loads(pickle.dumps(risk)) == risk == balanced()
    assert risk.replace(is_convex=False) != risk
    with pytest.raises(pickle.PicklingError, match="outer of Composition"):
        pickle.dumps(balanced(outer=lambda f, y, g: 0.0))


def test_sizes_that_do_not_fit_are_refused():
    risk = balanced()
    risk.check_sizes(2, 2)
    with pytest.raises(ValueError, match="made for predictions of 2 numbers, these have 1"):
        risk.check_sizes(1, 2)
    with pytest.raises(ValueError, match="made for targets of 2 numbers, these have 3"):
        risk.check_sizes(2, 3)
    with pytest.raises(ValueError, match="f has 1 columns"):
        risk.value_at(Squared(), [[1.0]], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="g has 1 entries, expected 2"):
        risk.tabulate("outer", [[1.0, 1.0]], [[1.0, 2.0]], [1.0])
    with pytest.raises(TypeError, match="inner must be a function, got float"):
        Composition(1.0, abs, abs, abs, abs)
