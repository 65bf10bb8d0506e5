"""The objective of one sample in the core, and the objective of a function on data."""

from ctypes import CFUNCTYPE, c_double, c_int64

import numpy as np
import pytest

from colk._core import window as core
from colk._core.assess import JACOBI, TRACK_FIRST, assess_unit
from colk._core.buffers import COLUMN, SIZE
from colk._core.objective import sample_value
from colk._core.reference import Pinned
from colk._core.roster import Parameters
from colk.objectives import Objective, objective
from colk.expansion import KernelExpansion
from colk.kernels import Gaussian
from colk.losses import Hinge, Huber, Logistic, Pinball, Softmax, Squared
from colk.risks import (
    RISKS,
    Composition,
    CustomRisk,
    CVaR,
    Entropic,
    Mean,
    MeanSemideviation,
    Variance,
)

TERMS = [
    *((Huber(0.5), risk()) for risk in RISKS.values()),
    (Squared(), CVaR(0.2, 0.5, 0.3)),
    (Logistic(), Variance(0.5)),
    (Hinge(), Entropic(-1.0)),
    (Softmax(), MeanSemideviation(2.0, 0.7)),
]


def draw(loss, rng, n):
    """Predictions (n, q) and targets (n, r) that suit the loss."""
    if loss.kind == "multiclass":
        return rng.normal(size=(n, 3)), rng.integers(3, size=(n, 1)).astype(float)
    if loss.kind == "binary":
        return rng.normal(size=(n, 1)), rng.choice([-1.0, 1.0], (n, 1))
    return rng.normal(size=(n, 2)), rng.normal(size=(n, 2))


class Pair:
    """A window of one θ and one ξ, with predictions of f and of the previous f set by hand.

    `work` and `slopes` are surrounded by sevens.
    """

    def __init__(self, loss, risk, n_outputs, n_targets, momentum=True):
        q, m = n_outputs, risk.n_inner
        self.d = Parameters(np.zeros(1), 1, n_rows=2 * q, n_priced=q, n_fitted=q)
        self.d.buffers.counters[SIZE] = 2 * q
        self.d.buffers.weights[:, : 2 * q] = np.eye(2 * q)
        switches = np.zeros(core.N_SWITCHES, dtype=np.int64)
        switches[core.PAIRING], switches[core.BATCH] = core.INDEPENDENT, 1
        switches[core.MOMENTUM], switches[core.REMEMBERED] = momentum, q
        settings = np.zeros(core.N_SETTINGS)
        settings[core.GRADIENT_BOUND] = np.inf
        self.guarded = np.full(100, 7.0)
        self.core = core.Learner(
            dictionary=self.d.buffers,
            loss=loss.program(),
            risk=risk.program(),
            settings=settings,
            switches=switches,
            tallies=np.zeros(core.N_TALLIES, dtype=np.int64),
            levels=np.zeros(core.N_LEVELS),
            g=np.zeros(m),
            window_x=np.zeros((2, 1)),
            window_y=np.zeros((2, n_targets)),
            window_weight=np.ones(2),
            predictions=np.zeros((2, q)),
            previous=np.zeros((2, q)),
            losses=np.zeros(2),
            loss_slopes=np.zeros((2, q)),
            coefficients=np.zeros((2, q)),
            slopes=self.guarded[10 : 10 + 2 * q].reshape(2, q),
            tracked=np.zeros((2, m)),
            work=self.guarded[50 : 50 + m * (q + 1)],
            line=np.zeros(0),
            step=0,
            assess=0,
            record=0,
            method=0,
        )

    def assess(self, F, Y, previous, t, rate, order):
        """Run the compiled unit for rows θ, ξ of F and Y at step t."""
        m, q = self.core, F.shape[1]
        m.tallies[core.STEPS] = t
        m.window_y[:] = Y
        columns = m.dictionary.panels[COLUMN]
        columns[:, :q], columns[:, q : 2 * q] = F, previous
        call = CFUNCTYPE(c_double, c_int64, c_double, c_int64)(assess_unit.address)
        assert call(Pinned(m).address, rate, order) == 1.0

    def gradient(self, g, F, Y):
        """c_θ and c_ξ for this g: in Jacobi's order the gradient sees the old one."""
        self.core.g[:] = g
        self.assess(F, Y, F, 1, 0.5, JACOBI)
        return self.core.coefficients.copy()

    def track(self, f, previous, y, rate, first):
        """The new g after the sample ξ = (f, y)."""
        twice = np.stack([f, f]), np.stack([y, y]), np.stack([previous, previous])
        self.assess(*twice, 0 if first else 1, rate, TRACK_FIRST)
        return self.core.g.copy()


