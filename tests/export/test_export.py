"""Exported models agree with the originals, in onnxruntime and in plain Python."""

import json
import subprocess
import sys

import numpy as np
import onnxruntime
import pytest
from every_kernel import EVERY_KERNEL, missing
from sklearn.decomposition import PCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR

from colk import (
    COLK,
    COLKClassifier,
    COLKQuantileRegressor,
    COLKRegressor,
    KernelCompressor,
    KernelExpansion,
    from_sklearn,
    river,
    rl,
)
from colk.export import register_converters, to_onnx, to_python
from colk.kernels import (
    CustomKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Mahalanobis,
)
from colk.learners import BSGD, NASA, SCGD, DoublySGD, RandomFeatureSGD
from colk.losses import Softmax
from colk.rkhs.features import RandomFourierFeatures, RBFNetwork

pytestmark = pytest.mark.slow  # interpreters and runtimes are started

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.1 * RNG.normal(size=120)
LABELS = np.array(["low", "middle", "high"])[(Y > 0.0) * 1 + (Y > 0.6)]
NEW = RNG.normal(size=(40, 3))


def by_onnx(model, points):
    """The outputs of the graph, by name."""
    graph = to_onnx(model)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    assert {node.domain for node in graph.graph.node} == {""}  # no operators of anybody's own
    return dict(zip(names, session.run(names, {"X": points}), strict=True))


def by_python(model, points, folder):
    """Predictions of the exported source in an interpreter without packages."""
    (folder / "exported.py").write_text(to_python(model), encoding="utf-8")
    code = (
        "import json, sys\n"
        f"sys.path.insert(0, {str(folder)!r})\n"
        "import exported\n"
        "points = json.load(sys.stdin)\n"
        "chances = exported.predict_proba(points) if hasattr(exported, 'predict_proba') else None\n"
        "print(json.dumps([exported.predict(points), exported.scores(points), chances]))\n"
        "assert 'numpy' not in sys.modules\n"
    )
    found = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        input=json.dumps(points.tolist()),
        capture_output=True,
        text=True,
        check=True,
    )
    return [None if part is None else np.array(part) for part in json.loads(found.stdout)]


def by_numpy(model, points):
    module = {}
    exec(to_python(model, numpy=True), module)
    chances = module["predict_proba"](points) if "predict_proba" in module else None
    return module["predict"](points), module["scores"](points), chances


def close(found, expected):
    """Whether all numbers agree to 1e-12 of the largest."""
    assert np.shape(found) == np.shape(expected)
    scale = np.abs(expected).max()
    return bool((np.abs(found - expected) <= 1e-12 * scale).all())


def test_every_kernel_is_tried():
    assert missing(EVERY_KERNEL) == []


@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=repr)
def test_every_kernel(kernel, tmp_path):
    f = KernelExpansion(kernel, kernel.points(X[:20]), RNG.normal(size=(20, 2)))
    assert close(by_onnx(f, NEW)["values"], f(NEW))
    assert close(by_numpy(f, NEW)[0], f(NEW))
    assert close(by_python(f, NEW, tmp_path)[0], f(NEW))


