"""Small models of every class and with every term that a file may hold, and a use of each."""

import numpy as np

from colk_lab.tables.steps import DATA

RNG = np.random.default_rng(0)
X = RNG.random((60, 2))
Y = np.sin(6.0 * X[:, 0]) + 0.1 * RNG.normal(size=60)
LABELS = np.array(["low", "middle", "high"])[(Y > 0.0) * 1 + (Y > 0.6)]


def corpus():
    """Return small models of every kind."""
    return [
        *learned_streams(),
        *functions(),
        *fitted_estimators(),
        *conformal_models(),
        *table_models(),
        *online_models(),
        *other_terms(),
        *other_classes(),
    ]


def learned_streams():
    """Return a learner of every class, and one that has not learned."""
    from colk import learners, losses, risks, rl
    from colk.compressors import KOMP
    from colk.kernels import Constant, Gaussian, Laplacian, Linear, Matern
    from colk.rkhs.features import RBFNetwork

    kernel, variance = Gaussian(0.3), risks.Variance(0.1)
    features = RBFNetwork(12, 0.3, (0.0, 0.0), (1.0, 1.0))
    streams = [
        learners.COLK(kernel, losses.Huber(1.0), variance),
        learners.COLK(kernel, risk=risks.CVaR(0.2), batch_size=3, trace=True),
        learners.COLK(0.5 * Gaussian((0.3, 0.4)) + Linear() * Constant(1.0), pairing="overlap"),
        learners.COLK(Matern(0.5, nu=2.5), risk=risks.CentralMoments(4), tracker="average"),
        learners.COLK(kernel, compressor=KOMP(fraction=0.1), implicit=True, batch_size=2),
        learners.COLK(kernel, losses.Quantiles((0.2, 0.8)), n_outputs=2),
        learners.COLK(kernel, losses.Welsch(0.5), risks.ExpectileRisk(0.8)),
        learners.COLK(kernel, losses.Tukey(2.0), risks.Spectral((0.1, 1.0), (1.0, 2.0))),
        learners.POLK(Laplacian(0.4)),
        learners.NewtonCOLK(kernel, risk=variance),
        learners.NewtonCOLK(Gaussian(0.05), forgetting=0.99, restart=True, trace=True),
        learners.NewtonCOLK(kernel, losses.Quantiles((0.2, 0.8)), n_outputs=2, batch_size=3),
        learners.BSGD(kernel, max_atoms=8),
        learners.CompositionalBSGD(kernel, risk=variance, max_atoms=8, maintenance="projection"),
        learners.NPBSGD(kernel, max_atoms=8, growth=0.5, horizon=60),
        learners.NORMA(kernel, losses.EpsilonInsensitive(0.1), nu=0.2, max_atoms=10),
        learners.DoublySGD(kernel),
        learners.RandomFeatureSGD(kernel + Laplacian(1.0), n_components=10),
        learners.SCGD(features, risk=variance),
        learners.AcceleratedSCGD(features, risk=variance),
        learners.NASA(features, risk=variance),
    ]
    models = [learner.learn(X[:31], Y[:31]) for learner in streams]
    evaluators = (rl.PolicyEvaluator, rl.KernelTD, rl.KernelLSTD, rl.ResidualGradient, rl.TDC)
    models += [kind(kernel, 0.9).learn(X[:31], Y[:31], X[1:32]) for kind in evaluators]
    conditional = learners.ConditionalCOLK(kernel, own_terms()["bellman"])
    return [*models, learners.COLK(kernel), conditional.learn(X[:31], X[1:32], Y[:31])]


def own_terms():
    """Return the terms of the corpus that files store by name."""
    from colk.risks import Composition

    return {"bellman": Composition(bellman, outer=gap, derivatives="differences")}


def bellman(f, y):
    return y[0] + 0.9 * f[0]


def gap(f, y, g):
    return 0.5 * (f[0] - g[0]) ** 2


