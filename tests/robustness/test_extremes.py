"""Numbers near the limits give a clear error or a finite result, never NaN or infinity."""

import contextlib
import copy
import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from colk import COLKRegressor, DivergenceError
from colk.kernels import Gaussian, Linear, Polynomial
from colk.learners import COLK, SCGD
from colk.losses import Squared
from colk.risks import Variance
from colk.river import COLKRegressor as RiverRegressor
from colk.rkhs.features import RBFNetwork
from colk.rl import PolicyEvaluator
from colk.theory import Constants, bound_distance, plan_distance, plan_gradient

RNG = np.random.default_rng(0)
X = RNG.random((300, 2))
Y = np.sin(6.0 * X[:, 0])
ROWS = [{"a": a, "b": b} for a, b in X.tolist()]
CLEAR = (ValueError, DivergenceError)
HUGE = [1e150, 1e155, 1e160, -1e160, 1e300]


@pytest.mark.each_value
@pytest.mark.parametrize("huge", HUGE)
@pytest.mark.parametrize("place", [0, 1, 100])
def test_river_survives_one_huge_target(huge, place):
    model = RiverRegressor()
    for row, y in zip(ROWS[:place], Y[:place], strict=True):
        model.learn_one(row, float(y))
    before = model.predict_one(ROWS[0])
    try:
        model.learn_one(ROWS[0], huge)
    except CLEAR:
        assert model.predict_one(ROWS[0]) == before
    assert math.isfinite(model.predict_one(ROWS[0]))
    for row, y in zip(ROWS, Y, strict=True):
        model.learn_one(row, float(y))
        assert math.isfinite(model.predict_one(row))


@pytest.mark.parametrize("huge", HUGE)
def test_river_survives_one_huge_target_in_a_batch(huge):
    model, y = RiverRegressor(), Y.copy()
    y[100] = huge
    table = pd.DataFrame(X, columns=["a", "b"])
    try:
        model.learn_many(table, pd.Series(y))
    except CLEAR:
        assert math.isfinite(model.predict_one(ROWS[0]))
    model.learn_many(table, pd.Series(Y))
    assert np.isfinite(model.predict_many(table)).all()


@pytest.mark.each_pair
@pytest.mark.parametrize("huge", HUGE)
@pytest.mark.parametrize("share", ["one", "all"])
@pytest.mark.parametrize("scale_targets", [True, False])
def test_huge_targets_of_the_estimator(huge, share, scale_targets):
    y = Y * huge if share == "all" else np.where(np.arange(300) == 100, huge, Y)
    model = COLKRegressor(scale_targets=scale_targets, random_state=0)
    try:
        model.fit(X, y)
    except CLEAR:
        return
    predictions = model.predict(X)
    assert np.isfinite(predictions).all()
    assert np.isfinite(model.target_scale_)
    if share == "all" and scale_targets:
        unit = COLKRegressor(random_state=0).fit(X, Y).predict(X)
        np.testing.assert_allclose(predictions / huge, unit, atol=1e-6)


@pytest.mark.parametrize("huge", HUGE)
def test_huge_targets_of_a_later_call(huge):
    model = COLKRegressor().partial_fit(X[:20], Y[:20])
    before = model.predict(X)
    try:
        model.partial_fit(X[:1], [huge])
    except CLEAR:
        np.testing.assert_array_equal(model.predict(X), before)
        return
    assert np.isfinite(model.predict(X)).all()


# -- divergence ------------------------------------------------------------------------------------


def test_a_sample_that_was_refused_leaves_no_mark():
    """Predictions are compared with the largest target: one that was refused does not count."""
    settings = {"step_size": 3.0, "gradient_bound": np.inf, "averaging": None}

    def steps_until_divergence(learner):
        with pytest.raises(DivergenceError):
            learner.learn(X, Y)
        return learner.steps

    clean = COLK(Gaussian(1.0), Squared(), **settings).learn(X[:3], Y[:3])
    marked = COLK(Gaussian(1.0), Squared(), **settings).learn(X[:3], Y[:3])
    with pytest.raises(DivergenceError):
        marked.learn_one(X[3], 1e120)
    assert marked.steps == 3
    np.testing.assert_array_equal(marked.predict(X), clean.predict(X))
    assert steps_until_divergence(marked) == steps_until_divergence(clean) > 3
    np.testing.assert_array_equal(marked.predict(X), clean.predict(X))


