"""The general problem: free sizes, functions of x, derivatives that are found, θ apart from ξ."""

import importlib
import pickle

import numpy as np
import pytest

from colk import COLKRegressor, reference
from colk._engine.user_functions import compilation
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK, NASA, SCGD, CompositionalBSGD
from colk.losses import Squared
from colk.risks import Composition, CustomRisk, MeanSemideviation, Variance, derivatives
from colk.rkhs.features import RandomFourierFeatures
from colk.testing import check_risk
from colk.trackers import MovingAverage


@pytest.fixture(autouse=True)
def plain(request, monkeypatch):
    """Functions run as Python, except where a test asks for Numba: compiling them takes seconds."""
    if "numba" not in request.node.name:
        monkeypatch.setattr(compilation, "_has_numba", lambda: False)


def needs(by):
    """Skip a test of a package that is missing, or that is installed but cannot be loaded."""
    try:
        assert by == "differences" or importlib.import_module(by)
    except (ImportError, OSError) as error:
        pytest.skip(f"{by}: {error}")


def moments(f, y, x):
    return f[0] * y[0] + x[1], f[1] * y[1] * y[2], f[0] ** 2 * x[0]


def moments_slope(f, y, x):
    return (y[0], 0.0), (0.0, y[1] * y[2]), (2.0 * f[0] * x[0], 0.0)


def far(f, y, x, g):
    return (g[0] - y[0]) ** 2 + g[1] * f[1] + g[2] * x[0] + f[0] ** 2 + (f[1] - y[2]) ** 2


def far_by_f(f, y, x, g):
    return 2.0 * f[0], g[1] + 2.0 * (f[1] - y[2])


def far_by_g(f, y, x, g):
    return 2.0 * (g[0] - y[0]), f[1], x[0]


SLOPES = {
    "inner_slope": moments_slope,
    "outer_slope_prediction": far_by_f,
    "outer_slope_inner": far_by_g,
}


def general(**more):
    """m = 3, q = 2, r = 3, p = 2: every size is another one."""
    return Composition(moments, outer=far, n_inner=3, n_outputs=2, n_targets=3, n_inputs=2, **more)


FEATURES = RandomFourierFeatures(Gaussian(0.5), 30)


