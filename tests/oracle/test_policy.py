"""The compiled step of policy evaluation equals its NumPy reference and certifies its error."""

import numpy as np
import pytest

from colk.compressors import KOMP
from colk.kernels import Gaussian, Laplacian
from colk.reference import ReferenceEvaluator
from colk.rkhs.expansion import KernelExpansion
from colk.rl import TDC, KernelTD, PolicyEvaluator, ResidualGradient, Transitions

DISCOUNT, EPS = 0.9, 0.05


def transitions(n, p=2, seed=0):
    """Random transitions, one in six of them terminal."""
    rng = np.random.default_rng(seed)
    states = rng.uniform(-1.0, 1.0, size=(n, p))
    ahead = 0.8 * states + 0.3 * rng.normal(size=(n, p))
    rewards = np.sin(2.0 * states[:, 0]) + 0.2 * rng.normal(size=n)
    return Transitions(states, rewards, ahead, rng.random(n) < 1 / 6)


def made(method, kernel, **settings):
    """The learner of a method, and the twin with the same settings."""
    common = {"discount": DISCOUNT, "step_size": 0.4, "regularization": 1e-3}
    tracked = {"tracking_rate": 0.3}
    ratio = {"eps_ratio": settings.get("eps_ratio", 1.0)}
    build = {
        "function": lambda: PolicyEvaluator(
            kernel, tracks="function", **options, **tracked, **ratio
        ),
        "scalar": lambda: PolicyEvaluator(kernel, tracks="scalar", **options, **tracked),
        "momentum": lambda: PolicyEvaluator(kernel, tracks="momentum", **options, **tracked),
        "corrected": lambda: TDC(kernel, **options, **tracked, **ratio),
        "residual": lambda: ResidualGradient(kernel, **options),
        "semi": lambda: KernelTD(kernel, **options),
    }
    options = {**common, "compressor": KOMP(eps=EPS), "trace": True}
    twin = ReferenceEvaluator(kernel, 2, **common, **tracked, eps=EPS, method=method, **settings)
    return build[method](), twin


@pytest.mark.each_value
@pytest.mark.parametrize("kernel", [Gaussian(0.7), 0.5 * Laplacian(4.0)], ids=repr)
@pytest.mark.parametrize(
    "method", ["function", "scalar", "momentum", "corrected", "residual", "semi"]
)
def test_core_equals_reference_step_by_step(method, kernel):
    learner, twin = made(method, kernel)
    stream = transitions(40)
    for i in range(stream.n_transitions):
        part = stream.part(slice(i, i + 1))
        learner.learn(*part)
        difference = twin.step(
            part.states[0], part.rewards[0], part.next_states[0], part.terminated[0]
        )
        assert learner.trace.difference[-1] == pytest.approx(difference, abs=1e-9)
        np.testing.assert_array_equal(learner.last_function.atoms, twin.atoms)
        np.testing.assert_allclose(learner.last_function.weights, twin.value, atol=1e-9)
        np.testing.assert_allclose(learner.function.weights, twin.average, atol=1e-9)
        if method in ("function", "corrected"):
            np.testing.assert_allclose(learner.tracked.weights, twin.tracker, atol=1e-9)
        elif method in ("scalar", "momentum"):
            assert learner.tracked == pytest.approx(twin.scalar, abs=1e-12)
    assert learner.trace.added.sum() > learner.n_atoms >= 2, "atoms must come and go"


@pytest.mark.parametrize("eps_ratio", [0.5, 1.0, 4.0])
def test_core_equals_reference_for_any_ratio(eps_ratio):
    learner, twin = made("function", Gaussian(0.7), eps_ratio=eps_ratio)
    stream = transitions(30, seed=1)
    learner.learn(*stream)
    for x, reward, ahead, terminated in zip(*stream, strict=True):
        twin.step(x, reward, ahead, terminated)
    np.testing.assert_array_equal(learner.last_function.atoms, twin.atoms)
    np.testing.assert_allclose(learner.last_function.weights, twin.value, atol=1e-9)
    np.testing.assert_allclose(learner.tracked.weights, twin.tracker, atol=1e-9)


@pytest.mark.parametrize("eps_ratio", [0.3, 1.0, 5.0])
def test_certificates_hold_for_each_function(eps_ratio):
    """V~ and z~ are formed anew from the equations, and their distances measured in H."""
    kernel, step, rate = Gaussian(0.5), 0.5, 0.3
    learner = PolicyEvaluator(
        kernel,
        DISCOUNT,
        step_size=step,
        tracking_rate=rate,
        regularization=0.0,
        compressor=KOMP(eps=EPS),
        eps_ratio=eps_ratio,
        trace=True,
    )
    stream = transitions(200, seed=2)
    learner.learn(*stream.part(slice(1)))
    for i in range(1, stream.n_transitions):
        part = stream.part(slice(i, i + 1))
        x, ahead, ends = part.states, part.next_states, part.terminated[0]
        value, tracked = learner.last_function, learner.tracked
        bootstrap = 0.0 if ends else DISCOUNT
        z = tracked(x)[0]
        delta = part.rewards[0] + bootstrap * value(ahead)[0] - value(x)[0]
        moved = value + KernelExpansion(
            kernel, np.vstack([x, ahead]), [step * z, -step * bootstrap * z]
        )
        followed = tracked + KernelExpansion(kernel, x, [rate * (delta - z)])
        learner.learn(*part)
        lost, lost_by_tracker = learner.trace.value_error[-1], learner.trace.tracker_error[-1]
        assert moved.distance(learner.last_function) == pytest.approx(lost, abs=1e-6)
        assert followed.distance(learner.tracked) == pytest.approx(lost_by_tracker, abs=1e-6)
        assert lost**2 + (lost_by_tracker / eps_ratio) ** 2 <= EPS**2 * (1 + 1e-9)
    trace = learner.trace
    assert trace.value_error.max() <= EPS
    assert trace.tracker_error.max() <= eps_ratio * EPS
    assert trace.tracker_error.max() > 0.5 * eps_ratio * EPS, "z must use what it may lose"
    assert learner.error_spent == pytest.approx(trace.value_error.sum())


def test_a_budget_below_the_certificate_says_so():
    kernel = Gaussian(0.3)
    learner = PolicyEvaluator(
        kernel, DISCOUNT, compressor=KOMP(eps=1e-4, max_atoms=5), trace=True
    ).learn(*transitions(200))
    assert learner.trace.n_atoms.max() == 5
    assert learner.trace.tracker_error.max() > 1e-4