FEATURES = RBFNetwork(9, 0.5, (-2.0,) * 3, (2.0,) * 3)
IN_METRIC = Mahalanobis(Gaussian(1.0), [[1.0, 0.5], [0.0, -1.0], [0.3, 0.2]])
VALUES = {
    "function": lambda: (KernelExpansion(Gaussian(1.0), X[:5], Y[:5]), "__call__"),
    "one atom": lambda: (KernelExpansion(0.3 * Linear(), X[:1], Y[:1]), "__call__"),
    "no atom": lambda: (KernelExpansion.zero(Gaussian(1.0), 3), "__call__"),
    "no atom in a metric": lambda: (KernelExpansion.zero(IN_METRIC, 3), "__call__"),
    "regressor in a metric": lambda: (
        COLKRegressor(kernel=IN_METRIC, standardize=True).fit(9.0 * X, Y),
        "predict",
    ),
    "DoublySGD in a metric": lambda: (DoublySGD(IN_METRIC).learn(X, Y), "predict"),
    "pipeline in a metric": lambda: (
        make_pipeline(StandardScaler(), COLKRegressor(kernel=IN_METRIC)).fit(100.0 * X, Y),
        "predict",
    ),
    "SVR": lambda: (from_sklearn(SVR().fit(X, Y)), "__call__"),
    "KernelRidge": lambda: (
        from_sklearn(KernelRidge(kernel="rbf").fit(X, np.column_stack([Y, -Y]))),
        "__call__",
    ),
    "COLK": lambda: (COLK(Gaussian(1.0)).learn(X, Y), "predict"),
    "BSGD": lambda: (
        BSGD(Laplacian(1.0), max_atoms=9, maintenance="removal").learn(X, Y),
        "predict",
    ),
    "softmax learner": lambda: (
        COLK(Gaussian(1.0), Softmax(), n_outputs=2).learn(X, (Y > 0.0) * 1.0),
        "predict",
    ),
    "SCGD": lambda: (SCGD(FEATURES).learn(X, Y), "predict"),
    "NASA": lambda: (NASA(RandomFourierFeatures(Gaussian(1.0), 9)).learn(X, Y), "predict"),
    "DoublySGD": lambda: (DoublySGD(Gaussian(1.0)).learn(X, Y), "predict"),
    "RandomFeatureSGD": lambda: (RandomFeatureSGD(Gaussian(1.0)).learn(X, Y), "predict"),
    "PolicyEvaluator": lambda: (
        rl.PolicyEvaluator(Gaussian(1.0), 0.9).learn(X[:-1], Y[:-1], X[1:]),
        "value",
    ),
    "COLKRegressor": lambda: (COLKRegressor().fit(X, 1e6 + 1e5 * Y), "predict"),
    "COLKRegressor of two": lambda: (
        COLKRegressor(kernel="matern").fit(X, np.column_stack([Y, 1e6 * Y])),
        "predict",
    ),
    "COLKQuantileRegressor": lambda: (
        COLKQuantileRegressor((0.1, 0.4, 0.5, 0.6, 0.9)).fit(X, 1e6 + 1e5 * Y),
        "predict",
    ),
    "pipeline of quantiles": lambda: (
        make_pipeline(StandardScaler(), COLKQuantileRegressor((0.2, 0.8))).fit(9.0 * X, Y),
        "predict",
    ),
    "KernelCompressor": lambda: (KernelCompressor(SVR(), max_atoms=20).fit(X, Y), "predict"),
    "pipeline": lambda: (
        make_pipeline(StandardScaler(), COLKRegressor()).fit(100.0 * X, Y),
        "predict",
    ),
    "pipeline of two": lambda: (
        make_pipeline(
            MinMaxScaler(), StandardScaler(with_mean=False), COLKRegressor(kernel=0.3 * Linear())
        ).fit(100.0 * X, np.column_stack([Y, -Y])),
        "predict",
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name, tmp_path):
    model, predict = VALUES[name]()
    expected = getattr(model, predict)(NEW)
    if not expected.any():
        assert not by_onnx(model, NEW)["values"].any()
        assert not np.any(by_python(model, NEW, tmp_path)[0])
        return
    assert close(by_onnx(model, NEW)["values"], expected)
    assert close(by_numpy(model, NEW)[0], expected)
    assert close(by_python(model, NEW, tmp_path)[0], expected)


CLASSIFIERS = {
    "two texts": lambda: COLKClassifier().fit(X, np.where(Y > 0.0, "yes", "no")),
    "two numbers": lambda: COLKClassifier(loss="softmax").fit(X, (Y > 0.0) * 7),
    "truth": lambda: COLKClassifier(loss="hinge").fit(X, Y > 0.0),
    "three texts": lambda: COLKClassifier(kernel="gaussian").fit(X, LABELS),
    "three against the rest": lambda: COLKClassifier(loss="squared_hinge").fit(X, LABELS),
    "numbers": lambda: COLKClassifier().fit(X, (Y > 0.0) * 2.0 + (Y > 0.6)),
    "pipeline": lambda: make_pipeline(StandardScaler(), COLKClassifier()).fit(9.0 * X, LABELS),
    "pipeline by margin": lambda: make_pipeline(StandardScaler(), COLKClassifier(loss="hinge")).fit(
        9.0 * X, Y > 0.0
    ),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes(name, tmp_path):
    model = CLASSIFIERS[name]()
    labels, graph = model.predict(NEW), by_onnx(model, NEW)
    np.testing.assert_array_equal(graph["labels"], labels)
    found = [by_numpy(model, NEW), by_python(model, NEW, tmp_path)]
    for predicted, _, _ in found:
        np.testing.assert_array_equal(predicted, labels)
    if hasattr(model, "predict_proba"):
        expected = model.predict_proba(NEW)
        assert close(graph["probabilities"], expected)
        assert all(close(chances, expected) for _, _, chances in found)
    else:
        expected = model.decision_function(NEW).reshape(len(NEW), -1)
        assert close(graph["scores"], expected)
        assert all(close(scores, expected) for _, scores, _ in found)


@pytest.mark.parametrize("targets", [Y, LABELS], ids=["regression", "classes"])
def test_river(targets, tmp_path):
    classes = targets is LABELS
    model = river.COLKClassifier() if classes else river.COLKRegressor()
    rows = [dict(zip("abc", x, strict=True)) for x in X.tolist()]
    for row, y in zip(rows, targets.tolist(), strict=True):
        model.learn_one(row, y)
    new = [dict(zip("abc", x, strict=True)) for x in NEW.tolist()]
    expected = np.array([model.predict_one(row) for row in new])
    graph, plain = by_onnx(model, NEW), by_python(model, NEW, tmp_path)
    assert "['a', 'b', 'c']" in to_python(model)
    if not classes:
        assert close(graph["values"], expected)
        assert close(plain[0], expected)
        return
    np.testing.assert_array_equal(graph["labels"], expected)
    np.testing.assert_array_equal(plain[0], expected)
    chances = [model.predict_proba_one(row) for row in new]
    listed = np.array([[chance[label] for label in model._places] for chance in chances])
    assert close(graph["probabilities"], listed)
    assert close(plain[2], listed)


def test_a_pipeline_with_other_steps_is_converted_by_skl2onnx():
    model = make_pipeline(StandardScaler(), PCA(2), COLKRegressor()).fit(X, Y)
    assert close(by_onnx(model, NEW)["values"], model.predict(NEW))
    with pytest.raises(TypeError, match="a pipeline with PCA cannot be exported"):
        to_python(model)


def test_skl2onnx_knows_the_estimators():
    from skl2onnx import to_onnx as convert

    register_converters()
    model = make_pipeline(StandardScaler(), COLKRegressor()).fit(X, Y)
    session = onnxruntime.InferenceSession(convert(model, X[:1]).SerializeToString())
    (found,) = session.run(None, {"X": NEW})
    assert close(found[:, 0], model.predict(NEW))


def test_a_compressed_classifier():
    model = KernelCompressor(SVC(), max_atoms=30).fit(X, LABELS == "low")
    graph = by_onnx(model, NEW)
    np.testing.assert_array_equal(graph["labels"], model.predict(NEW))
    assert close(graph["scores"][:, 0], model.decision_function(NEW))


@pytest.mark.parametrize("ties", [False, True])
def test_a_compressed_classifier_of_several_classes_votes(ties, tmp_path):
    labels = np.array(list("abcd"))[np.digitize(Y, [-0.5, 0.0, 0.5])]
    machine = SVC(break_ties=ties, decision_function_shape="ovo" if not ties else "ovr")
    model = KernelCompressor(machine, max_atoms=60).fit(X, labels)
    points = np.vstack([NEW, X])
    expected = model.predict(points)
    graph = by_onnx(model, points)
    np.testing.assert_array_equal(graph["labels"], expected)
    np.testing.assert_array_equal(by_numpy(model, points)[0], expected)
    np.testing.assert_array_equal(by_python(model, points, tmp_path)[0], expected)
    assert graph["scores"].shape == (len(points), 6)
    if not ties:
        assert close(graph["scores"], model.decision_function(points))


def test_a_point_of_other_features_is_refused():
    module = {}
    exec(to_python(KernelExpansion(Linear(), [[1.0, 2.0]], [1.0])), module)
    with pytest.raises(ValueError, match="a point must have 2 features, got 3"):
        module["predict"]([[1.0, 2.0, 3.0]])


def test_labels_are_no_code():
    labels = np.where(Y > 0.0, "'); raise SystemExit(1) #", "\n")
    module = {}
    exec(to_python(COLKClassifier().fit(X, labels)), module)
    assert set(module["predict"](NEW.tolist())) <= set(labels)


class Smallest(Kernel):
    def columns(self, atoms, n, points, size, out, first):
        out[first : first + size, :n] = 1.0


@pytest.mark.parametrize("export", [to_onnx, to_python])
@pytest.mark.parametrize("own", [Smallest(), CustomKernel(lambda u, v: 1.0)], ids=["class", "def"])
def test_a_kernel_of_your_own_is_refused(export, own):
    f = KernelExpansion(2.0 * own + Linear(), [[1.0]], [1.0])
    with pytest.raises(
        TypeError,
        match=r"has no formula, so it cannot be exported|cannot be exported: .* has no function_of",
    ):
        export(f)


@pytest.mark.parametrize("export", [to_onnx, to_python])
def test_what_has_learned_nothing_is_refused(export):
    with pytest.raises(ValueError, match="has not seen a sample yet"):
        export(COLK(Gaussian(1.0)))
    with pytest.raises(TypeError, match="a list cannot be exported"):
        export([1.0])