@pytest.mark.each_value
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3), Gaussian(0.5) + Linear()], ids=str)
@pytest.mark.parametrize("size", [1e60, 1e110, 1e160, 1e200])
def test_policy_evaluation_with_a_kernel_that_overflows(kernel, size):
    evaluator = PolicyEvaluator(kernel, discount=0.9, step_size=0.01)
    evaluator.learn(X[:50], Y[:50], X[1:51])
    before = evaluator.value(X)
    with pytest.raises(CLEAR):
        evaluator.learn(size * X[:20], Y[:20], size * X[1:21])
    np.testing.assert_array_equal(evaluator.value(X), before)
    assert np.isfinite(evaluator.learn(X[:50], Y[:50], X[1:51]).value(X)).all()


def test_policy_evaluation_whose_first_states_overflow():
    evaluator = PolicyEvaluator(Polynomial(2), discount=0.9)
    with pytest.raises(CLEAR):
        evaluator.learn([[1e200]], [1.0], [[1e200]])
    assert np.isfinite(evaluator.error_spent)


@pytest.mark.parametrize("tracks", ["function", "scalar", "momentum"])
@pytest.mark.parametrize("reward", [1e80, 1e155, 1e300])
def test_policy_evaluation_with_a_reward_that_overflows(tracks, reward):
    evaluator = PolicyEvaluator(Gaussian(0.5), discount=0.9, tracks=tracks)
    evaluator.learn(X[:50], Y[:50], X[1:51])
    marked = copy.copy(evaluator)
    with pytest.raises(DivergenceError, match="scale the rewards"):
        marked.learn(X[50:51], [reward], X[51:52])
    assert marked.steps == evaluator.steps == 50
    assert marked.tracked == evaluator.tracked
    rest = (X[50:90], Y[50:90], X[51:91])
    assert marked.learn(*rest).function == evaluator.learn(*rest).function


def test_a_kernel_that_overflows_leaves_what_is_tracked_alone():
    learner = COLK(Linear(), risk=Variance(0.1), step_size=0.01).learn(X[:50], Y[:50])
    before = learner.inner_estimate
    with pytest.raises(DivergenceError):
        learner.learn(np.full((2, 2), 1e200), np.ones(2))
    np.testing.assert_array_equal(learner.inner_estimate, before)


# -- plans -----------------------------------------------------------------------------------------

NAMES = [
    "kernel_bound",
    "inner_slope",
    "outer_slope",
    "outer_lipschitz",
    "inner_lipschitz",
    "inner_deviation",
    "gradient_bound",
    "norm_bound",
    "optimum_norm",
    "smoothness",
    "initial_gap",
    "kernel_lipschitz",
]


def check_plan(plan):
    for value in (plan.step_size, plan.tracking_rate, plan.eps):
        assert 0.0 < value < math.inf
    assert plan.steps >= 1


@pytest.mark.each_value
@pytest.mark.parametrize("size", [1e6, 1e12, 1e25, 1e40])
@pytest.mark.parametrize("name", [*NAMES, "all"])
def test_plans_for_large_constants(name, size):
    """A plan that keeps its promise, or a clear error: not a division by zero."""
    names = NAMES if name == "all" else [name]
    constants = Constants(**dict.fromkeys(names, size))
    try:
        plan = plan_distance(constants, 0.1, strong_convexity=0.5)
    except ValueError:
        pass
    else:
        check_plan(plan)
        settings = plan.step_size, plan.tracking_rate, plan.eps, plan.steps
        assert bound_distance(constants, *settings, strong_convexity=0.5) <= 0.1 * (1 + 1e-9)
    with contextlib.suppress(ValueError):
        check_plan(plan_gradient(constants, 0.1))


# -- memory of a trace -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: SCGD(RBFNetwork(5, 0.3, (0.0, 0.0), (1.0, 1.0)), pairing="same", trace=True),
        lambda: COLK(Gaussian(0.5), trace=True),
    ],
    ids=["SCGD", "COLK"],
)
def test_a_trace_takes_the_memory_of_its_entries(make):
    samples, targets = np.tile(X, (100, 1)), np.tile(Y, 100)
    make().learn(samples[:2000], targets[:2000])
    tracemalloc.start()
    try:
        learner = make().learn(samples, targets)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    trace = learner.trace
    entries = sum(getattr(trace, name).size for name in trace.__dataclass_fields__)
    assert len(trace) == len(samples)
    assert held < 3 * 8 * entries + 1_000_000
    assert peak < 6 * 8 * entries + 20_000_000