@pytest.mark.parametrize(("loss", "risk"), TERMS, ids=repr)
def test_the_mean_over_pairs_is_the_gradient(loss, risk):
    n = 15
    F, Y = draw(loss, np.random.default_rng(0), n)
    g = risk.estimate_at(loss, F, Y)
    pair = Pair(loss, risk, F.shape[1], Y.shape[1])
    expected = np.zeros_like(F)
    for theta in range(n):
        for xi in range(n):
            places = [theta, xi]
            c_theta, c_xi = pair.gradient(g, F[places], Y[places])
            expected[theta] += c_theta / n**2
            expected[xi] += c_xi / n**2
    if risk.is_smooth:
        np.testing.assert_allclose(expected, risk.gradient_at(loss, F, Y), atol=1e-14, rtol=1e-9)
    losses = loss.value(F, Y)
    values = [sample_value(risk.program(), g, F[i], Y[i], losses[i]) for i in range(n)]
    assert np.mean(values) == pytest.approx(risk.value_at(loss, F, Y), rel=1e-13)
    places = [n - 1, n - 1]
    pair.gradient(g, F[places], Y[places])
    np.testing.assert_array_equal(pair.core.losses, loss.value(F[places], Y[places]))


@pytest.mark.parametrize("momentum", [True, False])
def test_inner_track_of_a_loss(momentum):
    pair = Pair(Squared(), Variance(0.1), 1, 1, momentum)
    f, previous, y = np.array([1.0]), np.array([0.5]), np.array([3.0])
    assert pair.track(f, previous, y, 0.25, first=True) == 4.0
    expected = 0.75 * (4.0 - 6.25) + 4.0 if momentum else 4.0
    assert pair.track(f, previous, y, 0.25, first=False) == expected


def square(f, y, out):
    out[0] = (f[0] - y[0]) ** 2 + (f[1] - y[1]) ** 2


def square_slope(f, y, out):
    for c in range(2):
        out[0, c] = 2.0 * (f[c] - y[c])


def outer(f, y, g):
    loss = (f[0] - y[0]) ** 2 + (f[1] - y[1]) ** 2
    return loss + 0.5 * (loss - g[0]) ** 2


def outer_slope_prediction(f, y, g, out):
    loss = (f[0] - y[0]) ** 2 + (f[1] - y[1]) ** 2
    for c in range(2):
        out[c] = 2.0 * (f[c] - y[c]) * (1.0 + (loss - g[0]))


def outer_slope_inner(f, y, g, out):
    out[0] = g[0] - (f[0] - y[0]) ** 2 - (f[1] - y[1]) ** 2


AS_COMPOSITION = Composition(
    square, square_slope, outer, outer_slope_prediction, outer_slope_inner, 1, 2, 2
)
AS_CUSTOM = CustomRisk(
    inner=lambda loss: loss,
    inner_slope=lambda loss: 1.0,
    outer=lambda loss, g: loss + 0.5 * (loss - g) ** 2,
    outer_slope_loss=lambda loss, g: 1.0 + (loss - g),
    outer_slope_inner=lambda loss, g: g - loss,
)


@pytest.mark.parametrize("written", [AS_COMPOSITION, AS_CUSTOM], ids=["composition", "custom"])
@pytest.mark.parametrize("momentum", [True, False])
def test_three_ways_to_write_the_variance_agree(written, momentum):
    rng = np.random.default_rng(1)
    loss, built_in = Squared(), Variance(0.5)
    F, Y = rng.normal(size=(2, 40, 2))
    paths = []
    for risk in (built_in, written):
        path, losses = [], loss.value(F, Y)
        tracker, pair = Pair(loss, risk, 2, 2, momentum), Pair(loss, risk, 2, 2, momentum)
        for t in range(1, 39):
            g = tracker.track(F[t], F[t - 1], Y[t], 0.2, t == 1)
            places = [t + 1, t]
            c_theta, c_xi = pair.gradient(g, F[places], Y[places])
            value = sample_value(risk.program(), g, F[t], Y[t], losses[t])
            path.append([g[0], value, *c_theta, *c_xi])
        paths.append(path)
    np.testing.assert_allclose(paths[1], paths[0], rtol=1e-12, atol=1e-13)


