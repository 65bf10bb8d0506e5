"""Exceptions of user-defined functions reach the caller; their writes do not reach the data."""

import contextlib
import math

import numpy as np
import pytest

from colk.kernels import CustomKernel, Gaussian
from colk.learners import COLK, SCGD
from colk.losses import CustomLoss, Squared
from colk.risks import Composition, CustomRisk, Variance
from colk.rkhs.features import RBFNetwork
from colk.rl import PolicyEvaluator

X = np.random.default_rng(0).random((200, 2))
Y = np.sin(6.0 * X[:, 0])
FAR = np.array([9.0, 9.0])  # where the kernels below raise
WILD = 1e3  # the target at which losses, and so risks, raise


class TroubleError(Exception):
    """The exception of the functions here."""


# -- functions that raise --------------------------------------------------------------------------


def picky_kernel(u, v):
    if u[0] > 5.0 or v[0] > 5.0:
        raise ValueError("too far out")
    return math.exp(-((u[0] - v[0]) ** 2) - (u[1] - v[1]) ** 2)


def square(f, y):
    return (f - y) ** 2


def square_slope(f, y):
    return 2.0 * (f - y)


def picky_square(f, y):
    if y > 100.0:
        raise ValueError("wild target")
    return (f - y) ** 2


def picky_square_slope(f, y):
    if y > 100.0:
        raise ValueError("wild target")
    return 2.0 * (f - y)


# The mean plus a tenth of the variance, and each of its functions once more with a limit.


def inner(loss):
    return loss


def inner_slope(loss):
    return 1.0


def outer(loss, g):
    return loss + 0.1 * (loss - g) ** 2


def outer_slope_loss(loss, g):
    return 1.0 + 0.2 * (loss - g)


def outer_slope_inner(loss, g):
    return -0.2 * (loss - g)


def picky_inner(loss):
    if loss > 1e4:
        raise ValueError("wild loss")
    return loss


def picky_inner_slope(loss):
    if loss > 1e4:
        raise ValueError("wild loss")
    return 1.0


def picky_outer(loss, g):
    if loss > 1e4:
        raise ValueError("wild loss")
    return loss + 0.1 * (loss - g) ** 2


def picky_outer_slope_loss(loss, g):
    if loss > 1e4:
        raise ValueError("wild loss")
    return 1.0 + 0.2 * (loss - g)


def picky_outer_slope_inner(loss, g):
    if loss > 1e4:
        raise ValueError("wild loss")
    return -0.2 * (loss - g)


PLAIN = (inner, inner_slope, outer, outer_slope_loss, outer_slope_inner)
PICKY = (
    picky_inner,
    picky_inner_slope,
    picky_outer,
    picky_outer_slope_loss,
    picky_outer_slope_inner,
)


def picky_risk(place):
    functions = list(PLAIN)
    functions[place] = PICKY[place]
    return CustomRisk(*functions)


def state_of(learner):
    return learner.steps, learner.inner_estimate.tolist(), learner.predict(X).tolist()


LEARNERS = {
    "value of a loss": lambda: COLK(Gaussian(0.2), CustomLoss(picky_square, square_slope)),
    "slope of a loss": lambda: COLK(Gaussian(0.2), CustomLoss(square, picky_square_slope)),
    "loss on features": lambda: SCGD(
        RBFNetwork(10, 0.2, (0.0, 0.0), (1.0, 1.0)), CustomLoss(picky_square, picky_square_slope)
    ),
    **{
        f"{PLAIN[place].__name__} of a risk": (
            lambda place=place: COLK(Gaussian(0.2), risk=picky_risk(place), pairing="same")
        )
        for place in (0, 1, 3, 4)
    },
}


@pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
def test_what_a_term_raises_reaches_the_caller(make):
    learner = make().learn(X, Y)
    before = state_of(learner)
    with pytest.raises(ValueError, match="wild"):
        learner.learn_one(X[0], WILD)
    assert state_of(learner) == before
    learner.learn(X, Y)
    assert state_of(learner) == state_of(make().learn(X, Y).learn(X, Y))


def test_what_a_kernel_raises_reaches_the_caller():
    learner = COLK(CustomKernel(picky_kernel)).learn(X, Y)
    before = state_of(learner)
    with pytest.raises(ValueError, match="too far out"):
        learner.learn_one(FAR, 1.0)
    with pytest.raises(ValueError, match="too far out"):
        learner.predict(FAR[None, :])
    assert state_of(learner) == before
    with pytest.raises(ValueError, match="too far out"):
        learner.kernel.gram(FAR[None, :], X)
    twin = COLK(CustomKernel(picky_kernel)).learn(X, Y)
    assert state_of(learner.learn(X, Y)) == state_of(twin.learn(X, Y))


def test_what_a_kernel_raises_at_the_first_sample():
    learner = COLK(CustomKernel(picky_kernel))
    with pytest.raises(ValueError, match="too far out"):
        learner.learn_one(FAR, 1.0)
    assert learner.steps == 0
    twin = COLK(CustomKernel(picky_kernel))
    assert state_of(learner.learn(X, Y)) == state_of(twin.learn(X, Y))


def test_what_a_kernel_raises_in_the_middle_of_a_call():
    """Samples before it may stand or not; the learner is then that of its count of steps."""
    stream = np.insert(X, 150, FAR, axis=0)
    learner = COLK(CustomKernel(picky_kernel))
    with pytest.raises(ValueError, match="too far out"):
        learner.learn(stream, np.insert(Y, 150, 1.0))
    assert 0 <= learner.steps <= 150
    if learner.steps > 0:
        k = learner.steps
        twin = COLK(CustomKernel(picky_kernel)).learn(X[:k], Y[:k])
        assert state_of(learner) == state_of(twin)


