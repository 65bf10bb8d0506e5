"""Risks in the polish: curvature, certificates, hard risks, and the path from the mean."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from colk.kernels import Gaussian
from colk.losses import Huber, Pinball, Softmax, Squared
from colk.risks import (
    KLDRO,
    CentralMoments,
    ChiSquareDRO,
    CustomRisk,
    CVaR,
    Entropic,
    Mean,
    MeanSemideviation,
    Semideviations,
    Semivariance,
    Variance,
)
from colk.risks.samples import HeldSample
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import polish, polish_under_risk
from colk.rkhs.polishing.block_sums import HeldBlock
from colk.rkhs.polishing.leave_one_out import leave_one_out
from colk.rkhs.polishing.newton import Search
from colk.rkhs.polishing.risk_path import follow_risk_path
from colk.rkhs.polishing.span import Span

DECAY = 1e-4
SMOOTH = [
    Mean(),
    Variance(0.7),
    Semivariance(0.7, 0.2),
    Semideviations(3, 0.4, 0.1),
    CentralMoments(4, 0.3),
    MeanSemideviation(2.0, 0.8),
    MeanSemideviation(3.5, 0.8),
    MeanSemideviation(1.0, 0.8, 0.2),
    MeanSemideviation(2.0, 0.8, 0.2),
    CVaR(0.2, 0.6, 0.15),
    Entropic(1.5),
]
MORE = [
    ChiSquareDRO(0.3),
    ChiSquareDRO(0.02),
    KLDRO(0.1),
    CustomRisk(
        inner=lambda loss: (loss, loss**2),
        inner_slope=lambda loss: (1.0, 2.0 * loss),
        outer=lambda loss, g: loss + 0.1 * (g[1] - g[0] ** 2),
        outer_slope_loss=lambda loss, g: 1.0,
        outer_slope_inner=lambda loss, g: (-0.2 * g[0], 0.1),
        n_inner=2,
    ),
]
HARD = [
    Entropic(3.0),
    Entropic(100.0),
    CVaR(0.1),
    CVaR(0.01),
    CVaR(0.1, 0.5),
    MeanSemideviation(1.0, 1.0),
    MeanSemideviation(2.0, 1.0),
    MeanSemideviation(4.0, 1.0),
    Semivariance(1.0),
    Variance(5.0),
    CentralMoments(4, 1.0),
]


def problem(n=600, seed=0, noise="exponential"):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, 2))
    return X, np.sin(3.0 * X[:, 0]) + X[:, 1] + 0.5 * getattr(rng, noise)(size=n)


def zero(X, n_atoms=30, q=None):
    return KernelExpansion(Gaussian(0.8), X[:n_atoms], np.zeros((n_atoms, q) if q else n_atoms))


@pytest.mark.parametrize("risk", [*SMOOTH, *MORE], ids=repr)
def test_second_derivatives_are_those_of_the_gradient(risk):
    rng = np.random.default_rng(0)
    losses, share = rng.exponential(size=25), rng.uniform(0.5, 1.5, size=25)
    share /= share.sum()
    step = 1e-5 * np.eye(25)
    differences = [
        (risk.gradient(losses + h, share) - risk.gradient(losses - h, share)) / 2e-5 for h in step
    ]
    sample = HeldSample(share, losses)
    statistics = risk.statistics(sample)
    joint = risk.joint(statistics, sample)
    bends = risk.bends(statistics, sample, joint)
    vectors = bends.vectors[:, :, 0] @ joint.mix.T
    found = np.diag(bends.diagonal[:, 0]) + (vectors * joint.coefficients) @ vectors.T
    np.testing.assert_allclose(found, differences, atol=2e-5 * max(np.abs(found).max(), 1e-3))


@pytest.mark.parametrize("risk", [*SMOOTH, CVaR(0.23)], ids=repr)
def test_influence_values_are_derivatives_in_the_weights(risk):
    """More weight ε on sample i changes the risk by ε (influence_i − risk)."""
    rng = np.random.default_rng(1)
    losses, share = rng.exponential(size=20), np.full(20, 0.05)
    influence, value = risk.influence(losses), risk.value(losses)
    assert share @ influence == pytest.approx(value, rel=1e-12)
    for i in (np.argmax(losses), 3):
        moved = (1.0 - 1e-6) * share + 1e-6 * (np.arange(20) == i)
        change = (risk.value(losses, moved) - value) / 1e-6
        assert change == pytest.approx(influence[i] - value, rel=1e-3, abs=1e-4)


def test_a_risk_is_blended_with_the_mean():
    losses = np.random.default_rng(0).exponential(size=50)
    assert CVaR(0.1, 0.8).blended(0.5) == CVaR(0.1, 0.4)
    assert Entropic(-2.0).blended(0.25) == Entropic(-0.5)
    for risk in (Variance(0.7), Semivariance(0.7), MeanSemideviation(2.0, 0.5), CVaR(0.2)):
        half = risk.blended(0.5)
        assert half.value(losses) == pytest.approx(0.5 * (losses.mean() + risk.value(losses)))
        assert risk.blended(1.0) is risk
    own = CustomRisk(
        inner=lambda loss: loss,
        inner_slope=lambda loss: 1.0,
        outer=lambda loss, g: loss + (loss - g) ** 2,
        outer_slope_loss=lambda loss, g: 1.0 + 2.0 * (loss - g),
        outer_slope_inner=lambda loss, g: -2.0 * (loss - g),
    )
    assert own.blended(0.5) is None
    assert own.blended(1.0) is own


@pytest.mark.each_value
@pytest.mark.parametrize("risk", HARD, ids=repr)
@pytest.mark.parametrize("scale", [0.0, 100.0])
def test_hard_risks_end_below_every_start(risk, scale):
    """Also from weights that are far too large, never above f = 0; convex ones are certified."""
    X, y = problem(noise="lognormal" if isinstance(risk, CVaR) else "exponential")
    rng = np.random.default_rng(0)
    f = zero(X)
    start = KernelExpansion(f.kernel, f.atoms, scale * rng.normal(size=30))
    found = polish(start, X, y, Huber(), risk, DECAY, tolerance=1e-3)
    nothing = risk.value_at(Huber(), np.zeros(len(y)), y)
    assert found.value <= nothing
    mean = polish(f, X, y, Huber(), Mean(), DECAY)
    penalty = 0.5 * DECAY * mean.function.norm() ** 2
    assert found.value <= risk.value_at(Huber(), mean.function(X), y) + penalty + 1e-9
    assert found.converged
    if risk.is_convex and risk.is_monotone:
        assert found.gap <= 1e-3 * found.value


@pytest.mark.parametrize("tail", [0.05, 0.3])
def test_the_gap_bounds_the_optimum_of_another_solver(tail):
    """Rockafellar and Uryasev's form by L-BFGS, over weights and threshold at once."""
    X, y = problem(300)
    found = polish(zero(X), X, y, Squared(), CVaR(tail), DECAY, tolerance=1e-3)
    span = Span(Gaussian(0.8), X, X[:30])

    def objective(x, width):
        v, tau = x[:-1, None], x[-1]
        residual = span.predict(v)[:, 0] - y
        u = (residual**2 - tau) / width
        weights = 0.5 * (1.0 + np.tanh(0.5 * u)) / (tail * len(y))
        value = tau + width * np.logaddexp(0.0, u).mean() / tail + 0.5 * DECAY * np.sum(v * v)
        by_v = span.gather((2.0 * weights * residual)[:, None]) + DECAY * v
        return value, np.append(by_v[:, 0], 1.0 - weights.sum())

    x = np.append(span.coordinates(found.function.weights[:, None])[:, 0] * 0.0, 1.0)
    for width in (1.0, 0.1, 1e-2, 1e-3):
        options = {"maxiter": 3000, "maxfun": 10_000}
        x = minimize(objective, x, args=(width,), jac=True, method="L-BFGS-B", options=options).x
    residual = span.predict(x[:-1, None])[:, 0] - y
    other = CVaR(tail).value(residual**2) + 0.5 * DECAY * float(x[:-1] @ x[:-1])
    assert found.value <= 1.001 * other
    assert found.value - found.gap <= other * (1.0 + 1e-9)


