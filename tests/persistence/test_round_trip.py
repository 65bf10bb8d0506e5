"""Files store every model, and a loaded model continues bit for bit."""

import inspect
import io
import json
import pickle
import struct
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import joblib
import numpy as np
import pytest
from cases import CASES, LABELS, SEEN, TERMS, X, Y
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR

import colk
from colk import COLK, KernelCompressor, KernelExpansion, estimators, from_sklearn, learners, rl
from colk import river as river_classes
from colk.compressors import KOMP, Growing, Removal
from colk.kernels import KERNELS, Gaussian, Linear, Polynomial
from colk.learners import BSGD, NewtonCOLK
from colk.losses import LOSSES
from colk.persistence import trusted_types
from colk.persistence._fitted import STATES
from colk.persistence.trusted import is_model
from colk.risks import RISKS
from colk.schedules import PolyakRuppert, PowerDecay
from colk.trackers import TRACKERS

RNG = np.random.default_rng(1)
DATA = Path(__file__).parent / "data"
DOCUMENT = Path(__file__).parents[2] / "docs" / "files.md"


def stored(model, folder):
    """The bytes of a model's file: equal bytes, equal models."""
    path = folder / "bytes.colk"
    colk.save(model, path)
    return path.read_bytes()


def by_skops(model):
    import skops.io  # slow: it looks for the module of each of 800 types

    data = skops.io.dumps(model)
    return skops.io.loads(data, trusted=trusted_types())


def by_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def by_file(model, folder):
    colk.save(model, folder / "model.colk")
    return colk.load(str(folder / "model.colk"), terms=TERMS)


@pytest.mark.parametrize("name", CASES)
def test_learning_goes_on_bit_for_bit(name, tmp_path):
    make, learn = CASES[name]
    empty = make()
    assert stored(by_file(empty, tmp_path), tmp_path) == stored(empty, tmp_path)
    model = learn(make(), slice(0, SEEN))
    before = stored(model, tmp_path)
    twin = by_file(model, tmp_path)
    assert type(twin) is type(model)
    assert stored(twin, tmp_path) == before
    learn(twin, slice(SEEN, None))
    assert stored(model, tmp_path) == before  # nothing is shared
    learn(model, slice(SEEN, None))
    after = stored(model, tmp_path)
    assert after != before
    assert stored(twin, tmp_path) == after


def _fed(model, points, targets):
    for x, y in zip(points.tolist(), targets.tolist(), strict=True):
        model.learn_one({"a": x[0], "b": x[1]}, y)


@pytest.mark.parametrize(
    ("make", "learn"),
    [
        (colk.COLKRegressor, colk.COLKRegressor.partial_fit),
        (colk.COLKQuantileRegressor, colk.COLKQuantileRegressor.partial_fit),
        (river_classes.COLKRegressor, _fed),
        (river_classes.COLKQuantileRegressor, _fed),
    ],
    ids=["COLKRegressor", "COLKQuantileRegressor", "river.COLKRegressor", "river.Quantile"],
)
def test_samples_that_are_kept_still_choose_the_kernel(make, learn, tmp_path):
    """480 samples before the first file, the choice of the kernel after it, then another file."""
    points = np.random.default_rng(5).normal(size=(600, 2))
    targets = np.sin(3.0 * points[:, 0])
    model = make()
    learn(model, points[:480], targets[:480])
    twin = by_file(model, tmp_path)
    for rows in (slice(480, 540), slice(540, 600)):
        for one in (model, twin):
            learn(one, points[rows], targets[rows])
        assert stored(twin, tmp_path) == stored(model, tmp_path)
        twin = by_file(twin, tmp_path)
    race, known = (one.race if learn is _fed else one.race_ for one in (twin, model))
    assert race.winner.scaled
    assert not race.default_won
    assert str(race) == str(known)


def test_a_feature_that_comes_after_the_choice_is_learned_on(tmp_path):
    points = np.random.default_rng(5).normal(size=(600, 2))
    model = river_classes.COLKRegressor()
    _fed(model, points[:520], np.sin(3.0 * points[:520, 0]))
    twin = by_file(model, tmp_path)
    for one in (model, twin):
        for x in points[520:].tolist():
            one.learn_one({"a": x[0], "b": x[1], "c": 1.0}, x[0])
    assert stored(twin, tmp_path) == stored(model, tmp_path)
    assert len(by_file(twin, tmp_path).function.kernel.bandwidth) == 3


def test_what_fit_found_is_kept(tmp_path):
    model = colk.COLKRegressor(random_state=0).fit(X, Y)
    twin = by_file(model, tmp_path)
    assert twin.polished_ == model.polished_
    assert str(twin.race_) == str(model.race_)
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))


