"""Models of every class that a file may contain, and how each learns part of a stream."""

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from colk import COLKClassifier, COLKQuantileRegressor, COLKRegressor, river, rl
from colk.compressors import KOMP
from colk.conformal import AdaptiveInterval, ConformalRegressor
from colk.kernels import Gaussian, Laplacian, Linear, Mahalanobis
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
    ConditionalCOLK,
    DoublySGD,
    HedgedCOLK,
    HedgedNewtonCOLK,
    NewtonCOLK,
    QuantileCOLK,
    RandomFeatureSGD,
)
from colk.losses import EpsilonInsensitive, Huber, Logistic, Quantiles, Softmax, Tukey, Welsch
from colk.risks import Composition, CVaR, ExpectileRisk, MeanSemideviation, Spectral, Variance
from colk.rkhs.features import RandomFourierFeatures, RBFNetwork
from colk.schedules import Exponential

RNG = np.random.default_rng(0)
X = RNG.random((202, 2))
Y = np.sin(6.0 * X[:, 0]) + 0.1 * RNG.normal(size=202)
SEEN = 101  # odd: a pair is half full
LABELS = np.array(["low", "middle", "high"])[(Y > 0.0) * 1 + (Y > 0.6)]

FEATURES = RBFNetwork(12, 0.3, (0.0, 0.0), (1.0, 1.0))
VARIANCE = Variance(0.1)
BELLMAN = Composition(
    lambda f, y: y[0] + 0.9 * f[0], lambda f, y: 0.9,
    lambda f, y, g: 0.5 * (f[0] - g[0]) ** 2, lambda f, y, g: f[0] - g[0],
    lambda f, y, g: g[0] - f[0],
)  # fmt: skip
INSTRUMENT = Composition(
    lambda f, y: f[0] - y[0], lambda f, y: 1.0,
    lambda f, y, g: 0.5 * g[0] ** 2, lambda f, y, g: 0.0, lambda f, y, g: g[0],
)  # fmt: skip
SEVERAL = Composition(
    lambda f, y, x: (f[0] * y[1], x[0]), None,
    lambda f, y, x, g: (f[0] - y[0]) ** 2 + (g[0] - y[1] * g[1]) ** 2,
    n_inner=2, n_targets=2, n_inputs=2, derivatives="differences",
)  # fmt: skip
for composition, name in ((BELLMAN, "bellman"), (INSTRUMENT, "instrument"), (SEVERAL, "several")):
    composition.functions[0].__name__ = name
# What `load` needs beside the file.
TERMS = {"bellman": BELLMAN, "instrument": INSTRUMENT, "several": SEVERAL}
IN_METRIC = Mahalanobis(Gaussian(0.2), [[0.5, 0.1, 0.0], [-0.2, 1.0, 0.3]])


def _samples(targets):
    return lambda model, rows: model.learn(X[rows], targets[rows])


def _transitions(model, rows):
    return model.learn(X[rows][:-1], Y[rows][:-1], X[rows][1:])


def _conditional(model, rows):
    return model.learn(X[rows][:-1], X[rows][1:], Y[rows][:-1])


def _fitted(targets, **first):
    def learn(model, rows):
        more = {} if hasattr(model, "n_features_in_") else first
        return model.partial_fit(X[rows], targets[rows], **more)

    return learn


def _anew(model, rows):
    return model.fit(X[rows], Y[rows])


def _piped(model, rows):
    """The equivalent of `partial_fit` for a pipeline."""
    scaler, regressor = model[0], model[1]
    regressor.partial_fit(scaler.partial_fit(X[rows]).transform(X[rows]), Y[rows])
    return model


def _by_name(targets):
    def learn(model, rows):
        for x, y in zip(X[rows].tolist(), targets[rows].tolist(), strict=True):
            model.learn_one({"first": x[0], ("second", 2): x[1]}, y)
        return model

    return learn