def test_a_mean_semideviation_of_order_one_reaches_the_optimum_of_a_linear_program():
    """min E ℓ + η E s, where s ≥ ℓ − E ℓ, s ≥ 0 and 2ℓ ≥ ±(f − y); a tiny λ changes little."""
    X, y = problem(120)
    risk, decay, n, m = MeanSemideviation(1.0, 0.7), 1e-7, 120, 10
    found = polish(zero(X, m), X, y, Pinball(0.5), risk, decay, tolerance=1e-4)
    K, eye, nothing = zero(X, m).kernel(X, X[:m]), np.eye(n), np.zeros((n, n))
    above = np.hstack([K, -2.0 * eye, nothing]), y
    below = np.hstack([-K, -2.0 * eye, nothing]), -y
    excess = np.hstack([0.0 * K, eye - 1.0 / n, -eye]), np.zeros(n)
    rows, limits = zip(above, below, excess, strict=True)
    cost = np.concatenate([np.zeros(m), np.full(n, 1.0 / n), np.full(n, risk.weight / n)])
    bounds = [(None, None)] * m + [(0.0, None)] * (2 * n)
    best = linprog(cost, np.vstack(rows), np.concatenate(limits), bounds=bounds)
    norm = KernelExpansion(found.function.kernel, X[:m], best.x[:m]).norm()
    assert found.converged
    assert best.fun <= found.value <= 1.0001 * (best.fun + 0.5 * decay * norm**2)