@pytest.mark.each_value
@pytest.mark.parametrize("copied", [by_joblib, by_skops])
@pytest.mark.parametrize(
    "name", [name for name in CASES if " " not in name and name != "ConditionalCOLK"]
)
def test_other_ways_of_storing_go_on_as_well(name, copied, tmp_path):
    make, learn = CASES[name]
    model = learn(make(), slice(0, SEEN))
    twin = copied(model)
    assert stored(learn(twin, slice(SEEN, None)), tmp_path) == stored(
        learn(model, slice(SEEN, None)), tmp_path
    )


def document(text):
    """The document with the lists of steps and of types as they must be."""
    homes = {}
    for key in STATES:
        home, _, name = key.rpartition(".")
        homes.setdefault(home, []).append(f"`{name}`")
    rows = [f"| `{home}` | {', '.join(sorted(homes[home]))} |" for home in sorted(homes)]
    table = "\n".join(["| module | classes |", "| --- | --- |", *rows])
    before, _, rest = text.partition("<!-- steps -->\n")
    after = rest[rest.index("\n\n") :]
    text = f"{before}<!-- steps -->\n{table}{after}"
    start = text.index("<!-- trusted -->")
    listed = "\n".join(trusted_types())
    return text[:start] + f"<!-- trusted -->\n```text\n{listed}\n```\n"


def test_the_document_lists_every_step_and_every_type_that_skops_must_trust():
    """Run this file to write the lists anew."""
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == document(text)


def test_types_that_are_trusted_are_found_where_they_are():
    for name in trusted_types():
        home, _, kind = name.rpartition(".")
        assert getattr(import_module(home), kind).__module__ == home


def test_files_hold_every_public_class():
    found = [getattr(learners, name) for name in learners.__all__]
    found += [getattr(rl, name) for name in rl.__all__]
    found = [
        kind
        for kind in found
        if inspect.isclass(kind)
        and hasattr(kind, "learn")
        and not inspect.isabstract(kind)
        and kind is not rl.ValueLearner
    ]
    names = {kind.__name__ for kind in found}
    names |= {name for name in estimators.__all__ if hasattr(getattr(estimators, name), "fit")}
    names |= {
        f"river.{name}"
        for name in river_classes.__all__
        if hasattr(getattr(river_classes, name), "learn_one")
    }
    names |= {"ConformalRegressor"}
    assert all(is_model(name) for name in names)
    assert names - {"KernelCompressor"} <= {name.split(" ")[0] for name in CASES}


@pytest.mark.parametrize(
    "term",
    [
        *(kind(0.5) if "bandwidth" in kind._fields else None for kind in KERNELS.values()),
        Polynomial(3, 0.5),
        Gaussian((0.5, 2.0)) * Linear() + 0.25 * Polynomial(2),
        *(kind() for registry in (LOSSES, RISKS, TRACKERS) for kind in registry.values()),
        KOMP(parsimony=5.0, max_atoms=7),
        Growing(Removal(5), 0.5, 100, 3),
        PolyakRuppert(burn_in=3, growth=2.0),
        PowerDecay(0.5, 0.75, 3.0),
    ],
    ids=repr,
)
def test_every_term_reads_back(term, tmp_path):
    if term is None:
        return
    settings = {"kernel": Gaussian(0.5), "step_size": 0.1, "regularization": 1e-6}
    for name, parameter in inspect.signature(COLK).parameters.items():
        annotation = str(parameter.annotation)
        if any(kind.__name__ in annotation for kind in type(term).__mro__[:-1]):
            settings[name] = term
    if getattr(term, "kind", None) == "multiclass":
        settings["n_outputs"] = 3
    learner = COLK(**settings)
    assert term in vars(by_file(learner, tmp_path)).values()


def test_functions_take_little_more_than_their_arrays(tmp_path):
    f = KernelExpansion(Gaussian(1.0), RNG.random((1000, 20)), RNG.random(1000))
    colk.save(f, tmp_path / "f")
    assert (tmp_path / "f").stat().st_size <= 1.2 * (f.atoms.nbytes + f.weights.nbytes)
    assert colk.load(tmp_path / "f") == f


@pytest.mark.parametrize("path", sorted(DATA.glob("*.colk")), ids=lambda path: path.name)
def test_files_of_this_format_stay_readable(path):
    """Written once, by colk 0.1.0."""
    expected = json.loads((DATA / "expected.json").read_text())[path.name]
    model = colk.load(path)
    predict = next(
        getattr(model, name) for name in ("predict", "value", "__call__") if hasattr(model, name)
    )
    np.testing.assert_allclose(predict(np.array(expected["X"])), expected["y"], rtol=1e-12)


