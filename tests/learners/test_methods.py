"""Every learner obeys the laws of a stream; a divergence names the setting to change."""

import numpy as np
import pytest

from colk.compressors import KOMP
from colk.errors import DivergenceError
from colk.kernels import Gaussian, Linear, Matern
from colk.learners import (
    BSGD,
    COLK,
    NASA,
    NORMA,
    NPBSGD,
    POLK,
    SCGD,
    AcceleratedSCGD,
    CompositionalBSGD,
    DoublySGD,
    HedgedCOLK,
    HedgedNewtonCOLK,
    NewtonCOLK,
    QuantileCOLK,
    RandomFeatureSGD,
)
from colk.losses import EpsilonInsensitive, Hinge, Huber, Quantiles, Softmax, Squared
from colk.risks import CentralMoments, CVaR, Semideviations, Variance
from colk.rkhs.features import RandomFourierFeatures, RBFNetwork
from colk.schedules import Exponential, PolyakRuppert
from colk.testing import check_learner

KERNEL = Gaussian(0.3)
BOX = {"low": (0.0, 0.0), "high": (1.0, 1.0)}

LEARNERS = {
    "colk": lambda **more: COLK(KERNEL, Squared(), Variance(0.1), **more),
    "colk-overlap": lambda **more: COLK(
        KERNEL, Huber(1.0), CVaR(0.2), pairing="overlap", tracker="average", **more
    ),
    "colk-batch": lambda **more: COLK(
        KERNEL, Softmax(), CentralMoments(3, 0.1), n_outputs=3, batch_size=3, **more
    ),
    "polk": lambda **more: POLK(KERNEL, Squared(), compressor=KOMP(max_atoms=10), **more),
    "newton": lambda **more: NewtonCOLK(KERNEL, Huber(1.0), **more),
    "newton-overlap": lambda **more: NewtonCOLK(
        KERNEL, Squared(), Variance(0.1), pairing="overlap", compressor=KOMP(max_atoms=12), **more
    ),
    "newton-batch": lambda **more: NewtonCOLK(
        KERNEL, Softmax(), CVaR(0.2), n_outputs=3, batch_size=3, forgetting=0.99, **more
    ),
    "newton-auto": lambda **more: NewtonCOLK(
        KERNEL, Huber(1.0), Variance(0.1), forgetting="auto", compressor=KOMP(max_atoms=9), **more
    ),
    "newton-auto-batch": lambda **more: NewtonCOLK(
        KERNEL, Softmax(), n_outputs=3, batch_size=3, forgetting="auto", **more
    ),
    "newton-prior": lambda **more: NewtonCOLK(
        KERNEL, Squared(), Variance(0.1), prior="auto", compressor=KOMP(max_atoms=9), **more
    ),
    "hedged": lambda **more: HedgedCOLK(
        KERNEL, Huber(1.0), CVaR(0.2), compressor=KOMP(max_atoms=10), **more
    ),
    "hedged-classes": lambda **more: HedgedCOLK(
        KERNEL, Softmax(), CentralMoments(3, 0.1), n_outputs=3, averaging=None, **more
    ),
    "hedged-newton": lambda **more: HedgedNewtonCOLK(
        KERNEL, Squared(), CVaR(0.2), compressor=KOMP(max_atoms=9), **more
    ),
    "hedged-newton-auto": lambda **more: HedgedNewtonCOLK(
        KERNEL, Softmax(), CVaR(0.2), n_outputs=3, forgetting="auto", **more
    ),
    "hedged-newton-prior": lambda **more: HedgedNewtonCOLK(
        KERNEL, Squared(), Variance(0.1), prior="auto", compressor=KOMP(max_atoms=9), **more
    ),
    "quantiles": lambda **more: QuantileCOLK(
        KERNEL, Quantiles((0.1, 0.5, 0.9)), compressor=KOMP(max_atoms=9), **more
    ),
    "quantiles-auto": lambda **more: QuantileCOLK(
        KERNEL, Quantiles((0.5,)), forgetting="auto", **more
    ),
    "norma": lambda **more: NORMA(KERNEL, Squared(), max_atoms=20, **more),
    "norma-nu": lambda **more: NORMA(KERNEL, EpsilonInsensitive(0.1), 20, nu=0.3, **more),
    "bsgd-removal": lambda **more: BSGD(KERNEL, Squared(), 10, "removal", **more),
    "bsgd-projection": lambda **more: BSGD(KERNEL, Squared(), 10, "projection", **more),
    "bsgd-merging": lambda **more: BSGD(KERNEL, Squared(), 10, "merging", **more),
    "bsgd-unbounded": lambda **more: BSGD(KERNEL, Squared(), None, "removal", **more),
    "bsgd-matern": lambda **more: BSGD(
        Matern(0.5), Softmax(), 10, "merging", n_outputs=3, averaging=PolyakRuppert(), **more
    ),
    "bsgd-pegasos": lambda **more: BSGD(
        KERNEL, Hinge(), 10, step_size="pegasos", regularization=0.01, **more
    ),
    "compositional-merging": lambda **more: CompositionalBSGD(
        KERNEL, Squared(), Variance(0.1), 10, "merging", **more
    ),
    "compositional-removal": lambda **more: CompositionalBSGD(
        KERNEL, Squared(), Variance(0.1), 10, "removal", pairing="overlap", **more
    ),
    "npbsgd": lambda **more: NPBSGD(
        KERNEL, Squared(), 10, 0.2, 120, step_size=0.1, regularization=0.01, **more
    ),
    "npbsgd-projection": lambda **more: NPBSGD(
        KERNEL, Squared(), 10, 0.2, 120, "projection", step_size=0.1, **more
    ),
    "scgd": lambda **more: SCGD(RBFNetwork(30, 0.4, **BOX), Squared(), Variance(0.1), **more),
    "scgd-fourier": lambda **more: SCGD(
        RandomFourierFeatures(KERNEL, 30), Huber(1.0), Semideviations(2, 0.5), **more
    ),
    "accelerated": lambda **more: AcceleratedSCGD(
        RBFNetwork(30, 0.4, **BOX), Squared(), Variance(0.1), averaging=Exponential(), **more
    ),
    "nasa": lambda **more: NASA(RBFNetwork(30, 0.4, **BOX), Squared(), Variance(0.1), **more),
    "nasa-averaged": lambda **more: NASA(
        RBFNetwork(30, 0.4, **BOX), Squared(), averaging=PolyakRuppert(), **more
    ),
    "random-features": lambda **more: RandomFeatureSGD(KERNEL, Squared(), 40, **more),
    "doubly": lambda **more: DoublySGD(KERNEL, Squared(), **more),
    "doubly-classes": lambda **more: DoublySGD(
        Matern(0.5), Softmax(), n_outputs=3, averaging=PolyakRuppert(), **more
    ),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_laws_of_the_stream(name):
    check_learner(LEARNERS[name])


@pytest.mark.parametrize("name", LEARNERS)
def test_size_and_trace(name):
    rng = np.random.default_rng(0)
    learner = LEARNERS[name](trace=True)
    X = rng.random((60, 2))
    y = np.floor(3 * X[:, 0]) if learner.loss.kind == "multiclass" else np.sign(X[:, 0] - 0.5)
    learner.learn(X[:30], y[:30]).learn(X[30:], y[30:])
    trace = learner.trace
    size = learner.n_atoms if hasattr(learner, "n_atoms") else learner.n_components
    assert len(trace) == learner.steps
    assert trace.n_atoms[-1] == size
    assert np.isfinite(trace.loss).all()
    assert np.isfinite(trace.outer).all()
    np.testing.assert_array_equal(trace.inner[-1:], learner.inner_estimate[None])
    if hasattr(learner, "function"):
        values = learner.function(X)
        if isinstance(learner, QuantileCOLK):
            values = np.sort(values + learner.offsets, axis=1)
        np.testing.assert_allclose(values, learner.predict(X), rtol=1e-12, atol=1e-12)
        assert (np.cumsum(trace.added - trace.dropped) == trace.n_atoms).all()
        assert learner.error_spent == pytest.approx(trace.error.sum())


UNSTABLE = {
    "colk": lambda: COLK(KERNEL, Squared(), step_size=5.0, gradient_bound=np.inf),
    "norma": lambda: NORMA(KERNEL, Squared(), None, step_size=5.0, gradient_bound=np.inf),
    "bsgd": lambda: BSGD(KERNEL, Squared(), 30, "removal", step_size=5.0, gradient_bound=np.inf),
    "compositional": lambda: CompositionalBSGD(
        KERNEL, Squared(), Variance(1.0), 30, "merging", step_size=5.0, gradient_bound=np.inf
    ),
    "npbsgd": lambda: NPBSGD(KERNEL, Squared(), 30, step_size=5.0, gradient_bound=np.inf),
    "scgd": lambda: SCGD(
        RBFNetwork(30, 0.4, **BOX), Squared(), Variance(1.0), step_size=5.0, gradient_bound=np.inf
    ),
    "accelerated": lambda: AcceleratedSCGD(
        RBFNetwork(30, 0.4, **BOX), Squared(), Variance(1.0), step_size=5.0, gradient_bound=np.inf
    ),
    "nasa": lambda: NASA(
        RBFNetwork(30, 0.4, **BOX), Squared(), proximity=1e-3, gradient_bound=np.inf
    ),
    "random-features": lambda: RandomFeatureSGD(
        KERNEL, Squared(), step_size=5.0, gradient_bound=np.inf
    ),
    "doubly": lambda: DoublySGD(KERNEL, Squared(), step_size=5.0, gradient_bound=np.inf),
}


def learn_until_divergence(learner, X, y, probe):
    """Return the samples that were learned, the error, and the last good predictions."""
    before = np.zeros(len(probe))
    for seen in range(len(X)):
        try:
            learner.learn(X[seen : seen + 1], y[seen : seen + 1])
        except DivergenceError as error:
            return seen, str(error), before
        before = learner.predict(probe)
    pytest.fail("it did not diverge")


@pytest.mark.parametrize("name", UNSTABLE)
def test_divergence_is_caught_and_the_model_kept(name):
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 2)), rng.normal(size=400)
    learner, probe = UNSTABLE[name](), X[:50]
    seen, message, before = learn_until_divergence(learner, X, y, probe)
    assert seen > 2
    assert "lower step_size (now " in message
    assert np.isfinite(before).all()
    np.testing.assert_array_equal(learner.predict(probe), before)
    with pytest.raises(DivergenceError):
        learner.learn(X[seen : seen + 1], y[seen : seen + 1])
    np.testing.assert_array_equal(learner.predict(probe), before)