REGRESSION = {
    "COLK": lambda: COLK(Gaussian(0.2), Huber(1.0), VARIANCE),
    "COLK of many settings": lambda: COLK(
        0.5 * Gaussian((0.2, 0.3)) + Linear() * Laplacian(1.0), risk=CVaR(0.3), norm_bound=9.0
    ),
    "COLK overlapping": lambda: COLK(Gaussian(0.2), risk=VARIANCE, pairing="overlap"),
    "COLK with an average": lambda: COLK(Gaussian(0.2), averaging=Exponential(0.01)),
    "COLK in batches": lambda: COLK(Gaussian(0.2), batch_size=4),
    "COLK by implicit steps": lambda: COLK(
        Gaussian(0.2), Huber(1.0), VARIANCE, compressor=KOMP(fraction=0.1), implicit=True
    ),
    "COLK under an expectile": lambda: COLK(Gaussian(0.2), Welsch(0.5), ExpectileRisk(0.8)),
    "COLK under a spectral risk": lambda: COLK(
        Gaussian(0.2), Tukey(2.0), Spectral((0.1, 0.5, 1.0), (1.0, 2.0, 3.0), smoothing=0.1)
    ),
    "COLK of quantiles": lambda: COLK(Gaussian(0.2), Quantiles((0.2, 0.5, 0.8)), n_outputs=3),
    "COLK traced": lambda: COLK(Gaussian(0.2), risk=VARIANCE, trace=True),
    "COLK in a metric": lambda: COLK(IN_METRIC, risk=VARIANCE, batch_size=2),
    "NewtonCOLK in a metric": lambda: NewtonCOLK(IN_METRIC, forgetting="auto"),
    "HedgedCOLK in a metric": lambda: HedgedCOLK(IN_METRIC, Huber(1.0), CVaR(0.2)),
    "DoublySGD in a metric": lambda: DoublySGD(IN_METRIC),
    "POLK": lambda: POLK(Gaussian(0.2)),
    "NewtonCOLK": lambda: NewtonCOLK(Gaussian(0.2), risk=VARIANCE),
    "NewtonCOLK of experts": lambda: NewtonCOLK(Gaussian(0.2), risk=VARIANCE, forgetting="auto"),
    "NewtonCOLK of a prior that it chooses": lambda: NewtonCOLK(
        Gaussian(0.2), risk=VARIANCE, prior="auto"
    ),
    "HedgedCOLK": lambda: HedgedCOLK(Gaussian(0.2), Huber(1.0), CVaR(0.2)),
    "HedgedNewtonCOLK": lambda: HedgedNewtonCOLK(Gaussian(0.2), risk=VARIANCE),
    "HedgedNewtonCOLK of experts": lambda: HedgedNewtonCOLK(
        Gaussian(0.2), risk=MeanSemideviation(), forgetting="auto", compressor=KOMP(max_atoms=9)
    ),
    "QuantileCOLK": lambda: QuantileCOLK(Gaussian(0.2), Quantiles((0.2, 0.8)), forgetting="auto"),
    "BSGD": lambda: BSGD(Gaussian(0.2), max_atoms=20),
    "CompositionalBSGD": lambda: CompositionalBSGD(
        Gaussian(0.2), risk=VARIANCE, max_atoms=20, maintenance="projection"
    ),
    "NPBSGD": lambda: NPBSGD(Gaussian(0.2), max_atoms=20, growth=0.5, horizon=200),
    "NORMA": lambda: NORMA(Gaussian(0.2), EpsilonInsensitive(0.1), nu=0.2),
    "SCGD": lambda: SCGD(FEATURES, risk=VARIANCE),
    "AcceleratedSCGD": lambda: AcceleratedSCGD(
        RandomFourierFeatures(Gaussian(0.3), 15), risk=VARIANCE
    ),
    "NASA": lambda: NASA(FEATURES, risk=VARIANCE),
    "DoublySGD": lambda: DoublySGD(Gaussian(0.3)),
    "RandomFeatureSGD": lambda: RandomFeatureSGD(Gaussian(0.3), n_components=20),
}

