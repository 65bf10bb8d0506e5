"""HedgedCOLK and HedgedNewtonCOLK: their mean's function, and the formulas of the companion."""

import numpy as np
import pytest

from colk.compressors import KOMP
from colk.kernels import Gaussian, Laplacian
from colk.learners import POLK, HedgedCOLK, HedgedNewtonCOLK, NewtonCOLK
from colk.losses import Huber, Logistic, Softmax, Squared
from colk.risks import CVaR, Entropic, MeanSemideviation, Semivariance, Variance
from colk.rkhs.polishing import polish

KERNEL = Gaussian(0.4)
RNG = np.random.default_rng(0)
X = RNG.random((600, 2))
Y = np.sin(5.0 * X[:, 0]) + X[:, 1] * (RNG.exponential(size=600) - 1.0)
TEST = RNG.random((50, 2))
RISKS = [CVaR(0.2), Semivariance(1.0), Variance(0.5), Entropic(1.0), MeanSemideviation()]
# Constants of the mixture; their reasons are in `risk_companion`.
SLOW, LATEST, MOST, RATE, SHARE, FEW = 200, 1000, 20.0, 0.2, 0.00025, 10.0
AVERAGED, STEADY = 0.001, 0.1
FIRST = np.array([0.85, 0.05, 0.05, 0.05])


def functions(learner):
    """Values of m, r, r̄ and m̄ at the test points, of shape (4, n)."""
    stream = learner.stream
    rows = [stream.companion.row_of(e) for e in range(4)]
    return np.array([stream.evaluate(TEST, row)[:, 0] for row in rows])


@pytest.mark.parametrize("averaging", [None, POLK(KERNEL).averaging], ids=["last", "average"])
def test_the_means_function_of_gradient_steps_is_that_of_polk(averaging):
    common = {"averaging": averaging, "step_size": 0.5, "compressor": KOMP(0.02, max_atoms=12)}
    alone = POLK(KERNEL, Huber(0.5), **common).learn(X, Y)
    hedged = HedgedCOLK(KERNEL, Huber(0.5), CVaR(0.2), **common).learn(X, Y)
    np.testing.assert_array_equal(functions(hedged)[0], alone.predict(TEST))
    np.testing.assert_array_equal(hedged.function.atoms, alone.function.atoms)
    assert not np.array_equal(hedged.predict(TEST), alone.predict(TEST))


@pytest.mark.parametrize("more", [{}, {"forgetting": "auto"}, {"prior": "auto"}], ids=str)
def test_the_means_function_of_newton_steps_is_that_of_newton_colk(more):
    common = {"compressor": KOMP(0.01, max_atoms=12), "restart": True, **more}
    alone = NewtonCOLK(KERNEL, Huber(0.5), **common).learn(X, Y)
    hedged = HedgedNewtonCOLK(KERNEL, Huber(0.5), CVaR(0.2), **common).learn(X, Y)
    np.testing.assert_array_equal(functions(hedged)[0], alone.predict(TEST))
    np.testing.assert_array_equal(hedged.covariance, alone.covariance)
    assert not np.array_equal(hedged.predict(TEST), alone.predict(TEST))