@pytest.mark.parametrize(
    "make",
    [
        lambda: BSGD("gaussian"),
        lambda: SCGD(KERNEL),
        lambda: DoublySGD(None),
        lambda: RandomFeatureSGD(3),
        lambda: NASA(RBFNetwork(), risk="variance"),
        lambda: NORMA(KERNEL, loss="squared"),
        lambda: BSGD(KERNEL, averaging=0.1),
    ],
)
def test_terms_of_the_wrong_type_are_refused(make):
    with pytest.raises(TypeError, match=r"must be |need"):
        make()


def test_rates_that_are_no_averages_are_refused():
    with pytest.raises(ValueError, match="step_size·gradient_gain"):
        NASA(RBFNetwork(), step_size=0.5, gradient_gain=3.0)
    with pytest.raises(ValueError, match="tracking_rate"):
        SCGD(RBFNetwork(), tracking_rate=1.5)


def test_size_before_the_first_sample():
    assert BSGD(KERNEL).n_atoms == 0
    assert DoublySGD(KERNEL).n_components == 0
    with pytest.raises(ValueError, match="has not seen a sample yet"):
        _ = SCGD(RBFNetwork()).n_components
    with pytest.raises(ValueError, match="has not seen a sample yet"):
        NORMA(KERNEL).predict([[0.0]])