def functions():
    """Return functions, and models of scikit-learn that became functions."""
    from sklearn.svm import SVC, SVR

    import colk
    from colk.kernels import Polynomial

    return [
        colk.KernelExpansion(Polynomial(3), X[:9], Y[:9]),
        colk.from_sklearn(SVR().fit(X, Y)),
        colk.KernelCompressor(SVR()).fit(X, Y),
        colk.KernelCompressor(SVC()).fit(X, LABELS),
    ]


def transformers():
    """Return steps that a pipeline may have before the estimator."""
    from sklearn.compose import ColumnTransformer
    from sklearn.decomposition import PCA
    from sklearn.feature_selection import SelectKBest, f_regression
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import FeatureUnion, make_pipeline
    from sklearn.preprocessing import KBinsDiscretizer, QuantileTransformer, SplineTransformer
    from sklearn.random_projection import SparseRandomProjection

    return [
        make_pipeline(SimpleImputer(), PCA(n_components=2, random_state=np.random.RandomState(0))),
        ColumnTransformer(
            [
                ("bins", KBinsDiscretizer(n_bins=3), [0]),
                ("rest", QuantileTransformer(n_quantiles=9), [1]),
            ]
        ),
        FeatureUnion(
            [("one", SplineTransformer()), ("two", SparseRandomProjection(n_components=2))]
        ),
        SelectKBest(f_regression, k=1),
    ]


def fitted_estimators():
    """Return fitted estimators and pipelines."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import colk

    return [
        colk.COLKRegressor(random_state=np.random.RandomState(0)).fit(X, Y),
        colk.COLKRegressor(risk="variance", loss="squared").fit(X, np.column_stack([Y, -Y])),
        colk.COLKClassifier().fit(X, LABELS),
        colk.COLKClassifier(loss="hinge").fit(X, Y > 0.0),
        make_pipeline(StandardScaler(), colk.COLKRegressor()).fit(X, Y),
        *(
            make_pipeline(step, colk.COLKRegressor(max_atoms=9)).fit(X, Y)
            for step in transformers()
        ),
        colk.COLKQuantileRegressor((0.2, 0.8), max_atoms=9, epochs=1).fit(X, Y),
        colk.COLKRegressor().partial_fit(X, Y),
        colk.COLKRegressor(solver="newton").fit(X, Y),
        colk.COLKRegressor(solver="newton", forgetting=0.99).partial_fit(X, Y),
        colk.COLKClassifier(solver="newton").fit(X, LABELS),
        colk.COLKClassifier(class_weight={"low": 2.0}).partial_fit(X, LABELS, np.unique(LABELS)),
    ]


def conformal_models():
    """Return models with conformal intervals."""
    import colk
    from colk import learners, river
    from colk.conformal import ConformalRegressor
    from colk.kernels import Gaussian

    return [
        ConformalRegressor(learners.COLK(Gaussian(0.3))).learn(X, Y),
        ConformalRegressor(colk.COLKRegressor(solver="newton")).learn(X, Y),
        river.ConformalRegressor(river.COLKRegressor(kernel="gaussian")),
    ]


def table_models():
    """Yield models of named columns."""
    from colk.tabular import TableModel

    columns = {"a": X[:, 0], "b": X[:, 1], "c": LABELS}
    for task, targets in (("regression", Y), ("classification", LABELS)):
        for solver in ("gradient", "newton"):
            model = TableModel("y", list(columns), categorical=["c"], task=task, solver=solver)
            yield model.learn(columns, targets)


def online_models():
    """Yield models of River's kind, the last one after its race."""
    from colk import river

    online = [
        (river.COLKRegressor(), Y),
        (river.COLKClassifier(), LABELS),
        (river.COLKRegressor(solver="newton", forgetting=0.99), Y),
        (river.COLKClassifier(solver="newton"), LABELS),
        (river.ConformalRegressor(river.COLKRegressor(solver="newton")), Y),
    ]
    for model, targets in online:
        for x, y in zip(X.tolist(), targets.tolist(), strict=True):
            model.learn_one({"a": x[0], "b": x[1]}, y)
        yield model
    raced = river.COLKRegressor(max_atoms=20)
    for x in RNG.normal(size=(510, 2)).tolist():
        raced.learn_one({"a": x[0], "b": x[1]}, float(np.sin(3.0 * x[0])))
    yield raced