CASES = {name: (make, _samples(Y)) for name, make in REGRESSION.items()}
CASES |= {
    "COLK of two outputs": (lambda: COLK(Gaussian(0.2)), _samples(np.column_stack([Y, -Y]))),
    "COLK of classes": (
        lambda: COLK(Gaussian(0.2), Softmax(), n_outputs=2),
        _samples((Y > 0.0).astype(float)),
    ),
    "COLK of signs": (lambda: COLK(Gaussian(0.2), Logistic()), _samples(np.sign(Y))),
    "COLK of a composition of other sizes": (
        lambda: COLK(Gaussian(0.3), risk=SEVERAL, batch_size=2),
        _samples(np.column_stack([Y, -Y])),
    ),
    "ConditionalCOLK": (
        lambda: ConditionalCOLK(Gaussian(0.3), BELLMAN, tracking_rate=0.3, gradient_bound=3.0),
        _conditional,
    ),
    "ConditionalCOLK with an instrument": (
        lambda: ConditionalCOLK(
            Gaussian(0.3), INSTRUMENT, Laplacian(0.5), compressor=KOMP(max_atoms=9), averaging=None
        ),
        _conditional,
    ),
    "PolicyEvaluator in a metric": (lambda: rl.PolicyEvaluator(IN_METRIC, 0.9), _transitions),
    "PolicyEvaluator": (lambda: rl.PolicyEvaluator(Gaussian(0.3), 0.9), _transitions),
    "PolicyEvaluator of a number": (
        lambda: rl.PolicyEvaluator(Gaussian(0.3), 0.9, tracks="scalar", trace=True),
        _transitions,
    ),
    "PolicyEvaluator with momentum": (
        lambda: rl.PolicyEvaluator(Gaussian(0.3), 0.9, step_size=0.05, tracks="momentum"),
        _transitions,
    ),
    "KernelTD": (lambda: rl.KernelTD(Gaussian(0.3), 0.9), _transitions),
    "KernelLSTD": (lambda: rl.KernelLSTD(Gaussian(0.3), 0.9, trace=True), _transitions),
    "ResidualGradient": (lambda: rl.ResidualGradient(Gaussian(0.3), 0.9), _transitions),
    "TDC": (lambda: rl.TDC(Gaussian(0.3), 0.9), _transitions),
    "COLKRegressor in a metric": (lambda: COLKRegressor(kernel=IN_METRIC), _fitted(Y)),
    "COLKRegressor": (lambda: COLKRegressor(risk="variance"), _fitted(Y)),
    "COLKRegressor of two outputs": (
        lambda: COLKRegressor(random_state=np.random.RandomState(5)),
        _fitted(np.column_stack([Y, 1e6 * Y])),
    ),
    "COLKRegressor with a kernel": (
        lambda: COLKRegressor(kernel="gaussian", bandwidth="median"),
        _fitted(Y),
    ),
    "COLKRegressor by curvature": (
        lambda: COLKRegressor(solver="newton", forgetting=0.99, risk="variance"),
        _fitted(Y),
    ),
    "COLKClassifier by curvature": (
        lambda: COLKClassifier(solver="newton", prior=0.5),
        _fitted(LABELS, classes=np.unique(LABELS)),
    ),
    "COLKQuantileRegressor": (
        lambda: COLKQuantileRegressor(
            (0.1, 0.9), max_atoms=20, epochs=1, random_state=np.random.RandomState(5)
        ),
        _anew,
    ),
    "COLKQuantileRegressor of a stream": (
        lambda: COLKQuantileRegressor((0.1, 0.9), kernel="gaussian", max_atoms=20),
        _fitted(Y),
    ),
    "COLKClassifier": (lambda: COLKClassifier(), _fitted(LABELS, classes=np.unique(LABELS))),
    "COLKClassifier with weights": (
        lambda: COLKClassifier(class_weight={"low": 2.0, "high": 0.5}),
        _fitted(LABELS, classes=np.unique(LABELS)),
    ),
    "COLKClassifier of two": (lambda: COLKClassifier(), _fitted(Y > 0.0, classes=[False, True])),
    "COLKClassifier by margin": (
        lambda: COLKClassifier(loss="hinge"),
        _fitted((Y > 0.0) * 3, classes=[0, 3]),
    ),
    "Pipeline": (
        lambda: Pipeline([("scale", StandardScaler()), ("learn", COLKRegressor())]),
        _piped,
    ),
    "ConformalRegressor": (
        lambda: ConformalRegressor(COLK(Gaussian(0.2)), coverage=0.8),
        _samples(Y),
    ),
    "ConformalRegressor of an estimator": (
        lambda: ConformalRegressor(COLKRegressor(), coverage=0.8),
        _samples(Y),
    ),
    "ConformalRegressor of a series": (
        lambda: ConformalRegressor(COLK(Gaussian(0.2)), coverage=0.8, series=True),
        _samples(Y),
    ),
    "ConformalRegressor by adaptive inference": (
        lambda: ConformalRegressor(COLK(Gaussian(0.2)), rule=AdaptiveInterval(0.02, 50)),
        _samples(Y),
    ),
    "river.ConformalRegressor": (
        lambda: river.ConformalRegressor(river.COLKRegressor(), coverage=0.8),
        _by_name(Y),
    ),
    "river.ConformalRegressor of a width that depends on x": (
        lambda: river.ConformalRegressor(river.COLKRegressor(), coverage=0.8, local=True),
        _by_name(Y),
    ),
    "river.ConformalClassifier": (
        lambda: river.ConformalClassifier(river.COLKClassifier(), by_class=True),
        _by_name(LABELS),
    ),
    "river.DriftWatch": (lambda: river.DriftWatch(river.COLKRegressor()), _by_name(Y)),
    "river.COLKQuantileRegressor": (
        lambda: river.COLKQuantileRegressor((0.1, 0.9), max_atoms=20),
        _by_name(Y),
    ),
    "river.COLKRegressor": (lambda: river.COLKRegressor(), _by_name(Y)),
    "river.COLKRegressor by curvature": (
        lambda: river.COLKRegressor(solver="newton", forgetting=0.99),
        _by_name(Y),
    ),
    "river.COLKClassifier by curvature": (
        lambda: river.COLKClassifier(solver="newton"),
        _by_name(LABELS),
    ),
    "river.COLKClassifier": (lambda: river.COLKClassifier(risk="variance"), _by_name(LABELS)),
}
