"""A risk of a loss from five user-defined functions."""

import pickle

import numpy as np
import pytest

from colk._engine.user_functions import compilation
from colk.risks import Composition, CustomRisk, Variance
from colk.trackers import MovingAverage

LOSSES = np.random.default_rng(10).exponential(size=50)


@pytest.fixture(params=["numba", "plain"], autouse=True)
def mode(request, monkeypatch):
    if request.param == "numba":
        pytest.importorskip("numba")
    else:
        monkeypatch.setattr(compilation, "_has_numba", lambda: False)
    return request.param


def identity(loss):
    return loss


def one(loss):
    return 1


def variance_outer(loss, g):
    return loss + 0.1 * (loss - g) ** 2


def variance_slope_loss(loss, g):
    return 1.0 + 0.2 * (loss - g)


def variance_slope_inner(loss, g):
    return -0.2 * (loss - g)


def two_inner(loss):
    return loss, loss**2


def two_inner_slope(loss):
    return 1, 2 * loss  # a whole number beside a real one


def two_outer(loss, g):
    return loss + 0.1 * (g[1] - g[0] ** 2)


def two_slope_loss(loss, g):
    return 1.0


def two_slope_inner(loss, g):
    return np.array([-0.2 * g[0], 0.1])


def variance(**functions):
    parts = {
        "inner": identity,
        "inner_slope": one,
        "outer": variance_outer,
        "outer_slope_loss": variance_slope_loss,
        "outer_slope_inner": variance_slope_inner,
    }
    return CustomRisk(**{**parts, **functions}, is_convex=True)


def two_moments(**functions):
    parts = {
        "inner": two_inner,
        "inner_slope": two_inner_slope,
        "outer": two_outer,
        "outer_slope_loss": two_slope_loss,
        "outer_slope_inner": two_slope_inner,
    }
    return CustomRisk(**{**parts, **functions}, n_inner=2)


@pytest.mark.parametrize("make", [variance, two_moments])
def test_equals_the_built_in_risk(make):
    custom, built_in = make(), Variance(0.1)
    assert custom.value(LOSSES) == pytest.approx(built_in.value(LOSSES), rel=1e-13)
    np.testing.assert_allclose(custom.gradient(LOSSES), built_in.gradient(LOSSES), rtol=1e-11)
    assert custom.n_expectations == custom.n_inner
    again = pickle.loads(pickle.dumps(custom))
    assert again == custom
    assert again.value(LOSSES) == custom.value(LOSSES)


def test_tracks_like_the_built_in_risk_bit_for_bit():
    before = LOSSES + 0.1
    for tracker in (None, MovingAverage()):
        custom = variance().follow(LOSSES, before, tracker=tracker)
        assert np.array_equal(custom, Variance(0.1).follow(LOSSES, before, tracker=tracker))


def test_all_of_g_starts_at_the_inner_values_of_the_first_loss():
    path = two_moments().follow([2.0, 2.0], tracker=MovingAverage())
    np.testing.assert_allclose(path, [[2.0, 4.0], [2.0, 4.0]], rtol=1e-15)


def root(loss):
    if loss < 0.0:
        raise ValueError("no root of this")
    return loss**0.5


def test_a_tracker_without_memory_asks_nothing_of_the_past():
    risk = variance(inner=root)
    path = risk.follow([4.0, 9.0], [-1.0, -1.0], rate=0.5, tracker=MovingAverage())
    np.testing.assert_allclose(path[:, 0], [2.0, 2.5])
    with pytest.raises(ValueError, match="no root of this"):
        risk.follow([4.0, 9.0], [-1.0, -1.0])


def raising(loss, g=0.0):
    raise OverflowError("not for me")


@pytest.mark.parametrize(
    "name", ["inner", "inner_slope", "outer", "outer_slope_loss", "outer_slope_inner"]
)
@pytest.mark.parametrize("make", [variance, two_moments])
@pytest.mark.filterwarnings("ignore::colk.errors.SlowFunctionWarning")
def test_what_a_function_raises_reaches_the_caller(make, name):
    with pytest.raises(OverflowError, match="not for me"):
        getattr(make(**{name: raising}), name)(LOSSES, np.ones(make().n_inner))


def three(loss):
    return 1.0, 2.0, 3.0


def growing(loss):
    return np.ones(int(loss))


@pytest.mark.parametrize("inner", [three, growing])
def test_a_result_of_the_wrong_size_is_named(inner):
    with pytest.raises(ValueError, match=r"inner must return shape \(2,\), got \(3,\)"):
        two_moments(inner=inner).inner([2.0, 3.0], [0.0, 0.0])


def test_nan_is_what_it_is():
    risk = variance(outer=lambda loss, g: np.nan)
    assert np.isnan(risk.outer([1.0], [0.0])).all()


def greedy(loss, g):
    g[0] = 100.0
    return loss + g[1]


def test_g_is_a_copy():
    risk, g = two_moments(outer=greedy), np.array([1.0, 2.0])
    assert risk.outer([1.0], g) == 3.0
    assert g[0] == 1.0


def test_is_shown_compared_and_replaced():
    risk = variance()
    assert repr(risk) == (
        "CustomRisk(inner=identity, inner_slope=one, outer=variance_outer, "
        "outer_slope_loss=variance_slope_loss, outer_slope_inner=variance_slope_inner, "
        "n_inner=1, is_convex=True, is_monotone=False, derivatives=None)"
    )
    assert risk.functions[0] is identity
    assert risk.replace(is_monotone=True).is_monotone
    assert risk.replace(inner=one) != risk == variance()
    with pytest.raises(pickle.PicklingError, match="inner of CustomRisk"):
        pickle.dumps(risk.replace(inner=lambda loss: loss))


def test_bad_parameters_are_named():
    with pytest.raises(TypeError, match="outer must be a function, got float"):
        variance(outer=1.0)
    with pytest.raises(ValueError, match="n_inner must be at least 1"):
        variance().replace(n_inner=0)


@pytest.mark.parametrize("make", [CustomRisk, Composition])
def test_missing_functions_are_named(make):
    functions = {"inner": lambda *args: args[0], "outer": lambda *args: args[0]}
    with pytest.raises(TypeError, match=r"needs five functions.*missing: inner_slope, outer_slope"):
        make(**functions)
    with pytest.raises(TypeError, match="missing: outer, outer_slope"):
        make(functions["inner"], functions["inner"])