def sampled(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X, Y = rng.uniform(-1.0, 1.0, size=(n, 2)), rng.normal(size=(n, 3))
    Y[:, 2] += 3.0 * X[:, 0]
    return X, Y


class JoinedReference:
    """The same functions of (f, (y, x)), which the specification takes."""

    n_inner = 3

    def __init__(self):
        self.inner = lambda f, d: moments(f, d[:3], d[3:])
        self.inner_slope = lambda f, d: moments_slope(f, d[:3], d[3:])
        self.outer = lambda f, d, g: far(f, d[:3], d[3:], g)
        self.outer_slope_prediction = lambda f, d, g: far_by_f(f, d[:3], d[3:], g)
        self.outer_slope_inner = lambda f, d, g: far_by_g(f, d[:3], d[3:], g)


JoinedReference.__name__ = "Composition"


class NoLoss:
    """The specification evaluates a loss, which a composition does not use."""


@pytest.mark.parametrize("tracker", ["momentum", "average"])
@pytest.mark.parametrize(("batch_size", "k"), [(1, 1), (1, 3), (2, 2)])
def test_any_sizes_equal_the_specification(tracker, batch_size, k, monkeypatch):
    monkeypatch.setattr(reference.losses, "value", lambda *_: 0.0)
    monkeypatch.setattr(reference.losses, "slope", lambda loss, f, y: np.zeros_like(f))
    n = 24 * (1 + k)
    X, Y = sampled(n)
    settings = {"step_size": 0.05, "tracking_rate": 0.2, "regularization": 1e-3}
    learner = COLK(
        Gaussian(0.5), risk=general(**SLOPES), tracker=tracker, gradient_bound=1.5,
        compressor=KOMP(eps=0.0), averaging=None, batch_size=batch_size, xi_per_theta=k, **settings,
    )  # fmt: skip
    theta = np.arange(n) % (1 + k) == 0
    learner.learn_pairs((X[theta], Y[theta]), (X[~theta], Y[~theta]))
    twin = reference.COLK(
        Gaussian(0.5), NoLoss(), JoinedReference(), n_features=2, n_outputs=2, tracker=tracker,
        gradient_bound=1.5, **settings,
    )  # fmt: skip
    twin.learn(X, np.hstack([Y, X]), batch_size=batch_size, xi_per_theta=k)
    assert learner.steps == twin.steps == 24 // batch_size
    np.testing.assert_allclose(learner.predict(X), twin.predict(X), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(learner.inner_estimate, twin.g, rtol=1e-7, atol=1e-9)
    assert np.abs(twin.g).min() > 1e-5, "every component of g moves"


def test_numba_gets_y_and_x_apart():
    pytest.importorskip("numba")
    X, Y = sampled(8)
    F, D, g = np.random.default_rng(1).normal(size=(8, 2)), np.hstack([Y, X]), [0.5, -1.0, 2.0]
    risk = general(**SLOPES)
    given = {"inner": moments, "outer": far, **SLOPES}
    for name, function in given.items():
        more = [np.array(g)] if name.startswith("outer") else []
        own = [np.ravel(function(*row, *more)) for row in zip(F, Y, X, strict=True)]
        np.testing.assert_allclose(risk.tabulate(name, F, D, g), own, rtol=1e-14)


@pytest.mark.parametrize("by", ["differences", "jax", "torch"])
def test_found_derivatives_are_those_by_hand(by):
    needs(by)
    X, Y = sampled(8)
    F, D, g = np.random.default_rng(1).normal(size=(8, 2)), np.hstack([Y, X]), [0.5, -1.0, 2.0]
    found, given = general(derivatives=by), general(**SLOPES)
    accuracy = 1e-8 if by == "differences" else 1e-14
    for name in SLOPES:
        expected = given.tabulate(name, F, D, g)
        np.testing.assert_allclose(
            found.tabulate(name, F, D, g), expected, rtol=accuracy, atol=accuracy
        )
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.derivatives == by
    assert again.functions[1] is None


@pytest.mark.parametrize("by", ["differences", "jax", "torch"])
def test_found_derivatives_of_a_risk_of_the_loss(by):
    needs(by)
    risk = CustomRisk(
        lambda u: (u, u * u), outer=lambda u, g: u + 0.3 * (g[1] - g[0] ** 2), n_inner=2,
        derivatives=by,
    )  # fmt: skip
    losses, exact = np.random.default_rng(0).exponential(size=40), Variance(0.3)
    assert risk.value(losses) == pytest.approx(exact.value(losses), rel=1e-12)
    np.testing.assert_allclose(risk.gradient(losses), exact.gradient(losses), rtol=1e-7)


def test_a_given_slope_is_kept_beside_those_that_are_found():
    risk = general(derivatives="differences", inner_slope=moments_slope)
    assert risk.functions[1] is moments_slope
    assert risk.functions[3] is None
    with pytest.raises(ValueError, match="derivatives must be one of"):
        general(derivatives="magic")
    with pytest.raises(TypeError, match="missing: inner_slope, outer_slope_prediction"):
        general()


def wrong_slope(f, y, x):
    return (y[0], 0.0), (0.0, y[1] * y[2]), (2.0 * f[0], 0.0)  # the last without x[0]


def test_the_check_names_the_wrong_entry():
    check_risk(general(**SLOPES))
    check_risk(general(derivatives="differences"))
    with pytest.raises(AssertionError, match=r"entry \[2, 0\], ∂inner\[2\]/∂f\[0\]: at f = \["):
        check_risk(general(**{**SLOPES, "inner_slope": wrong_slope}))
    wrong = {**SLOPES, "outer_slope_prediction": lambda f, y, x, g: (2.0 * f[0], g[1])}
    with pytest.raises(AssertionError, match=r"of outer: entry \[1\], ∂outer/∂f\[1\].* x = \["):
        check_risk(general(**wrong))
    wrong = {**SLOPES, "outer_slope_inner": lambda f, y, x, g: (2.0 * (g[0] - y[0]), f[1], x[1])}
    with pytest.raises(AssertionError, match=r"entry \[2\], ∂outer/∂g\[2\].* g = \["):
        check_risk(general(**wrong))


@pytest.mark.parametrize(
    "make",
    [
        lambda risk: COLK(Gaussian(0.5), risk=risk, trace=True),
        lambda risk: CompositionalBSGD(Gaussian(0.5), max_atoms=9, risk=risk, trace=True),
        lambda risk: SCGD(FEATURES, risk=risk, trace=True),
        lambda risk: NASA(FEATURES, risk=risk, trace=True),
    ],
    ids=["COLK", "CompositionalBSGD", "SCGD", "NASA"],
)
def test_every_method_learns_it(make):
    X, Y = sampled(400)
    learner = make(general(**SLOPES)).learn(X, Y)
    again = make(general(**SLOPES)).learn(X[:151], Y[:151]).learn(X[151:], Y[151:])
    assert learner.predict(X).shape == (400, 2)
    np.testing.assert_array_equal(again.predict(X), learner.predict(X))
    assert np.isnan(learner.prequential_loss), "there is no loss of these targets"
    assert np.isnan(learner.trace.loss).all()
    risk, D = general(**SLOPES), np.hstack([Y, X])
    values = [risk.value_at(Squared(), F, D) for F in (learner.predict(X), np.zeros((400, 2)))]
    assert values[0] < values[1]


def test_one_sample_at_a_time_and_copies_continue():
    X, Y = sampled(40)
    at_once = COLK(Gaussian(0.5), risk=general(**SLOPES)).learn(X, Y)
    one = COLK(Gaussian(0.5), risk=general(**SLOPES))
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        one.learn_one(x, y)
        one = pickle.loads(pickle.dumps(one)) if t == 20 else one
    np.testing.assert_array_equal(one.predict(X), at_once.predict(X))


@pytest.mark.parametrize("by", ["jax", "torch"])
def test_a_missing_package_is_named_before_the_first_sample(by, monkeypatch):
    monkeypatch.setattr(derivatives, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=f"needs {by}: pip install {by}"):
        general(derivatives=by)


def test_an_estimator_names_the_sizes_that_it_needs():
    X, Y = sampled(60)
    pairs = Composition(
        lambda f, y: f[0] * y[1], outer=lambda f, y, g: (f[0] - y[0]) ** 2 + g[0] ** 2,
        n_targets=2, derivatives="differences",
    )  # fmt: skip
    with pytest.raises(ValueError, match="estimators need n_targets = n_outputs and n_inputs = 0"):
        COLKRegressor(risk=pairs).fit(X, Y[:, :2])


def third_moment(f, y):
    return (f[0] - y[0]) ** 3


def test_one_output_of_several_targets_predicts_a_vector():
    """The targets of the audit: E_θ‖g − y_θ‖² of three means, with one output."""

    def inner(f, y):
        return f[0], f[0] * y[0], f[0] * y[1]

    risk = Composition(
        inner, outer=lambda f, y, g: ((g - y) ** 2).sum(), n_inner=3, n_targets=3,
        derivatives="differences",
    )  # fmt: skip
    X, Y = sampled(60)
    assert COLK(Gaussian(0.5), risk=risk).learn(X, Y).predict(X).shape == (60,)


def test_pairs_of_different_laws():
    """θ and ξ of different means: E(y_θ − g)² with g = E f(ξ) has g near the mean of y_θ."""
    rng = np.random.default_rng(0)
    risk = Composition(
        lambda f, y: f[0], lambda f, y: 1.0,
        lambda f, y, g: (g[0] - y[0]) ** 2, lambda f, y, g: 0.0,
        lambda f, y, g: 2.0 * (g[0] - y[0]),
    )  # fmt: skip
    theta = rng.uniform(-1, 0, (3000, 1)), 3.0 + rng.normal(size=3000)
    xi = rng.uniform(0, 1, (6000, 1)), np.zeros(6000)
    learner = COLK(Gaussian(0.5), risk=risk, xi_per_theta=2).learn_pairs(theta, xi)
    assert learner.predict(xi[0]).mean() == pytest.approx(3.0, abs=0.1)
    assert learner.steps == 3000
    swapped = COLK(Gaussian(0.5), risk=risk).learn_pairs(
        (theta[0], np.zeros(3000)), (xi[0][:3000], np.ones(3000))
    )
    assert swapped.predict(xi[0]).mean() == pytest.approx(0.0, abs=0.1)


def test_what_pairs_need():
    X, y = np.zeros((4, 1)), np.zeros(4)
    for learner in (COLK(Gaussian(1.0)), COLK(Gaussian(1.0), risk=Variance(), pairing="overlap")):
        with pytest.raises(ValueError, match="needs a risk with an inner value"):
            learner.learn_pairs((X, y), (X, y))
    with pytest.raises(ValueError, match="xi_per_theta=2 samples of ξ for each θ"):
        COLK(Gaussian(1.0), risk=Variance(), xi_per_theta=2).learn_pairs((X, y), (X, y))
    with pytest.raises(ValueError, match="above 1 needs pairing='independent'"):
        COLK(Gaussian(1.0), risk=Variance(), xi_per_theta=2, pairing="same")
    with pytest.raises(ValueError, match="y has 2 columns, the composition was made for n_targets"):
        COLK(Gaussian(1.0), risk=general(**SLOPES)).learn(np.zeros((4, 2)), np.zeros((4, 2)))
    with pytest.raises(ValueError, match="X has 1 columns, the composition was made for n_inputs"):
        COLK(Gaussian(1.0), risk=general(**SLOPES)).learn(X, np.zeros((4, 3)))


@pytest.mark.parametrize("risk", [Variance(0.2), MeanSemideviation(2.0)], ids=repr)
@pytest.mark.parametrize("tracker", ["momentum", "average"])
@pytest.mark.parametrize(("batch_size", "k"), [(1, 4), (3, 2)])
def test_several_xi_of_a_loss_equal_the_specification(risk, tracker, batch_size, k):
    n = 24 * (1 + k)
    X, Y = sampled(n)
    y = Y[:, :1]
    settings = {"step_size": 0.05, "tracking_rate": 0.2, "gradient_bound": 2.0}
    learner = COLK(
        Gaussian(0.5), risk=risk, tracker=tracker, compressor=KOMP(eps=0.0), averaging=None,
        batch_size=batch_size, xi_per_theta=k, regularization=0.0, **settings,
    ).learn(X, y)  # fmt: skip
    twin = reference.COLK(
        Gaussian(0.5), Squared(), risk, n_features=2, n_outputs=1, tracker=tracker, **settings
    ).learn(X, y, batch_size=batch_size, xi_per_theta=k)
    np.testing.assert_allclose(learner.predict(X), twin.predict(X), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(learner.inner_estimate, twin.g, rtol=1e-9)


def ratio(start=None):
    """(f − y)² over the mean of a share, which is 0 or 1 at the first sample."""
    return Composition(
        lambda f, y, x: float(x[0] > 0.0),
        lambda f, y, x: 0.0,
        lambda f, y, x, g: (f[0] - y[0]) ** 2 / (g[0] * (1.0 - g[0])),
        lambda f, y, x, g: 2.0 * (f[0] - y[0]) / (g[0] * (1.0 - g[0])),
        lambda f, y, x, g: (f[0] - y[0]) ** 2 * (2 * g[0] - 1) / (g[0] * (1.0 - g[0])) ** 2,
        n_inputs=2,
        first_g=start,
    )


def test_the_first_g_may_be_given():
    X, Y = sampled(200)
    y = Y[:, 2]
    with np.errstate(all="ignore"), pytest.raises(ArithmeticError):
        COLK(Gaussian(0.5), risk=ratio(), tracker="average").learn(X, y)
    risk = ratio([0.5])
    learner = COLK(Gaussian(0.5), risk=risk, tracker="average", tracking_rate=0.05)
    learner.learn(X, y)
    xi = X[1::2, 0] > 0.0
    g = 0.5
    for t, inside in enumerate(xi):
        g = g if t == 0 else 0.95 * g + 0.05 * inside
    assert learner.inner_estimate[0] == pytest.approx(g, rel=1e-12)
    path = risk.follow(y, np.column_stack([y, X]), rate=0.05, tracker=MovingAverage())
    assert path[0, 0] == 0.5
    forgetful = COLK(Gaussian(0.5), risk=ratio([0.5]), tracking_rate=1.0, gradient_bound=1.0)
    with np.errstate(all="ignore"), pytest.raises(ArithmeticError):
        forgetful.learn(X, y)  # β = 1 forgets the start, too
    given = general(derivatives="differences", first_g=[1, 2, 3])
    assert pickle.loads(pickle.dumps(given)).first_g == (1.0, 2.0, 3.0)
    with pytest.raises(ValueError, match="first_g"):
        general(derivatives="differences", first_g=[1.0])


def test_a_gradient_that_is_nan_says_where():
    X, Y = sampled(10)
    risk = Composition(
        lambda f, y: f[0], lambda f, y: 1.0, lambda f, y, g: g[0],
        lambda f, y, g: float("nan"), lambda f, y, g: 1.0,
    )  # fmt: skip
    with pytest.raises(ArithmeticError, match="gradient of Composition is NaN at g = "):
        COLK(Gaussian(0.5), risk=risk).learn(X, Y[:, 2])
