"""The implicit step equals its reference, and it does not diverge for any scale of the loss."""

import numpy as np
import pytest

from colk import reference
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import (
    CustomLoss,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Pinball,
    Softmax,
    Squared,
)
from colk.risks import Composition, CVaR, Entropic, Mean, Variance

KERNEL = Gaussian(0.2)
LOSSES = [Squared(), Huber(0.3), Pinball(0.1), EpsilonInsensitive(0.2), Logistic(), Hinge()]
RISKS = [Mean(), Variance(0.1), CVaR(0.2, 0.7), Entropic(0.3)]
PAIRINGS = ["independent", "overlap", "same"]


def stream(n, loss, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    if isinstance(loss, Softmax):
        return X, (3.0 * X).astype(int).astype(float)
    Y = np.sin(6.0 * X) + 0.1 * rng.normal(size=(n, 1))
    return X, np.where(Y > 0.0, 1.0, -1.0) if loss.kind == "binary" else Y


def assert_equal_paths(
    loss, risk, pairing, batch_size=1, n_outputs=1, step_size=2.0, kernel=KERNEL
):
    X, Y = stream(40, loss)
    settings = {"step_size": step_size, "tracking_rate": 0.1, "regularization": 0.05}
    settings |= {"averaging": None, "implicit": True, "gradient_bound": 50.0}
    twin = reference.COLK(kernel, loss, risk, 1, n_outputs, fraction=0.1, **settings)
    twin.learn(X, Y, pairing, batch_size)
    learner = COLK(
        kernel, loss, risk, compressor=KOMP(fraction=0.1), pairing=pairing,
        batch_size=batch_size, n_outputs=n_outputs, **settings,
    ).learn(X, Y)  # fmt: skip
    points = np.linspace(0.0, 1.0, 30)[:, None]
    found = learner.predict(points).reshape(30, n_outputs)
    np.testing.assert_allclose(found, twin.predict(points), atol=1e-6)
    assert learner.n_atoms == len(twin.atoms)


@pytest.mark.each_value
@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("risk", RISKS, ids=repr)
def test_equals_its_twin_under_a_risk(risk, pairing):
    assert_equal_paths(Huber(0.3), risk, pairing)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_equals_its_twin_for_a_loss(loss):
    assert_equal_paths(loss, Mean(), "same")


def test_equals_its_twin_where_a_loss_couples_outputs():
    assert_equal_paths(Softmax(), Mean(), "same", n_outputs=3)


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_points_that_share_a_step_share_it(pairing):
    assert_equal_paths(Squared(), Variance(0.1), pairing, batch_size=2, step_size=0.5)


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_equals_its_twin_for_a_kernel_of_another_height(pairing):
    assert_equal_paths(Huber(0.3), Variance(0.1), pairing, kernel=2.5 * KERNEL)


@pytest.mark.parametrize("own", [1.0, 2.5])
def test_squares_have_a_closed_form(own):
    """f⁺(x) − y = (f(x) − y)/(1 + 2ακ(x, x)): the minimum of ℓ + ‖f⁺ − f‖²/(2α)."""
    learner = COLK(own * KERNEL, step_size=3.0, regularization=0.0, averaging=None, implicit=True,
                   gradient_bound=np.inf)  # fmt: skip
    learner.learn([[0.5]], [7.0])
    assert learner.predict([[0.5]])[0] == pytest.approx(7.0 - 7.0 / (1.0 + 6.0 * own), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 0.1, 10.0, 1e3, 1e6])
def test_no_scale_of_the_loss_runs_away(scale):
    loss = CustomLoss(lambda f, y: scale * (f - y) ** 2, lambda f, y: 2.0 * scale * (f - y))
    X, Y = stream(4000, Squared())
    learner = COLK(KERNEL, loss, compressor=KOMP(fraction=0.1), implicit=True, step_size=1.0,
                   regularization=0.0, gradient_bound=np.inf)  # fmt: skip
    residual = learner.learn(X, Y[:, 0]).predict(X) - np.sin(6.0 * X[:, 0])
    assert np.mean(residual**2) < (0.2 if scale < 0.01 else 0.02)


def test_a_composition_is_refused():
    risk = Composition(
        inner=lambda f, y: f, inner_slope=lambda f, y: 1.0, outer=lambda f, y, g: f,
        outer_slope_prediction=lambda f, y, g: 1.0, outer_slope_inner=lambda f, y, g: 0.0,
    )  # fmt: skip
    with pytest.raises(ValueError, match="implicit"):
        COLK(KERNEL, risk=risk, implicit=True)