def test_leave_one_out_is_that_of_refits_in_the_tail():
    """The closed form against polishes without each sample; the tail has 20 of them."""
    X, y = problem(80)
    risk, decay = CVaR(0.25, 1.0, 0.1), 3e-3
    span, share = Span(Gaussian(0.8), X, X[:12]), np.full(80, 1 / 80)
    search = Search.held(HeldBlock(span, y, share), Huber(), risk, decay, n_outputs=1)
    v, *_ = search.descend(np.zeros((span.rank, 1)), 1e-8, 100)
    fitted, closed = span.predict(v)[:, 0], leave_one_out(search, v)[:, 0]
    refits = []
    for i in range(80):
        kept = np.arange(80) != i
        start = KernelExpansion(Gaussian(0.8), X[:12], np.zeros(12))
        part = polish(start, X[kept], y[kept], Huber(), risk, decay, tolerance=1e-6)
        refits.append(part.function(X[i : i + 1])[0])
    moved = np.abs(np.array(refits) - fitted)
    assert np.abs(closed - refits).mean() < 0.35 * moved.mean()
    held_out = CVaR(0.25).value(Huber().value(closed, y))
    exact = CVaR(0.25).value(Huber().value(np.array(refits), y))
    training = CVaR(0.25).value(Huber().value(fitted, y))
    assert abs(held_out - exact) < 0.3 * (exact - training)


@pytest.mark.parametrize("risk", [CVaR(0.1), CVaR(0.05)], ids=repr)
def test_the_path_follows_a_risk_only_where_it_pays(risk):
    gains = {}
    for noise in ("normal", "exponential"):
        X, y = problem(1000, noise=noise)
        points, targets = problem(4000, seed=1, noise=noise)
        f = zero(X)
        mean = polish(f, X, y, Huber(0.3), Mean(), 1e-6, choose=True)
        found, path = polish_under_risk(f, X, y, Huber(0.3), risk, 1e-6)
        values = [
            risk.value_at(Huber(0.3), each.function(points), targets) for each in (found, mean)
        ]
        gains[noise] = 1.0 - values[0] / values[1]
        if not path.kept_the_mean:  # the estimate is close to the truth
            told = path.chosen.gain / path.points[0].held_out
            assert abs(told - gains[noise]) < 0.06
    assert gains["normal"] >= -0.01
    assert gains["exponential"] > 0.08


def test_few_samples_in_the_tail_do_not_decide():
    X, y = problem(60)
    f = zero(X, 10)
    mean = polish(f, X, y, Huber(), Mean(), 1e-3)
    path = follow_risk_path(mean.function, X, y, Huber(), CVaR(0.02), 1e-3)
    assert path.kept_the_mean
    assert max(point.gain for point in path.points) > 0.0


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_groups_judge_if_few_losses_decide(noise):
    """Under a large tilt one loss decides: it cannot tell a long tail from a single outlier."""
    X, y = problem(800, noise=noise)
    f, loss, risk = zero(X), Huber(0.3), Entropic(8.0)
    path = polish_under_risk(f, X, y, loss, risk, 1e-6)[1]
    mean = polish(f, X, y, loss, Mean(), 1e-6, choose=True)
    judged = [point for point in path.points[1:] if point.deciding == 16.0]
    assert judged
    for point in judged:
        assert point.held_out == pytest.approx(path.points[0].held_out - point.gain)
    assert path.kept_the_mean == (noise == "laplace")
    if noise == "exponential":
        assert path.chosen.deciding == 16.0
        points, targets = problem(4000, seed=1, noise=noise)
        found = polish(mean.function, X, y, loss, path.chosen_risk, path.regularization)
        values = [risk.value_at(loss, g.function(points), targets) for g in (found, mean)]
        assert values[0] < 0.98 * values[1]


def test_samples_of_weight_zero_change_nothing():
    X, y = problem(500)
    weight = np.random.default_rng(0).integers(0, 3, size=500).astype(float)
    kept, f = weight > 0.0, zero(X)
    args = Huber(), CVaR(0.1), 1e-6
    one, path = polish_under_risk(f, X, y, *args, sample_weight=weight)
    two, other = polish_under_risk(f, X[kept], y[kept], *args, sample_weight=weight[kept])
    assert path.points == other.points
    np.testing.assert_array_equal(one.function.weights, two.function.weights)


@pytest.mark.parametrize("loss", [Huber(), Pinball(0.6), Softmax()], ids=repr)
def test_several_outputs_and_kinks_follow_the_path(loss):
    X, y = problem(400)
    if loss.kind == "multiclass":
        y = np.digitize(y, [0.0, 1.0]).astype(float)
    elif isinstance(loss, Huber):
        y = np.column_stack([y, -0.5 * y])
    f = zero(X, q={"multiclass": 3}.get(loss.kind, 2 if isinstance(loss, Huber) else None))
    _, path = polish_under_risk(f, X, y, loss, CVaR(0.2), 1e-6)
    assert len(path.points) == 16
    assert all(np.isfinite(point).all() for point in path.points)
    exact, nothing = polish_under_risk(f, X, y, loss, CVaR(0.2), 1e-6, path=False)
    assert nothing is None
    assert exact.value <= exact.value_before


def test_a_path_says_what_it_tried():
    X, y = problem(400)
    _, path = polish_under_risk(zero(X), X, y, Huber(), CVaR(0.1), 1e-6)
    lines = str(path).splitlines()
    assert len(lines) == 1 + len(path.points)
    assert sum(line.endswith("<") for line in lines) == 1
    assert path.regularization == pytest.approx(
        path.chosen.factor
        * polish(zero(X), X, y, Huber(), Mean(), 1e-6, choose=True).regularization
    )