@pytest.mark.parametrize("batch_size", [4, 16])
def test_what_a_kernel_raises_in_a_batch(batch_size):
    learner = COLK(CustomKernel(picky_kernel), batch_size=batch_size)
    learner.learn(X[: 4 * batch_size], Y[: 4 * batch_size])
    before = state_of(learner)
    with pytest.raises(ValueError, match="too far out"):
        learner.learn(np.tile(FAR, (batch_size, 1)), np.ones(batch_size))
    assert state_of(learner) == before


def test_what_a_kernel_raises_in_pairs():
    learner = COLK(CustomKernel(picky_kernel), risk=Variance(0.1)).learn(X, Y)
    before = state_of(learner)
    with pytest.raises(ValueError, match="too far out"):
        learner.learn(np.tile(FAR, (2, 1)), np.ones(2))
    assert state_of(learner) == before


def test_what_a_kernel_raises_in_policy_evaluation():
    evaluator = PolicyEvaluator(CustomKernel(picky_kernel), discount=0.9)
    evaluator.learn(X[:-1], Y[:-1], X[1:])
    before = evaluator.value(X).tolist()
    with pytest.raises(ValueError, match="too far out"):
        evaluator.learn(X[:1], Y[:1], FAR[None, :])
    assert evaluator.value(X).tolist() == before
    assert evaluator.steps == len(X) - 1


@pytest.mark.parametrize("place", range(5))
def test_what_a_risk_raises_by_itself(place):
    risk = picky_risk(place)
    method = risk.value_at if place in (0, 2) else risk.gradient_at
    with pytest.raises(ValueError, match="wild loss"):
        method(Squared(), [1.0, 150.0], [0.0, 0.0])


def test_what_a_loss_raises_by_itself():
    loss = CustomLoss(picky_square, picky_square_slope)
    for method in (loss.value, loss.slope):
        with pytest.raises(ValueError, match="wild target"):
            method([0.0, 0.0], [1.0, WILD])


def bias(f, y):
    if y[0] > 100.0:
        raise ValueError("wild target")
    return f[0] - y[0]


def bias_slope(f, y):
    return 1.0


def biased_outer(f, y, g):
    return (f[0] - y[0]) ** 2 + g[0] ** 2


def biased_slope_prediction(f, y, g):
    return 2.0 * (f[0] - y[0])


def biased_slope_inner(f, y, g):
    return 2.0 * g[0]


def test_what_a_composition_raises_reaches_the_caller():
    risk = Composition(bias, bias_slope, biased_outer, biased_slope_prediction, biased_slope_inner)
    learner = COLK(Gaussian(0.2), risk=risk, pairing="same").learn(X, Y)
    before = state_of(learner)
    with pytest.raises(ValueError, match="wild target"):
        learner.learn_one(X[0], WILD)
    assert state_of(learner) == before


def test_exceptions_of_any_class_keep_their_class():
    """A function may raise an exception that Numba does not know; then it runs as Python."""
    calls = []

    def kernel(u, v):
        calls.append(len(u))
        if u[0] > 5.0 or v[0] > 5.0:
            raise TroubleError(f"after {len(calls)} calls")
        return float(np.exp(-np.sum((u - v) ** 2)))

    learner = COLK(CustomKernel(kernel))
    try:
        learner.learn(X[:20], Y[:20])
    except TypeError as error:
        pytest.skip(f"this function is refused, clearly: {str(error)[:60]}")
    with pytest.raises(TroubleError, match="calls"):
        learner.learn_one(FAR, 1.0)
    assert learner.steps == 20


# -- functions that write --------------------------------------------------------------------------


def tidy_kernel(u, v):
    return math.exp(-((u[0] - v[0]) ** 2) - (u[1] - v[1]) ** 2)


def scribbling_kernel(u, v):
    value = math.exp(-((u[0] - v[0]) ** 2) - (u[1] - v[1]) ** 2)
    u[0] = v[0] = 99.0
    u[1] = v[1] = -99.0
    return value


def test_a_kernel_that_writes_to_its_arguments_alters_no_data():
    """It may be rejected; otherwise it learns the same as a kernel that does not write."""
    points, targets, probe = X.copy(), Y.copy(), X[:50].copy()
    scribbling = CustomKernel(scribbling_kernel)
    learner = COLK(scribbling)
    found = None
    with contextlib.suppress(ValueError, TypeError):
        found = learner.learn(points, targets).predict(probe)
        scribbling.gram(points, probe)
    np.testing.assert_array_equal(points, X)
    np.testing.assert_array_equal(targets, Y)
    np.testing.assert_array_equal(probe, X[:50])
    if found is not None:
        tidy = COLK(CustomKernel(tidy_kernel)).learn(X, Y)
        np.testing.assert_array_equal(found, tidy.predict(probe))
        np.testing.assert_array_equal(learner.function.atoms, tidy.function.atoms)


def scribbling_bias(f, y):
    value = f[0] - y[0]
    f[0] = y[0] = 99.0
    return value


def tidy_bias(f, y):
    return f[0] - y[0]


def test_a_composition_that_writes_to_its_arguments_alters_no_data():
    rest = (bias_slope, biased_outer, biased_slope_prediction, biased_slope_inner)
    points, targets = X.copy(), Y.copy()
    found = None
    with contextlib.suppress(ValueError, TypeError):
        learner = COLK(Gaussian(0.2), risk=Composition(scribbling_bias, *rest))
        found = learner.learn(points, targets).predict(points)
    np.testing.assert_array_equal(points, X)
    np.testing.assert_array_equal(targets, Y)
    if found is not None:
        tidy = COLK(Gaussian(0.2), risk=Composition(tidy_bias, *rest)).learn(X, Y)
        np.testing.assert_array_equal(found, tidy.predict(X))