def other_terms():
    """Yield a model for each built-in term that the models above do not hold."""
    import colk
    from colk import compressors, kernels, learners, losses, risks, schedules, trackers

    kernel, rate = kernels.Gaussian(0.3), schedules.PowerDecay(0.2)
    signs = np.sign(Y)
    for loss in (
        losses.LogCosh(1.0),
        losses.Welsch(2.0),
        losses.Tukey(3.0),
        losses.SquaredEpsilonInsensitive(0.1),
        losses.Pinball(0.3),
        losses.Expectile(0.3),
    ):
        yield learners.COLK(kernel, loss).learn(X[:20], Y[:20])
    for loss in (losses.Logistic(), losses.SquaredHinge(), losses.SmoothHinge(0.5), losses.Hinge()):
        yield learners.COLK(kernel, loss).learn(X[:20], signs[:20])
    for risk in (
        risks.Entropic(0.5),
        risks.ExpectileRisk(0.8),
        risks.Spectral((0.1, 0.5)),
        risks.KLDRO(0.1),
        risks.ChiSquareDRO(0.5),
        risks.Semivariance(0.1),
        risks.Semideviations(4, 0.1),
        risks.MeanSemideviation(2.0, 0.5),
    ):
        yield learners.COLK(kernel, risk=risk).learn(X[:20], Y[:20])
    yield learners.COLK(kernel, losses.Logistic(), risks.AUC()).learn(X[:20], signs[:20])
    for rule in (
        compressors.Merging(8),
        compressors.Projection(8),
        compressors.Removal(8),
        compressors.Truncation(8),
        compressors.Growing(compressors.Removal(8), 0.5, 60),
    ):
        yield learners.COLK(kernel, compressor=rule, step_size=rate).learn(X, Y)
    yield learners.COLK(kernel, averaging=schedules.Exponential(0.1)).learn(X[:20], Y[:20])
    extrapolated = trackers.Extrapolation()
    yield learners.COLK(kernel, risk=risks.Variance(0.1), tracker=extrapolated).learn(
        X[:20], Y[:20]
    )
    yield colk.COLKRegressor(kernel=kernel, risk="group").fit(X, Y, groups=LABELS)
    for shape in (
        kernels.RationalQuadratic(0.4, 2.0),
        kernels.Mahalanobis(kernel, [[1.0, 0.2], [0.1, 2.0]]),
        kernels.Mixed(kernel, [1], 0.5),
        kernels.OneHotPolynomial([1], 2),
    ):
        yield learners.COLK(shape).learn(np.round(X[:20]), Y[:20])


def other_classes():
    """Yield a model for each class that the models above do not hold."""
    import pandas as pd
    from scipy.sparse import csr_matrix

    import colk
    from colk import learners, river
    from colk.conformal import AdaptiveInterval, ConformalClassifier, ConformalRegressor
    from colk.kernels import Gaussian
    from colk.risks import MeanSemideviation

    yield learners.HedgedNewtonCOLK(Gaussian(0.3), risk=MeanSemideviation()).learn(X, Y)
    yield learners.HedgedCOLK(Gaussian(0.3), risk=MeanSemideviation()).learn(X, Y)
    yield learners.QuantileCOLK(Gaussian(0.3), forgetting="auto").learn(X, Y)
    sets = ConformalClassifier(colk.COLKClassifier(solver="newton"), by_class=True)
    yield sets.learn(X, LABELS, classes=np.unique(LABELS))
    for settings in ({"rule": AdaptiveInterval(0.02, 50)}, {"local": True}, {"series": True}):
        yield ConformalRegressor(learners.COLK(Gaussian(0.3)), **settings).learn(X, Y)
    named = [
        (river.COLKQuantileRegressor((0.1, 0.9), max_atoms=20), Y),
        (river.ConformalClassifier(river.COLKClassifier(), by_class=True), LABELS),
        (river.DriftWatch(river.COLKRegressor()), Y),
        (river.ConformalRegressor(river.COLKRegressor(), local=True, series=True), Y),
    ]
    for model, targets in named:
        for x, y in zip(X.tolist(), targets.tolist(), strict=True):
            model.learn_one({"a": x[0], "b": x[1]}, y)
        yield model
    places = RNG.integers(0, 40_000, size=(60, 3))
    wide = csr_matrix((np.ones(180), (np.repeat(np.arange(60), 3), places.ravel())), (60, 40_000))
    yield colk.COLKRegressor(kernel=Gaussian(1.0), epochs=1).fit(wide, Y)
    codes = RNG.integers(0, 201, size=1200)
    numbers = RNG.random(1200)
    rows = pd.DataFrame({"a": numbers, "b": np.array([f"v{code}" for code in codes], object)})
    targets = RNG.normal(size=201)[codes] * (1.0 + rows["a"].to_numpy())
    yield colk.COLKRegressor(epochs=1, max_atoms=20).fit(rows, targets)


