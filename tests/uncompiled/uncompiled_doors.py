"""One small fit at every door: what each predicts for rows that it has not learned.

`python uncompiled_doors.py FILE` writes all predictions of an uncompiled package to a file.
"""

import runpy
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd

import colk
from colk.conformal import ConformalRegressor as ConformalEstimator
from colk.export import to_python
from colk.kernels import Gaussian, Mahalanobis, Matern
from colk.river import COLKClassifier as StreamClassifier
from colk.river import COLKQuantileRegressor as StreamQuantiles
from colk.river import COLKRegressor as StreamRegressor
from colk.river import ConformalClassifier as ConformalSets
from colk.river import ConformalRegressor, DriftDetector
from colk.tabular import TableModel

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, size=(200, 2))
Y = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * RNG.standard_t(3, size=200)
SIDE = np.where(Y > 0.2, "up", "down")
NEW = RNG.uniform(-2.0, 2.0, size=(20, 2))
SHOP = RNG.choice(["north", "south"], size=200)
COLUMNS = {"a": np.where(X[:, 0] > 1.8, np.nan, X[:, 0]), "b": X[:, 1], "shop": SHOP}
NEW_COLUMNS = {"a": NEW[:, 0], "b": NEW[:, 1], "shop": np.resize(["north", "other"], 20)}
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def dicts(points):
    return [{"a": a, "b": b} for a, b in points.tolist()]


def streamed(model):
    """The model after each row of a stream, and its predictions for the new rows."""
    for row, y in zip(dicts(X), SIDE if isinstance(model, StreamClassifier) else Y, strict=True):
        model.learn_one(row, y)
    return model


@case
def regressor():
    return colk.COLKRegressor(random_state=0).fit(X, Y).predict(NEW)


@case
def regressor_under_a_risk():
    return colk.COLKRegressor(risk="cvar", risk_path=False, random_state=0).fit(X, Y).predict(NEW)


@case
def regressor_by_newton_steps():
    model = colk.COLKRegressor(solver="newton", random_state=0)
    for start in range(0, 200, 50):
        model.partial_fit(X[start : start + 50], Y[start : start + 50])
    return np.stack(model.predict(NEW, return_std=True))


@case
def regressor_in_a_metric():
    kernel = Mahalanobis(Matern(1.0), [[1.0, 0.5, 0.0], [-0.3, 1.0, 0.2]])
    model = colk.COLKRegressor(kernel=kernel, random_state=0).fit(X, Y)
    return np.column_stack([model.predict(NEW), model.function_.gradient(NEW)])


@case
def stream_in_a_metric():
    kernel = Mahalanobis(Matern(1.0), [[1.0], [-0.3]])
    model = streamed(StreamRegressor(kernel=kernel))
    return np.array([model.predict_one(row) for row in dicts(NEW)])


@case
def classifier():
    return colk.COLKClassifier(random_state=0).fit(X, SIDE).predict_proba(NEW)


@case
def classifier_of_a_stream():
    model = colk.COLKClassifier(random_state=0)
    return model.partial_fit(X, SIDE, classes=["down", "up"]).predict_proba(NEW)


@case
def quantile_regressor():
    return colk.COLKQuantileRegressor(random_state=0).fit(X, Y).predict(NEW)


@case
def quantile_regressor_of_a_stream():
    return colk.COLKQuantileRegressor(random_state=0).partial_fit(X, Y).predict(NEW)


@case
def kernel_compressor():
    from sklearn.svm import SVR

    return colk.KernelCompressor(SVR(gamma=1.0), max_atoms=20).fit(X, Y).predict(NEW)


@case
def river_regressor():
    model = streamed(StreamRegressor())
    return np.array([model.predict_one(row) for row in dicts(NEW)])


@case
def river_classifier():
    model = streamed(StreamClassifier())
    return np.array([model.predict_proba_one(row).get("up", 0.0) for row in dicts(NEW)])


@case
def river_quantiles():
    model = streamed(StreamQuantiles())
    return np.array([list(model.predict_quantiles(row).values()) for row in dicts(NEW)])


@case
def river_intervals():
    model = streamed(ConformalRegressor(StreamRegressor(), coverage=0.9))
    ends = [model.predict_interval(row) for row in dicts(NEW)]
    return np.array([[end.lower, end.upper] for end in ends])


@case
def table():
    model = TableModel("y", ["a", "b", "shop"], categorical=["shop"])
    return model.fit([(COLUMNS, Y)]).predict(NEW_COLUMNS)


@case
def table_of_a_stream():
    model = TableModel("y", ["a", "b", "shop"], categorical=["shop"], solver="newton")
    return model.learn(COLUMNS, Y).predict(NEW_COLUMNS)


@case
def table_of_labels():
    model = TableModel("side", ["a", "b"], task="classification")
    return model.fit([(COLUMNS, SIDE)]).predict_proba(NEW_COLUMNS)


