"""Load damaged and hostile files with `colk.load`: the result is a clear error or a working model.

Each file is loaded in a separate process with a bounded address space. If loading succeeds, the
model predicts, learns a few samples and is saved again. A failure is a process that dies, a file
that takes longer than a few seconds, an undocumented exception, code that runs, or memory that
grows beyond the order of the file size.

    python -m colk_lab.tables fuzz_files --count 100000

With `--structure` the files are not random: in each pipeline with a class of scikit-learn that
files may hold, each number and array of the state is replaced by 0, −1, 2⁶³ − 1, NaN and by other
shapes. `--part 0/4` does the first of four parts.

    python -m colk_lab.tables fuzz_files --structure
"""

import argparse
import faulthandler
import gc
import itertools
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

from colk_lab.tables.damaged_files import bound, damage, each_change
from colk_lab.tables.steps import DATA, fitted_pipelines

PATIENCE = 10.0  # seconds for a file
FORBIDDEN = ("exec", "os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen")
FORBIDDEN += ("pickle.find_class", "marshal.loads", "ctypes.dlopen", "socket.connect")

RNG = np.random.default_rng(0)
X = RNG.random((60, 2))
Y = np.sin(6.0 * X[:, 0]) + 0.1 * RNG.normal(size=60)
LABELS = np.array(["low", "middle", "high"])[(Y > 0.0) * 1 + (Y > 0.6)]


def corpus():
    """Return small models of every kind."""
    makers = (learned_streams, functions, fitted_estimators, conformal_models, table_models)
    return [model for make in (*makers, online_models) for model in make()]


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


def write_corpus(folder, models):
    """Save models."""
    import colk

    for number, model in enumerate(models):
        colk.save(model, folder / f"{number:03d}.colk")


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
    points = np.random.default_rng(1).random((5, min(int(p), 10_000)))
    rows = [{"a": x[0], "b": x[-1]} for x in points.tolist()]
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
    elif hasattr(model, "learn_one"):
        classes = hasattr(model, "predict_proba_one")
        for row in rows:
            model.learn_one(row, "low" if classes else 1.0)
            model.predict_one(row)
    elif type(model).__name__ == "Pipeline" and model.steps[0][0] in DATA:
        model.predict(DATA[model.steps[0][0]][:20])
    elif hasattr(model, "partial_fit"):
        found = model.predict(points)
        is_quantiles = type(model).__name__ == "COLKQuantileRegressor"
        model.partial_fit(points, found[:, 0] if is_quantiles else found)
        model.predict(points)
    elif hasattr(model, "predict"):
        model.predict(points)
    elif callable(model):
        model(points)
    colk.save(model, folder / "again")


class AuditHook:
    """Record events that must not happen while a file is loaded."""

    def __init__(self):
        self.active, self.seen = False, []
        sys.addaudithook(self.hear)

    def hear(self, event, args):
        """Record an event of the interpreter that no file may cause."""
        if self.active and event.startswith(FORBIDDEN):
            self.seen.append((event, str(args)[:80]))


def damaged(samples, given):
    """Yield the files start, …, start + count − 1, and their numbers."""
    stop = given.start + given.count
    if given.structure:
        changes = itertools.chain.from_iterable(map(each_change, samples))
        yield from itertools.islice(enumerate(changes), given.start, stop, given.every)
        return
    for number in range(given.start, stop):
        rng = random.Random(f"{given.seed}-{number}")
        yield number, damage(rng.choice(samples), samples, rng)


def work(given):
    """Fuzz the files start, …, start + count − 1; print each number before, each result after."""
    folder = pathlib.Path(given.work)
    import colk
    from colk.errors import FileFormatError

    faulthandler.enable()
    os.fsync = lambda _: None  # the test is not about the disk
    warnings.simplefilter("ignore")
    samples = [path.read_bytes() for path in sorted(folder.iterdir())]
    scratch = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
    for data in samples:  # loads every module that loading needs
        (scratch / "file").write_bytes(data)
        model = colk.load(scratch / "file", terms=own_terms())
        repr(model)
        use(model, scratch)
    watch = AuditHook()
    for number, data in damaged(samples, given):
        (scratch / "file").write_bytes(data)
        print("at", number, flush=True)
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        bound(len(data))
        said = "refused"
        try:
            watch.active = True
            model = colk.load(scratch / "file", terms=own_terms())
            watch.active, said = False, "loaded"
            use(model, scratch)
        except (FileFormatError, LookupError, MemoryError) as error:
            is_large = isinstance(error, MemoryError) and not given.structure
            fault = None if said == "refused" or is_large else repr(error)
        except (ValueError, ArithmeticError) as error:
            fault = repr(error) if said == "refused" else None
        except Exception as error:
            # Parameters of scikit-learn's classes may not fit the data.
            is_pipeline = said == "loaded" and type(model).__name__ == "Pipeline"
            fault = None if is_pipeline else repr(error)
        else:
            fault = None
        watch.active = False
        faulthandler.cancel_dump_traceback_later()
        if fault or watch.seen:
            print("fault", number, said, fault, watch.seen[:3], flush=True)
            watch.seen.clear()
        if number % 100 == 0:
            gc.collect()  # damage may show when memory is freed
        print(said, number, flush=True)


def supervise(folder, given, start, tally, faults):
    """Run one worker; return the number of the first file that it did not load, None at the end."""
    count = given.start + given.count - start
    command = [sys.executable, "-m", "colk_lab.tables.fuzz_files", "--work", str(folder)]
    command += ["--seed", str(given.seed)]
    command += ["--start", str(start), "--count", str(count)]
    command += ["--every", str(given.every)] + ["--structure"] * given.structure
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment["LOKY_MAX_CPU_COUNT"] = "1"  # processes could not begin in bounded memory
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
        )
        at = start - 1
        for line in child.stdout:
            word, number, *rest = line.split(maxsplit=2)
            at = int(number)
            if word == "fault":
                faults.append(f"{number}: {''.join(rest).strip()}")
                print(faults[-1], flush=True)
            elif word != "at":
                tally[word] = tally.get(word, 0) + 1
                if sum(tally.values()) % 10_000 == 0:
                    print(f"{sum(tally.values())} files, {len(faults)} faults", flush=True)
        code = child.wait()
        if at < start:
            errors.seek(0)
            raise RuntimeError(f"the worker did not begin: {errors.read()[-2000:]}")
        if code != 0:
            errors.seek(0)
            faults.append(f"{at}: the process ended with {code}: {errors.read(1500)}")
            print(faults[-1], flush=True)
    return None if code == 0 else at + given.every


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=2000, help="number of files")
    parser.add_argument("--structure", action="store_true", help="change each part of pipelines")
    parser.add_argument("--every", type=int, default=1, help="change only every n-th of them")
    parser.add_argument("--part", default="0/1", help="which part of the pipelines, e.g. 0/4")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first file")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given)
        return 0
    began, tally, faults = time.perf_counter(), {}, []
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else None  # in memory, if possible
    with tempfile.TemporaryDirectory(dir=shared) as place:
        folder = pathlib.Path(place) / "corpus"
        folder.mkdir()
        part = map(int, given.part.split("/"))
        write_corpus(folder, fitted_pipelines(*part) if given.structure else corpus())
        at = given.start
        while at is not None and len(faults) < 20:
            at = supervise(folder, given, at, tally, faults)
    seconds = time.perf_counter() - began
    print(
        f"{sum(tally.values())} files: {tally.get('refused', 0)} refused, "
        f"{tally.get('loaded', 0)} loaded, {len(faults)} faults, {seconds:.0f} s"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