def use(model, folder):
    """Predict, learn a few samples, save."""
    import colk
    from colk.learners import ConditionalCOLK, NewtonCOLK, OnlineLearner
    from colk.rl import ValueLearner
    from colk.tabular import TableModel

    names = ("_n_features", "n_features_in_")
    p = next((size for name in names if (size := getattr(model, name, None))), 2)
    if isinstance(model, colk.KernelExpansion):
        p = model.n_features
    elif isinstance(model, colk.Affine):
        p = model.function.n_features
    points = np.random.default_rng(1).random((5, min(int(p), 50_000)))
    rows = [{"a": x[0], "b": x[-1]} for x in points.tolist()]
    if hasattr(model, "feature_names_in_"):
        import pandas as pd

        points = pd.DataFrame({"a": points[:, 0], "b": ["v1", "v2", "v3", "w", None]})
    if isinstance(model, TableModel):
        columns = dict.fromkeys(model.features, points[:, 0])
        columns |= dict.fromkeys(model.categorical, ["low"] * 5)
        model.predict(columns)
        model.learn(columns, points[:, 1] if model.task == "regression" else ["low"] * 5)
    elif isinstance(model, ConditionalCOLK):
        p = model.model.n_features if model.steps else 2
        points = np.random.default_rng(1).random((5, min(p, 10_000)))
        model.learn(points[:-1], points[1:], np.ones(4)).predict(points)
    elif isinstance(model, ValueLearner):
        model.learn(points[:-1], np.ones(4), points[1:]).value(points)
    elif isinstance(model, OnlineLearner):
        single = model._is_vector or model.loss.couples_outputs
        targets = np.ones(5) if single else np.ones((5, model.n_outputs or 1))
        model.learn(points, targets)
        model.learn_one(points[0].tolist(), 1.0 if single else targets[0])
        model.predict(points)
        if isinstance(model, NewtonCOLK) and not model.loss.couples_outputs:
            model.predict(points, return_std=True)
    elif hasattr(model, "predict_interval") and hasattr(model, "learn"):
        model.predict_interval(points)
        model.learn(points, np.ones(5)).predict_interval(points)
    elif hasattr(model, "predict_set") and hasattr(model, "learn"):
        model.predict_set(points)
        model.learn(points, ["low"] * 5).predict_set(points)
    elif hasattr(model, "learn_one"):
        classes = hasattr(model, "predict_proba_one") or hasattr(model, "predict_set_one")
        for row in rows:
            model.learn_one(row, "low" if classes else 1.0)
            model.predict_one(row)
    elif type(model).__name__ == "Pipeline" and model.steps[0][0] in DATA:
        model.predict(DATA[model.steps[0][0]][:20])
    elif hasattr(model, "partial_fit") and getattr(model, "risk", None) != "group":
        found = model.predict(points)
        is_quantiles = type(model).__name__ == "COLKQuantileRegressor"
        model.partial_fit(points, found[:, 0] if is_quantiles else found)
        model.predict(points)
    elif hasattr(model, "predict"):
        model.predict(points)
    elif callable(model):
        model(points)
    colk.save(model, folder / "again")