@pytest.mark.parametrize(
    ("machine", "targets"),
    [(SVR(), Y), (KernelRidge(kernel="rbf", gamma=2.0), np.column_stack([Y, -Y]))],
    ids=["SVR", "KernelRidge"],
)
def test_an_intercept_is_kept(machine, targets, tmp_path):
    f = from_sklearn(machine.fit(X, targets))
    twin = by_file(f, tmp_path)
    np.testing.assert_array_equal(twin(X), f(X))


def test_a_compressed_machine_is_kept_without_the_large_one(tmp_path):
    model = KernelCompressor(SVC(C=3.0), max_atoms=15).fit(X, Y > 0.0)
    twin = by_file(model, tmp_path)
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    assert twin.error_ == model.error_
    assert repr(twin) == repr(model)
    assert not hasattr(twin, "estimator_")


@pytest.mark.parametrize("machine", [SVC(), SVC(break_ties=True), colk.COLKClassifier()], ids=repr)
def test_a_compressed_machine_of_several_classes_is_kept(machine, tmp_path):
    model = KernelCompressor(machine, max_atoms=30).fit(X, LABELS)
    twin = by_file(model, tmp_path)
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))


def test_a_compressed_machine_that_was_frozen_is_kept(tmp_path):
    model = KernelCompressor(FrozenEstimator(SVC().fit(X, LABELS)), max_atoms=30).fit(X, LABELS)
    twin = by_file(model, tmp_path)
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    assert repr(twin) == repr(model)


def test_large_batches_are_loaded_from_the_first_sample_on(tmp_path):
    """Their buffers take 400 MB, which the size of the file must allow."""
    learner = COLK(Gaussian(0.2), batch_size=2000).learn(X[:3], Y[:3])
    colk.save(learner, tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 2 * 10**7
    assert stored(colk.load(tmp_path / "m"), tmp_path) == (tmp_path / "m").read_bytes()


def test_a_newton_learner_is_loaded_from_any_moment(tmp_path):
    """Up to 8 updates of the inverse curvature are pending; with 112 atoms and more all 8 occur."""
    rng = np.random.default_rng(11)
    points = rng.uniform(-3.0, 3.0, size=(700, 2))
    targets = np.sin(2.0 * points[:, 0]) * np.cos(2.0 * points[:, 1])
    learner = NewtonCOLK(Gaussian(0.3), compressor=KOMP(eps=1e-4)).learn(
        points[:300], targets[:300]
    )
    assert learner.n_atoms > 112
    pending, start = set(), 300
    for stop in (start + np.cumsum(rng.integers(1, 8, size=60))).tolist():
        learner.learn(points[start:stop], targets[start:stop])
        start = stop
        pending.add(learner.get_state()["stream"]["P"]["pending"])
        twin = by_file(learner, tmp_path)
        assert stored(twin, tmp_path) == stored(learner, tmp_path)
    assert pending == set(range(1, 9))
    twin.learn(points[start:], targets[start:])
    learner.learn(points[start:], targets[start:])
    np.testing.assert_array_equal(twin.predict(points), learner.predict(points))


def test_the_header_says_what_is_inside(tmp_path):
    colk.save(BSGD(Gaussian(0.5)).learn(X[:9], Y[:9]), tmp_path / "m")
    data = (tmp_path / "m").read_bytes()
    (length,) = struct.unpack_from("<Q", data, 8)
    header = json.loads(data[24 : 24 + length])
    assert header["class"] == "BSGD"
    assert header["library"] == colk.__version__
    assert header["version"] == 1
    assert header["model"]["n_features"] == 2


def test_pickles_of_what_was_loaded_work(tmp_path):
    make, learn = CASES["river.COLKClassifier"]
    twin = pickle.loads(pickle.dumps(by_file(learn(make(), slice(0, SEEN)), tmp_path)))
    assert set(twin.predict_proba_one({"first": 0.5})) <= {"low", "middle", "high"}


if __name__ == "__main__":
    DOCUMENT.write_text(document(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")


@pytest.mark.parametrize("name", ["COLKRegressor", "COLKClassifier", "COLKQuantileRegressor"])
def test_an_estimator_is_saved_in_a_process_that_imports_nothing_else(name, tmp_path):
    """A class is found by its module, which must be loaded whenever the class is."""
    program = f"""
import numpy as np
import colk

X = np.random.default_rng(0).normal(size=(60, 2))
model = colk.{name}(random_state=0).fit(X, X[:, 0] > 0.0)
colk.save(model, "model.colk")
assert np.array_equal(colk.load("model.colk").predict(X), model.predict(X))
"""
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