class Tracked:
    """g of a risk, by its public formulas."""

    def __init__(self, risk):
        self.risk, self.g, self.last, self.level, self.spread = risk, None, None, 0.0, 0.0

    def see(self, loss, rate):
        """Return the score, the slope and the bend at a loss; then g has moved."""
        risk, first = self.risk, self.g is None
        if first:
            self.g = risk.follow([loss])[0]
        score = risk.outer([loss], self.g)[0]
        if not first:
            self.g = self._moved(loss, rate)
        slope = risk.outer_slope_loss([loss], self.g)[0]
        if not first:
            by_g = risk.outer_slope_inner([self.last], self.g)[0]
            slopes = risk.inner_slope([loss], self.g)[0]
            moving = slopes != 0.0
            slope += (by_g[moving] * slopes[moving]).sum()
        apart = max(self.spread, 1e-6 * (1.0 + abs(loss)))
        low, high = risk.outer_slope_loss([loss - apart, loss + apart], self.g)
        if first:
            self.level, self.spread = loss, abs(loss)
        else:
            slow = max(rate, 0.001)
            self.spread += slow * (abs(loss - self.level) - self.spread)
            self.level += slow * (loss - self.level)
        self.last = loss
        return score, slope, max((high - low) / (2.0 * apart), 0.0)

    def _moved(self, loss, rate):
        risk, g = self.risk, self.g
        if isinstance(risk, CVaR):
            return (1.0 - rate) * g + rate * risk.inner([loss], g)[0]
        if isinstance(risk, Entropic):
            return g + np.log1p(rate * np.expm1(risk.tilt * (loss - g))) / risk.tilt
        return (1.0 - rate) * g + rate * risk.inner([loss], g)[0]


class Companion:
    """r, r̄, m̄, p and p̄, given the mean's predictions and a rule for the step of r."""

    def __init__(self, risk, n, rate):
        self.rate, self.values = rate, np.zeros((4, n))
        self.p, self.mean_p = FIRST.copy(), FIRST.copy()
        self.steering, self.of_mixture = Tracked(risk), Tracked(risk)
        self.squares, self.fourths, self.t = np.zeros(4), np.zeros(4), 0

    def see(self, loss, i, y, means):
        """Look at sample i; return slope and curvature of r's step, and average at the end."""
        self.values[0] = means
        slow = 1.0 if self.t <= 1 else 1.0 / min(self.t, SLOW)
        if self.t == 1:
            slow = self.rate
        mixed = self.p @ self.values[:, i]
        own = float(loss.value([self.values[1, i]], [y])[0])
        steady = max(STEADY * self.rate, min(self.rate, 1.0 / (self.t + 1)))
        _, factor, bend = self.steering.see(own, steady)
        _, of_mixture, _ = self.of_mixture.see(float(loss.value([mixed], [y])[0]), slow)
        towards = self.values[:, i] - self.values[0, i]
        scores = of_mixture * float(loss.slope([mixed], [y])[0]) * towards
        slope = float(loss.slope([self.values[1, i]], [y])[0])
        return factor * slope, bend * slope**2, abs(factor), scores

    def conclude(self, scores, step, iterate):
        rate = max(1.0 / LATEST, 1.0 / (self.t + 1))
        self.squares += rate * (scores**2 - self.squares)
        self.fourths += rate * (scores**4 - self.fourths)
        square = np.maximum(self.squares, self.squares[2])
        if square[2] > 0.0:
            deciding = self.squares**2 / (rate * np.where(self.fourths > 0.0, self.fourths, 1.0))
            share = deciding / (deciding + FEW)
            self.p *= np.exp(-RATE * share * np.clip(scores / np.sqrt(square), -MOST, MOST))
        self.p = (1.0 - SHARE) * self.p / self.p.sum() + SHARE * FIRST
        self.mean_p += AVERAGED * (self.p - self.mean_p)
        rate = 4.0 / (self.t + 4.0)
        before = self.values[1].copy()
        self.values[1] = before + step
        self.values[2] += rate * (self.values[1] - self.values[2])
        self.values[3] += rate * (iterate - self.values[3])
        self.t += 1


