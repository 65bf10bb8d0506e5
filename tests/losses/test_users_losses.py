"""Losses from outside the package: two functions, or a class."""

import math
import pickle

import numpy as np
import pytest

from colk.losses import CustomLoss, Logistic, Loss, Pinball, Squared
from colk.testing import check_loss


def squared(f, y):
    return (f - y) ** 2


def squared_slope(f, y):
    return 2 * (f - y)


def pinball(f, y):
    return max(-0.9 * (f - y), 0.1 * (f - y))


def pinball_slope(f, y):
    return 0.1 if f > y else -0.9


def softplus(f, y):
    return np.log1p(np.exp(-abs(y * f))) + max(-y * f, 0.0)


def softplus_slope(f, y):
    return -y / (1.0 + np.exp(y * f))


class Cauchy(Loss):
    """log(1 + (r/s)²): as a user writes it."""

    _fields = ("scale",)

    def __init__(self, scale=1.0):
        self.scale = scale

    @property
    def is_convex(self):
        return False

    def loss_at(self, f, y):
        return math.log1p(((f - y) / self.scale) ** 2)

    def slope_at(self, f, y):
        r = (f - y) / self.scale
        return 2.0 * r / (1.0 + r * r) / self.scale


class HalfDone(Loss):
    def loss_at(self, f, y):
        return f - y


class Failing(Loss):
    def loss_at(self, f, y):
        raise KeyError("no such target")

    def slope_at(self, f, y):
        return 0.0


def test_the_check_can_fail():
    def broken(value, slope, **claims):
        return CustomLoss(value, slope, **claims)

    with pytest.raises(AssertionError, match="slope is the derivative"):
        check_loss(broken(squared, lambda f, y: f - y))
    with pytest.raises(AssertionError, match="is_convex"):
        check_loss(broken(lambda f, y: -((f - y) ** 2), lambda f, y: -2 * (f - y), is_convex=True))
    with np.errstate(over="ignore"), pytest.raises(AssertionError, match="value is finite"):
        check_loss(broken(lambda f, y: np.exp(f - y), lambda f, y: np.exp(f - y)), magnitude=1e4)
    with pytest.raises(AssertionError, match="slope is the derivative"):
        check_loss(broken(pinball, lambda f, y: 0.1 if f > y else -0.8))


@pytest.mark.parametrize(
    ("custom", "built_in"),
    [
        (CustomLoss(squared, squared_slope, is_convex=True), Squared()),
        (CustomLoss(pinball, pinball_slope, kinks=(0.0,)), Pinball(0.9)),
        (CustomLoss(softplus, softplus_slope, kind="binary"), Logistic()),
    ],
)
def test_a_users_loss_equals_the_built_in_one(custom, built_in):
    rng = np.random.default_rng(1)
    f, y = rng.normal(size=(100, 2)), rng.choice([-1.0, 1.0], (100, 2))
    check_loss(custom, magnitude=100.0)
    np.testing.assert_allclose(custom.value(f, y), built_in.value(f, y), rtol=1e-13)
    np.testing.assert_allclose(custom.slope(f, y), built_in.slope(f, y), rtol=1e-12)
    again = pickle.loads(pickle.dumps(custom))
    assert again == custom
    assert hash(again) == hash(custom)
    assert np.array_equal(again.value(f, y), custom.value(f, y))


def test_a_function_that_returns_no_number_is_named():
    with pytest.raises(TypeError, match="value must return"):
        CustomLoss(lambda f, y: str(f), squared_slope).value([1.0], [2.0])
    with pytest.raises(TypeError, match="value must be a function"):
        CustomLoss(3.0, squared_slope)


def test_a_class_of_ones_own():
    loss = Cauchy(0.5)
    check_loss(loss)
    f, y = np.random.default_rng(2).normal(size=(2, 20, 2))
    expected = np.log1p(((f - y) / 0.5) ** 2).sum(axis=1)
    np.testing.assert_allclose(loss.value(f, y), expected, rtol=1e-14)
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss
    assert repr(again) == "Cauchy(scale=0.5)"
    assert loss.replace(scale=2.0) == Cauchy(2.0)
    with pytest.raises(AttributeError, match="cannot be changed"):
        loss.scale = 3.0


def test_a_class_that_lacks_a_method_is_told_so():
    with pytest.raises(NotImplementedError, match="HalfDone must define the method slope_at"):
        HalfDone().value([1.0], [2.0])


def test_what_a_method_raises_reaches_the_caller():
    with pytest.raises(KeyError, match="no such target"):
        Failing().value([1.0], [2.0])


def test_a_wrong_class_is_found():
    class Wrong(Cauchy):
        def slope_at(self, f, y):
            return f - y

    with pytest.raises(AssertionError, match="slope is the derivative of value"):
        check_loss(Wrong())


def test_an_unknown_kind_meets_one_clear_error():
    with pytest.raises(ValueError, match="kind must be"):
        CustomLoss(squared, squared_slope, kind="odd")


def log_cosh(f, y):
    return np.log(np.cosh(f - y))


def log_cosh_slope(f, y):
    return np.tanh(f - y)


def test_the_check_shows_where_a_value_is_infinite():
    """cosh overflows beyond 710."""
    with pytest.raises(AssertionError, match=r"value is finite: it is value = inf at f = .*, y = "):
        check_loss(CustomLoss(log_cosh, log_cosh_slope, is_convex=True))
    check_loss(CustomLoss(log_cosh, log_cosh_slope, is_convex=True), magnitude=100.0)
