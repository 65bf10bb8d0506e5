"""Threads: the first samples are all learned, and copies and files are states that existed."""

import copy
import pickle
import sys
import threading

import numpy as np
import pytest

from colk import COLKClassifier, COLKQuantileRegressor, COLKRegressor, load, save
from colk.compressors import KOMP
from colk.conformal import ConformalRegressor
from colk.kernels import Gaussian
from colk.learners import COLK, HedgedCOLK, HedgedNewtonCOLK, NewtonCOLK, QuantileCOLK
from colk.risks import CVaR
from colk.rl import KernelLSTD, PolicyEvaluator
from colk.selection import warm_up
from colk.tabular import TableModel

SMALL = KOMP(max_atoms=40)
RNG = np.random.default_rng(0)
X = RNG.random((4000, 2))
Y = np.sin(6.0 * X[:, 0]) + X[:, 1] ** 2
LABELS = np.where(Y > 0.5, "high", "low")
RECORDS = [dict(zip("ab", row, strict=True)) for row in X.tolist()]


@pytest.fixture(autouse=True)
def _frequent_switches():
    """Threads take turns more often than by default."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def samples(learn):
    return lambda model, a, b: learn(model)(X[a:b], Y[a:b])


def transitions(model, a, b):
    return model.learn(X[a:b], Y[a:b], X[::-1][a:b])


def labelled(model, a, b):
    return model.partial_fit(X[a:b], LABELS[a:b], classes=["high", "low"])


def river(model, a, b):
    for row in range(a, b):
        model.learn_one(RECORDS[row], float(Y[row]))


def table(model, a, b):
    return model.learn({"a": X[a:b, 0], "b": X[a:b, 1]}, Y[a:b])


def newton(**settings):
    return lambda: NewtonCOLK(Gaussian(0.2), compressor=SMALL, **settings)


def of_river():
    from colk.river import COLKRegressor as RiverRegressor

    return RiverRegressor(max_atoms=40)


def conformal_of_river():
    from colk.river import ConformalRegressor as RiverConformal

    return RiverConformal(of_river())


def quantiles_of_river():
    from colk.river import COLKQuantileRegressor as RiverQuantiles

    return RiverQuantiles(max_atoms=40)


def labels_of_river():
    from colk.river import COLKClassifier as RiverClassifier
    from colk.river import ConformalClassifier as RiverLabels

    return RiverLabels(RiverClassifier(max_atoms=40))


def labelled_records(model, a, b):
    for row in range(a, b):
        model.learn_one(RECORDS[row], str(LABELS[row]))


def hedged(kind):
    return lambda: kind(Gaussian(0.2), risk=CVaR(0.1), compressor=SMALL)


def learns(model):
    return model.learn


def fits(model):
    return model.partial_fit


# name: model, how it learns rows a to b, number of samples that it has learned
MODELS = {
    "COLK": (lambda: COLK(Gaussian(0.2), compressor=SMALL), samples(learns), lambda m: m.steps),
    "newton": (newton(), samples(learns), lambda m: m.steps),
    "experts": (newton(forgetting="auto"), samples(learns), lambda m: m.steps),
    "prior": (newton(prior="auto"), samples(learns), lambda m: m.steps),
    "lstd": (
        lambda: KernelLSTD(Gaussian(0.2), 0.5, compressor=SMALL), transitions, lambda m: m.steps
    ),
    "policy": (
        lambda: PolicyEvaluator(Gaussian(0.2), 0.5, compressor=SMALL),
        transitions,
        lambda m: m.steps,
    ),
    "traced": (
        lambda: COLK(Gaussian(0.2), compressor=SMALL, trace=True),
        samples(learns),
        lambda m: len(m.trace.loss),
    ),
    "regressor": (
        lambda: COLKRegressor(max_atoms=40),
        samples(fits),
        lambda m: m.learner_.loss_sums[1],
    ),
    "newton regressor": (
        lambda: COLKRegressor(max_atoms=40, solver="newton"),
        samples(fits),
        lambda m: m.learner_.loss_sums[1],
    ),
    "classifier": (
        lambda: COLKClassifier(max_atoms=40), labelled, lambda m: m.learner_.loss_sums[1]
    ),
    "river": (of_river, river, lambda m: m._scale.total),
    "river conformal": (conformal_of_river, river, lambda m: m.regressor._scale.total),
    "table": (lambda: TableModel("y", ["a", "b"], max_atoms=40), table, lambda m: m.rows),
    "conformal": (
        lambda: ConformalRegressor(COLKRegressor(max_atoms=40)),
        samples(learns),
        lambda m: m.model.learner_.loss_sums[1],
    ),
    "hedged": (hedged(HedgedCOLK), samples(learns), lambda m: m.steps),
    "hedged newton": (hedged(HedgedNewtonCOLK), samples(learns), lambda m: m.steps),
    "quantiles": (
        lambda: QuantileCOLK(Gaussian(0.2), compressor=SMALL), samples(learns), lambda m: m.steps
    ),
    "quantile regressor": (
        lambda: COLKQuantileRegressor(max_atoms=40),
        samples(fits),
        lambda m: m.learner_.loss_sums[1],
    ),
    "risk regressor": (
        lambda: COLKRegressor(max_atoms=40, risk=CVaR(0.1)),
        samples(fits),
        lambda m: m.learner_.loss_sums[1],
    ),
    "river quantiles": (quantiles_of_river, river, lambda m: m._scale.total),
    "river labels": (
        labels_of_river, labelled_records, lambda m: m.classifier._online.learner.loss_sums[1]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_the_first_samples_of_four_threads(name, monkeypatch):
    """All are learned, whichever thread makes the model."""
    monkeypatch.setattr(warm_up, "WARM_UP", 50)
    make, learn, count = MODELS[name]
    for _ in range(3 if name == "river conformal" else 6):
        model, start = make(), threading.Barrier(4)

        def work(first, model=model, start=start):
            start.wait()
            learn(model, first, first + 10)

        threads = [threading.Thread(target=work, args=(10 * i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert count(model) == 40


@pytest.mark.each_value
@pytest.mark.parametrize("way", ["save", "pickle", "copy"])
@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("traced", "conformal")])
def test_copies_while_another_thread_learns(name, way, tmp_path, monkeypatch):
    """Each is the state after some number of samples, and continues as the original did."""
    monkeypatch.setattr(warm_up, "WARM_UP", 120)
    make, learn, count = MODELS[name]
    total, size = 400, 7
    model = make()
    learn(model, 0, size)

    def work():
        for start in range(size, total, size):
            learn(model, start, start + size)

    thread, copies = threading.Thread(target=work), []
    thread.start()
    while thread.is_alive():
        copies.append(_copied(model, way, tmp_path / "model.colk"))
    thread.join()
    twin, done = make(), 0
    for each in sorted(copies, key=count):
        seen = round(count(each))
        while done < seen:
            learn(twin, done, min(done + size, seen))
            done = min(done + size, seen)
        assert _values(each) == _values(twin), f"a copy after {seen} samples"
        again = copy.deepcopy(twin)
        for start in range(seen, seen + 2 * size, size):
            learn(each, start, start + size)
            learn(again, start, start + size)
        assert _values(each) == _values(again), f"a copy after {seen} samples goes on differently"


def _copied(model, way, path):
    if way == "pickle":
        return pickle.loads(pickle.dumps(model))
    if way == "copy":
        return copy.deepcopy(model)
    save(model, path)
    return load(path)


def _values(model):
    """Predictions, to the last bit."""
    if hasattr(model, "predict_one"):
        return [model.predict_one(row) for row in RECORDS[:5]]
    if hasattr(model, "value"):
        return model.value(X[:5]).tolist()
    if isinstance(model, TableModel):
        return model.predict({"a": X[:5, 0], "b": X[:5, 1]}).tolist()
    if isinstance(model, COLKClassifier):
        return model.decision_function(X[:5]).tolist()
    return model.predict(X[:5]).tolist()