@pytest.mark.parametrize("risk", RISKS, ids=str)
def test_gradient_steps_of_the_risk_are_their_formula(risk):
    n, alpha, share, decay, rate, loss = 60, 0.4, 0.5, 1e-3, 0.1, Huber(0.5)
    settings = {"regularization": decay, "averaging": None, "compressor": KOMP(eps=0.0)}
    rates = {"step_size": alpha, "risk_step": share, "tracking_rate": rate}
    learner = HedgedCOLK(KERNEL, loss, risk, **rates, **settings).learn(X[:n], Y[:n])
    K = KERNEL.gram(np.concatenate([X[:n], TEST]))
    mean, twin = np.zeros(len(K)), Companion(risk, len(K), rate)
    for i in range(n):
        a, bent, factor, scores = twin.see(loss, i, Y[i], mean)
        curvature = min(1.0, 0.5 / abs(twin.values[1, i] - Y[i]))  # of the secant parabola
        own = alpha * share
        gain = own / (1.0 + own * (factor * curvature + bent))
        step = -own * decay * twin.values[1] - gain * a * K[i]
        slope = float(loss.slope([mean[i]], [Y[i]])[0])
        mean = (1.0 - alpha * decay) * mean - alpha * slope * K[i]
        twin.conclude(scores, step, mean)
    twin.values[0] = mean
    np.testing.assert_allclose(functions(learner), twin.values[:, n:], atol=1e-6)
    np.testing.assert_allclose(list(learner.mixture.values()), twin.mean_p, rtol=1e-6)
    np.testing.assert_allclose(learner.stream.companion.latest_weights, twin.p, rtol=1e-6)
    np.testing.assert_allclose(learner.predict(TEST), twin.mean_p @ twin.values[:, n:], atol=1e-6)


def test_if_an_atom_leaves_the_values_at_atoms_change_least_in_squares():
    kernel = Laplacian(0.4)
    settings = {"regularization": 0.0, "step_size": 0.5, "compressor": KOMP(1e-3, max_atoms=20)}
    learner, seen = HedgedCOLK(kernel, Huber(0.5), CVaR(0.2), **settings), 0
    learner.learn(X[:100], Y[:100])
    row = learner.stream.companion.row_of(1)
    for x, y in zip(X[100:], Y[100:], strict=True):
        points = np.vstack([learner.function.atoms, x])
        values = learner.stream.evaluate(points, row)[:, 0]
        learner.learn_one(x, y)
        atoms, is_one = learner.function.atoms, learner.stream.dictionary.n_ghosts == 1
        if is_one and (atoms[-1] == x).all() and learner.stream.companion.length == 0.0:
            change = learner.stream.evaluate(points, row)[:, 0] - values  # the risk made no step
            columns = kernel(atoms, points)
            limit = 1e-9 * np.abs(columns @ values).max()
            np.testing.assert_allclose(columns @ change, 0.0, atol=limit)
            stay = (points[:, None] == atoms[None]).all(axis=2).any(axis=1)
            seen += np.abs(change[stay]).max() > 1e-4  # a projection would change nothing here
    assert seen > 5


def test_newton_learners_make_gradient_steps_on_the_risk():
    n, prior, rate, loss, risk, alpha = 60, 0.5, 0.1, Squared(), Variance(0.5), 0.3
    more = {"compressor": KOMP(eps=0.0), "risk_step": alpha}
    rates = {"prior": prior, "forgetting": 1.0, "tracking_rate": rate}
    learner = HedgedNewtonCOLK(KERNEL, loss, risk, **rates, **more).learn(X[:n], Y[:n])
    K = KERNEL.gram(np.concatenate([X[:n], TEST]))
    mean, twin, P = np.zeros(len(K)), Companion(risk, len(K), rate), K / prior
    for i in range(n):
        a, bent, factor, scores = twin.see(loss, i, Y[i], mean)
        curvature = 2.0 * factor + bent
        h, variance = P[i].copy(), P[i, i]
        before = mean.copy()
        mean = mean - 2.0 * (mean[i] - Y[i]) / (1.0 + 2.0 * variance) * h
        P -= 2.0 / (1.0 + 2.0 * variance) * np.outer(h, h)
        twin.conclude(scores, -alpha * a / (1.0 + alpha * curvature) * K[i], before)
    assert learner.n_atoms < n  # near-dependent points are not admitted
    twin.values[0] = mean
    found = functions(learner)
    np.testing.assert_allclose(found[:2], twin.values[:2, n:], atol=1e-3)


