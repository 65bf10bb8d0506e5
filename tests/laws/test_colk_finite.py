"""For any stream and settings: finite numbers, or an error and an unchanged model."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colk import DivergenceError
from colk.compressors import KOMP
from colk.kernels import Gaussian, Linear, Polynomial
from colk.learners import COLK
from colk.losses import LOSSES, Softmax
from colk.risks import RISKS, Entropic

REGRESSION = sorted(name for name, loss in LOSSES.items() if loss().kind == "regression")
PLACES = st.sampled_from([0.0, 1e-300, 0.5, 0.5 + 1e-12, 1.0, -3.0, 1e3, 1e150])
TARGETS = st.sampled_from([0.0, -1.0, 1.0, 1e-200, 1e6, -1e6, 1e100, -1e160, 1e300])
RISK = st.sampled_from([*(risk() for risk in RISKS.values()), Entropic(-2.0)])


def snapshot(learner):
    f, mean = learner.last_function, learner.function
    return (f, mean, learner.inner_estimate.tobytes(), learner.steps, learner.error_spent)


def is_finite(learner):
    f, mean = learner.last_function, learner.function
    numbers = [f.weights, mean.weights, f.atoms, learner.inner_estimate, [learner.error_spent]]
    return all(np.isfinite(values).all() for values in numbers)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    samples=st.lists(st.tuples(PLACES, TARGETS), min_size=1, max_size=30),
    kernel=st.sampled_from([Gaussian(0.3), Linear(), Polynomial(3)]),
    loss=st.sampled_from(REGRESSION),
    risk=RISK,
    step_size=st.sampled_from([1e-6, 0.1, 50.0]),
    tracking_rate=st.sampled_from([1e-3, 0.5, 1.0]),
    eps=st.sampled_from([0.0, 1e-8, 0.1]),
    gradient_bound=st.sampled_from([0.1, 10.0, np.inf]),
    norm_bound=st.sampled_from([1.0, np.inf]),
    pairing=st.sampled_from(["independent", "same", "overlap"]),
    tracker=st.sampled_from(["momentum", "average"]),
)
def test_finite_or_refused(
    samples, kernel, loss, risk, step_size, tracking_rate, eps, gradient_bound, norm_bound,
    pairing, tracker,
):  # fmt: skip
    learner = COLK(
        kernel,
        LOSSES[loss](),
        risk,
        step_size=step_size,
        tracking_rate=tracking_rate,
        compressor=KOMP(eps=eps),
        gradient_bound=gradient_bound,
        norm_bound=norm_bound,
        pairing=pairing,
        tracker=tracker,
    )
    learner.learn([[0.25]], [0.5])
    for x, y in samples:
        before, refusal = snapshot(learner), ""
        try:
            learner.learn_one([x], y)
        except DivergenceError as error:
            refusal = str(error)
        if refusal:
            cures = ("step_size", "gradient_bound", "scale the targets")
            assert any(cure in refusal for cure in cures)
            assert snapshot(learner) == before
            break
        assert is_finite(learner)
        assert learner.last_function.norm() <= norm_bound * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("risk", ["mean", "variance", "cvar", "entropic"])
def test_hostile_classes(risk):
    rng = np.random.default_rng(0)
    X = rng.standard_cauchy(size=(500, 2)) * 1e3
    learner = COLK(Gaussian(1.0), Softmax(), RISKS[risk](), step_size=10.0, n_outputs=3)
    learner.learn(X, rng.integers(0, 3, size=500))
    assert is_finite(learner)