@case
def table_that_changes():
    """The kernel is chosen after 500 rows, and a rival learns beside the model."""
    model = TableModel("y", ["a", "b"], solver="newton", forgetting="auto")
    rng = np.random.default_rng(1)
    for sign in (1.0, -1.0):
        a, b = rng.uniform(-2.0, 2.0, size=(2, 400))
        model.learn({"a": a, "b": b}, sign * np.sin(2.0 * a) + 0.3 * b)
    return model.predict(NEW_COLUMNS)


@case
def merged():
    halves = [
        colk.COLKRegressor(kernel=Gaussian(0.7), random_state=0).fit(X[part], Y[part]).function_
        for part in (slice(100), slice(100, 200))
    ]
    return colk.merge(halves).model(NEW)


@case
def saved_and_loaded():
    estimators = (
        colk.COLKRegressor(random_state=0).partial_fit(X, Y),
        colk.COLKQuantileRegressor(random_state=0).partial_fit(X, Y),
    )
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, model in enumerate(estimators):
            path = Path(folder, f"{number}.colk")
            colk.save(model, path)
            found.append(colk.load(path).partial_fit(X, -Y).predict(NEW).ravel())
    return np.concatenate(found)


@case
def regressor_of_a_sparse_matrix():
    from scipy.sparse import csr_matrix

    points = np.where(np.abs(X) > 1.0, X, 0.0)
    model = colk.COLKRegressor(kernel="laplacian", random_state=0).fit(csr_matrix(points), Y)
    return model.predict(csr_matrix(NEW))


@case
def intervals_of_an_estimator():
    model = ConformalEstimator(colk.COLKRegressor(kernel="gaussian", max_atoms=20))
    return model.learn(X, Y).predict_interval(NEW)


@case
def river_sets_of_labels():
    model = streamed(ConformalSets(StreamClassifier(), coverage=0.8))
    found = [model.predict_set(row) for row in dicts(NEW)]
    return np.array([["down" in labels, "up" in labels] for labels in found], dtype=float)


@case
def river_drift():
    watch = DriftDetector()
    spread = np.where(np.arange(3000) < 1500, 0.1, 1.0)
    losses = spread * np.random.default_rng(2).exponential(size=3000)
    found = []
    for loss in losses.tolist():
        watch.update(loss)
        found.append(float(watch.drift_detected))
    assert sum(found) > 0
    return np.array(found)


@case
def command():
    """Fit, predict, evaluate, show, compress and export by the command."""
    from colk.cli import main

    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        rows, model, small, new, code = (
            str(Path(folder, name)) for name in ("r.csv", "m.colk", "s.colk", "n.csv", "m.py")
        )
        table = np.column_stack([X, Y])
        np.savetxt(rows, table, delimiter=",", header="a,b,y", comments="")
        lines = (
            ["fit", rows, "--target", "y", "--model", model],
            ["evaluate", model, rows],
            ["show", model],
            ["compress", model, "--eps", "0.01", "--out", small],
            ["export", small, "--to", "python", "--out", code],
            ["predict", small, rows, "--out", new],
        )
        for line in lines:
            assert main(line) == 0, line
        predicted = np.loadtxt(new, skiprows=1, ndmin=1)
        source = runpy.run_path(code)["predict"](dicts(NEW))
    return np.concatenate([predicted, source])


@case
def dask():
    from colk.distributed import DaskCOLKRegressor

    with ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory() as folder:
        rows = str(Path(folder, "r.csv"))
        np.savetxt(rows, np.column_stack([X, Y]), delimiter=",", header="a,b,y", comments="")
        model = DaskCOLKRegressor(kernel="gaussian", random_state=0, client=pool)
        model = model.fit([rows], "y").local_
    return model.predict(pd.DataFrame(NEW, columns=["a", "b"]))


@case
def exported():
    model = colk.COLKRegressor(kernel="gaussian", max_atoms=20, random_state=0).fit(X, Y)
    module: dict = {}
    exec(to_python(model), module)
    return np.array(module["predict"](NEW.tolist()))


@case
def policy():
    from colk.rl import KernelLSTD, KernelTD, LinearQuadratic, simulate

    walk = simulate(LinearQuadratic.spiral(1), 500, seed=0)
    points = np.linspace(-1.0, 1.0, 9)[:, None]
    learners = (KernelLSTD(Gaussian(0.5), discount=0.9), KernelTD(Gaussian(0.5), discount=0.9))
    return np.concatenate([learner.learn(*walk).value(points) for learner in learners])


if __name__ == "__main__":
    import colk._engine.stream

    assert colk._engine.stream.__file__.endswith(".py"), colk._engine.stream.__file__
    np.savez(sys.argv[1], **{name: make() for name, make in CASES.items()})