@pytest.mark.compiled
@pytest.mark.parametrize("kind", [HedgedCOLK, HedgedNewtonCOLK])
@pytest.mark.parametrize("risk", [CVaR(0.2), Semivariance(1.0)], ids=str)
def test_the_average_under_a_risk_comes_close_to_the_optimum_on_its_atoms(kind, risk):
    rng = np.random.default_rng(1)
    points = rng.random((20000, 1))
    y = np.sin(5.0 * points[:, 0]) + points[:, 0] * (rng.exponential(size=20000) - 1.0)
    learner = kind(Gaussian(0.3), Huber(1.0), risk).learn(points, y)
    best = polish(learner.function, points, y, Huber(1.0), risk, 1e-6).value

    def value(e):
        row = learner.stream.companion.row_of(e)
        return risk.value(Huber(1.0).value(learner.stream.evaluate(points, row)[:, 0], y))

    assert value(2) < 1.02 * best
    assert risk.value(Huber(1.0).value(learner.predict(points), y)) < 1.02 * best
    assert value(0) > 1.04 * best


@pytest.mark.parametrize("kind", [HedgedCOLK, HedgedNewtonCOLK])
def test_prequential_risk_is_that_of_the_latest_predictions(kind):
    learner, losses = kind(KERNEL, Huber(1.0), CVaR(0.1)), []
    assert np.isnan(learner.prequential_risk)
    points, y = np.tile(X, (2, 1)), np.tile(Y, 2)
    for x, target in zip(points, y, strict=True):
        value = learner.predict(x[None])[0] if learner.has_learned else 0.0
        losses.append(float(Huber(1.0).value([value], [target])[0]))
        learner.learn_one(x, target)
    assert learner.prequential_risk == pytest.approx(CVaR(0.1).value(losses[-1000:]), rel=1e-9)
    assert learner.prequential_loss == pytest.approx(np.mean(losses), rel=1e-9)


@pytest.mark.parametrize("kind", [HedgedCOLK, HedgedNewtonCOLK])
@pytest.mark.parametrize("loss", [Logistic(), Softmax()], ids=str)
def test_labels_and_weights(kind, loss):
    classes = np.digitize(Y, [-0.3, 0.6]).astype(float)
    y = np.where(Y > 0.0, 1.0, -1.0) if loss.kind == "binary" else classes
    more = {} if loss.kind == "binary" else {"n_outputs": 3}
    more |= {"step_size": 1.0} if kind is HedgedCOLK else {}
    weight = RNG.integers(0, 3, size=600).astype(float)
    learner = kind(KERNEL, loss, CVaR(0.2), **more).learn(X, y, weight)
    kept = weight > 0.0
    other = kind(KERNEL, loss, CVaR(0.2), **more).learn(X[kept], y[kept], weight[kept])
    np.testing.assert_array_equal(learner.predict(TEST), other.predict(TEST))
    assert sum(learner.mixture.values()) == pytest.approx(1.0)
    values = learner.predict(X)
    assert np.mean(loss.value(values, y)) < 0.8 * np.mean(loss.value(0.0 * values, y))


@pytest.mark.parametrize("kind", [HedgedCOLK, HedgedNewtonCOLK])
def test_a_risks_function_that_runs_away_starts_again_at_the_means(kind):
    learner = kind(KERNEL, Huber(1.0), CVaR(0.2), compressor=KOMP(eps=0.05)).learn(X, Y)
    dictionary, row = learner.stream.dictionary, learner.stream.companion.first
    weights = dictionary.weights
    weights[:, row] = 1e12
    dictionary.set_weights(weights)
    learner.learn_one(X[0], Y[0])
    m, r, *_ = functions(learner)
    assert np.abs(r - m).max() < 1.0
    assert np.abs(learner.predict(TEST)).max() < 10.0