def test_a_composition_writes_no_further_than_it_may():
    rng = np.random.default_rng(2)
    F, Y = rng.normal(size=(2, 2, 2))
    pair = Pair(Squared(), AS_COMPOSITION, 2, 2)
    pair.track(F[0], F[1], Y[0], 0.2, first=False)
    pair.gradient(np.ones(1), F, Y)
    written = np.flatnonzero(pair.guarded != 7.0)
    assert set(written) == {*range(10, 14), *range(50, 53)}


def test_without_expectations_the_second_sample_has_no_part():
    rng = np.random.default_rng(3)
    F, Y = rng.normal(size=(2, 2, 2))
    for risk in (Mean(), CVaR(0.2), Entropic(0.5)):
        g = np.full(risk.n_inner, 0.5)
        assert (Pair(Squared(), risk, 2, 2).gradient(g, F, Y)[1] == 0.0).all()
    c_theta, _ = Pair(Squared(), Mean(), 2, 2).gradient(np.zeros(0), F, Y)
    np.testing.assert_array_equal(c_theta, Squared().slope(F, Y)[0])


def test_a_label_out_of_range_is_not_a_number():
    f = np.zeros((2, 3))
    for label in (-1.0, 3.0):
        pair = Pair(Softmax(), Mean(), 3, 1)
        with pytest.raises(AssertionError):  # the step is refused
            pair.gradient(np.zeros(0), f, np.full((2, 1), label))
        assert np.isnan(pair.core.losses).all()
        assert np.isnan(pair.core.coefficients[0]).all()


def test_objective_of_an_expansion():
    rng = np.random.default_rng(4)
    X, y = rng.uniform(size=(200, 1)), rng.normal(size=200)
    f = KernelExpansion(Gaussian(0.5), X[:3], [1.0, -2.0, 0.5])
    found = objective(f, X, y, Squared(), Variance(0.3), 0.1)
    losses = (f(X) - y) ** 2
    assert found.mean == pytest.approx(losses.mean(), rel=1e-13)
    assert found.dispersion == pytest.approx(0.3 * losses.var(), rel=1e-10)
    assert found.penalty == pytest.approx(0.05 * f.norm() ** 2, rel=1e-13)
    assert found.total == pytest.approx(found.mean + found.dispersion + found.penalty, rel=1e-13)
    for level, value in found.quantiles.items():
        exact = np.quantile(losses, level, method="inverted_cdf")
        assert value == pytest.approx(exact, rel=1e-13)
    assert found.cvar == pytest.approx(np.sort(losses)[-10:].mean(), rel=1e-13)
    assert "mean of worst 0.05" in str(found)


def test_weights_of_objective_count_samples():
    rng = np.random.default_rng(5)
    X, y = rng.uniform(size=(30, 1)), rng.normal(size=30)
    counts = rng.integers(0, 4, size=30)
    repeated = np.repeat(np.arange(30), counts)

    def f(points):
        return points[:, 0]

    weighted = objective(f, X, y, Pinball(0.7), CVaR(0.3), sample_weight=counts)
    plain = objective(f, X[repeated], y[repeated], Pinball(0.7), CVaR(0.3))
    assert weighted.n_samples == 30
    for name in ("mean", "dispersion", "total", "cvar"):
        assert getattr(weighted, name) == pytest.approx(getattr(plain, name), rel=1e-12)
    assert weighted.quantiles == pytest.approx(plain.quantiles)


def test_objective_of_a_composition_and_of_classes():
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(20, 2)), rng.normal(size=(20, 2))
    found = objective(lambda points: points, X, Y, Squared(), AS_COMPOSITION)
    same = objective(lambda points: points, X, Y, Squared(), Variance(0.5))
    assert found.total == pytest.approx(same.total, rel=1e-13)
    scores = objective(lambda points: points, X, rng.integers(2, size=20), Softmax())
    assert isinstance(scores, Objective)


def test_a_penalty_needs_a_norm():
    with pytest.raises(TypeError, match="regularization needs a function that has a norm"):
        objective(lambda X: X[:, 0], [[1.0]], [1.0], Squared(), regularization=0.1)