def test_nu_is_the_share_outside_the_tube():
    rng = np.random.default_rng(0)
    X = rng.random((6000, 1))
    y = np.sin(6.0 * X[:, 0]) + 0.3 * rng.normal(size=6000)
    for nu in (0.1, 0.5):
        learner = NORMA(Gaussian(0.2), EpsilonInsensitive(0.5), 300, step_size=0.02, nu=nu)
        learner.learn(X[:4000], y[:4000])
        outside = np.abs(learner.predict(X[4000:]) - y[4000:]) > learner.tube
        assert abs(outside.mean() - nu) < 0.05
    with pytest.raises(TypeError, match="Squared has none"):
        NORMA(KERNEL, Squared(), nu=0.1)


@pytest.mark.parametrize("name", ["norma", "bsgd", "colk"])
def test_kernel_values_that_would_overflow_are_refused(name):
    make = {
        "norma": lambda: NORMA(Linear(), Squared()),
        "bsgd": lambda: BSGD(Linear(), Squared(), 5, "projection"),
        "colk": lambda: COLK(Linear(), Squared()),
    }[name]
    learner = make().learn([[1.0], [2.0]], [1.0, 2.0])
    before = learner.predict([[1.0]])
    with pytest.raises(DivergenceError, match="scale features"):
        learner.learn([[1e90]], [1.0])
    np.testing.assert_array_equal(learner.predict([[1.0]]), before)
