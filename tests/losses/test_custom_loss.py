"""A loss from two user-defined functions."""

import copy
import pickle

import numpy as np
import pytest

from colk._engine.user_functions import compilation
from colk.losses import CustomLoss, Logistic, Pinball, Squared


@pytest.fixture(params=["numba", "plain"], autouse=True)
def mode(request, monkeypatch):
    if request.param == "numba":
        pytest.importorskip("numba")
    else:
        monkeypatch.setattr(compilation, "_has_numba", lambda: False)
    return request.param


def squared(f, y):
    return (f - y) ** 2


def squared_slope(f, y):
    return 2.0 * (f - y)


def pinball(f, y):
    return 0.9 * (y - f) if y > f else 0.1 * (f - y)


def pinball_slope(f, y):
    return 0 if f == y else (-0.9 if y > f else 0.1)


def softplus(f, y):
    return max(-y * f, 0.0) + np.log1p(np.exp(-abs(y * f)))


def softplus_slope(f, y):
    return -y / (1.0 + np.exp(y * f))


PAIRS = {
    "squared": (lambda: CustomLoss(squared, squared_slope, is_convex=True), Squared()),
    "pinball": (lambda: CustomLoss(pinball, pinball_slope, kinks=(0.0,)), Pinball(0.9)),
    "logistic": (lambda: CustomLoss(softplus, softplus_slope, kind="binary"), Logistic()),
}


@pytest.mark.parametrize("name", PAIRS)
def test_equals_the_built_in_loss(name):
    make, built_in = PAIRS[name]
    custom = make()
    rng = np.random.default_rng(5)
    f, y = rng.normal(size=(40, 2)), np.where(rng.random((40, 2)) < 0.5, -1.0, 1.0)
    np.testing.assert_allclose(custom.value(f, y), built_in.value(f, y), rtol=1e-13)
    np.testing.assert_allclose(custom.slope(f, y), built_in.slope(f, y), rtol=1e-12)
    again = pickle.loads(pickle.dumps(custom))
    assert again == custom
    assert hash(again) == hash(custom)
    assert (again.kind, again.is_convex, again.kinks) == (
        custom.kind,
        custom.is_convex,
        custom.kinks,
    )
    assert np.array_equal(again.value(f, y), custom.value(f, y))


def test_is_shown_compared_and_replaced():
    loss = CustomLoss(squared, squared_slope, is_convex=True)
    assert repr(loss) == (
        "CustomLoss(value=squared, slope=squared_slope, kind='regression', is_convex=True, "
        "kinks=())"
    )
    other = loss.replace(value=pinball, slope=pinball_slope)
    assert other.value_function is pinball
    assert other.is_convex
    assert other != loss == other.replace(value=squared, slope=squared_slope)
    assert copy.copy(loss) is copy.deepcopy(loss) is loss
    with pytest.raises(AttributeError):
        loss.kind = "binary"


def refuses_large(f, y):
    if f > 2.0:
        raise ValueError("too large for me")
    return 1.0 / (f - y)


@pytest.mark.parametrize("role", ["value", "slope"])
def test_what_a_function_raises_reaches_the_caller(role):
    functions = {"value": squared, "slope": squared_slope, role: refuses_large}
    loss = CustomLoss(**functions)
    with pytest.raises(ValueError, match="too large for me"):
        loss.value([1.0, 3.0], [0.0, 0.0])
    with pytest.raises(ZeroDivisionError):
        loss.slope([1.0, 1.0], [0.0, 1.0])
    assert np.isfinite(loss.value([1.0, 2.0], [0.0, 0.0])).all()  # it still works


def test_nan_is_what_it_is():
    loss = CustomLoss(lambda f, y: np.nan if f == 1.0 else f - y, squared_slope)
    np.testing.assert_array_equal(loss.value([1.0, 2.0], [0.0, 0.0]), [np.nan, 2.0])


def test_functions_without_a_name_say_how_to_be_pickled():
    with pytest.raises(pickle.PicklingError, match=r"slope of CustomLoss .*top level of a module"):
        pickle.dumps(CustomLoss(squared, lambda f, y: f - y))
    cloudpickle = pytest.importorskip("cloudpickle")
    again = pickle.loads(cloudpickle.dumps(CustomLoss(squared, lambda f, y: 2.0 * f)))
    assert again.slope([3.0], [0.0]) == 6.0


def test_a_wrong_kind_is_refused():
    with pytest.raises(ValueError, match="kind must be 'regression' or 'binary', got 'odd'"):
        CustomLoss(squared, squared_slope, kind="odd")


def test_a_missing_slope_is_named():
    with pytest.raises(TypeError, match=r"CustomLoss needs two functions.*its slope in f"):
        CustomLoss(squared)
