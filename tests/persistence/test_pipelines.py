"""Pipelines of scikit-learn's transformers: stored whole, or refused before a file is written."""

import json
import struct
import warnings
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import MiniBatchKMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_classif, f_regression
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.utils.discovery import all_estimators
from tampering import attributes, parts, write

import colk
from colk import COLKClassifier, COLKRegressor, FileFormatError
from colk.kernels import Gaussian
from colk_lab.tables.steps import DATA, GAPS, LABELS, MIXED, WORDS, X, Y, fitted, mixed_columns


def regressor():
    return COLKRegressor(kernel=Gaussian(1.0), max_atoms=10, epochs=1, random_state=0)


def classifier():
    return COLKClassifier(kernel=Gaussian(1.0), eps=0.0, max_atoms=10, epochs=1, random_state=0)


TRANSFORMERS = {
    "SimpleImputer": (lambda: SimpleImputer(strategy="median", add_indicator=True), GAPS),
    "KNNImputer": (lambda: KNNImputer(n_neighbors=3), GAPS),
    "RobustScaler": (RobustScaler, X),
    "MinMaxScaler": (MinMaxScaler, X),
    "QuantileTransformer": (lambda: QuantileTransformer(n_quantiles=20, random_state=0), X),
    "PCA": (lambda: PCA(2, random_state=0), X),
    "TruncatedSVD": (lambda: TruncatedSVD(2), X),
    "PolynomialFeatures": (PolynomialFeatures, X),
    "OneHotEncoder": (lambda: OneHotEncoder(sparse_output=False, max_categories=2), WORDS),
    "OrdinalEncoder": (lambda: OrdinalEncoder(dtype=np.float32), WORDS),
    "TargetEncoder": (TargetEncoder, WORDS),
    "ColumnTransformer": (mixed_columns, MIXED),
    "FeatureUnion": (lambda: FeatureUnion([("pca", PCA(2)), ("scaled", MinMaxScaler())]), X),
    "SelectKBest": (lambda: SelectKBest(f_regression, k=2), X),
    "SelectFromModel": (lambda: SelectFromModel(Ridge()), X),
}


@pytest.mark.each_value
@pytest.mark.filterwarnings("ignore:one value in all rows")  # PolynomialFeatures adds ones
@pytest.mark.parametrize("name", TRANSFORMERS)
@pytest.mark.parametrize(("make", "targets"), [(regressor, Y), (classifier, LABELS)])
def test_predictions_are_the_same_after_loading(name, make, targets, tmp_path):
    transformer, data = TRANSFORMERS[name][0](), TRANSFORMERS[name][1]
    if make is classifier and name in ("SelectKBest", "SelectFromModel"):
        transformer = SelectKBest(f_classif, k=2)
    model = Pipeline([("first", transformer), ("model", make())]).fit(data, targets)
    colk.save(model, tmp_path / "m")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twin = colk.load(tmp_path / "m")
    np.testing.assert_array_equal(twin.predict(data), model.predict(data))
    assert repr(twin) == repr(model)
    twin.fit(data, targets)  # parameters are there and valid
    before = (tmp_path / "m").read_bytes()
    colk.save(colk.load(tmp_path / "m"), tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before


@pytest.mark.parametrize("kind", [IncrementalPCA, MinMaxScaler, MiniBatchKMeans, StandardScaler])
def test_steps_that_learned_in_batches_continue_after_loading(kind, tmp_path):
    step = kind().partial_fit(X[:60]).partial_fit(X[60:])
    model = Pipeline([("first", step), ("model", regressor().fit(step.transform(X), Y))])
    colk.save(model, tmp_path / "m")
    twin = colk.load(tmp_path / "m")
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    results = [one.partial_fit(X[:30]).transform(X) for one in (step, twin[0])]
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_columns_of_a_data_frame_are_stored(output, tmp_path):
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "word": WORDS[:, 0], "text": DATA["texts"]})
    columns = ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["a"]),
            ("words", OneHotEncoder(sparse_output=False), np.array(["word"])),
            ("texts", "drop", "text"),
            ("slice", MinMaxScaler(), slice(0, 2)),
        ],
        n_jobs=1,
    )
    model = Pipeline([("first", columns.set_output(transform=output)), ("model", regressor())])
    model.fit(frame, Y)
    colk.save(model, tmp_path / "m")
    np.testing.assert_array_equal(colk.load(tmp_path / "m").predict(frame), model.predict(frame))


class Doubled(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return 2.0 * X


@pytest.mark.parametrize(
    ("transformer", "message"),
    [
        (FunctionTransformer(np.log1p), r"step 'prepare': attribute 'func'"),
        (FunctionTransformer(lambda X: X), r"step 'prepare': attribute 'func'"),
        (Doubled(), r"step 'prepare': .*Doubled"),
        (SelectKBest(lambda X, y: np.ones(X.shape[1]), k=2), r"step 'prepare': .*'score_func'"),
        (FeatureUnion([("mine", Doubled())]), r"step 'prepare': step 'mine': .*Doubled"),
        (PCA(2).set_params(random_state=np.random.default_rng(0)), "Generator"),
    ],
    ids=["ufunc", "lambda", "own class", "own score", "nested", "generator"],
)
def test_a_step_that_cannot_be_stored_is_named_when_saving(transformer, message, tmp_path):
    model = Pipeline([("prepare", transformer), ("model", regressor())])
    if "Generator" not in message:
        model.fit(np.abs(X), Y)
    colk.save(regressor(), tmp_path / "m")
    before = (tmp_path / "m").read_bytes()
    with pytest.raises(TypeError, match=message):
        colk.save(model, tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_a_cache_is_refused(tmp_path):
    model = Pipeline([("scale", StandardScaler()), ("model", regressor())], memory=str(tmp_path))
    with pytest.raises(TypeError, match="memory=None"):
        colk.save(model, tmp_path / "m")


# Their state is not checked: it has trees, functions and other objects, compiled code trusts it, or
# `transform` iterates for as long as the state says.
REFUSED = (
    "BernoulliRBM", "Birch", "BisectingKMeans", "CCA", "DictionaryLearning", "Isomap",
    "IsotonicRegression", "KNeighborsTransformer", "LabelBinarizer", "LabelEncoder",
    "LatentDirichletAllocation", "LocallyLinearEmbedding", "MiniBatchDictionaryLearning",
    "MiniBatchNMF", "MiniBatchSparsePCA", "MultiLabelBinarizer", "NMF", "PLSCanonical",
    "PLSRegression", "PLSSVD", "PatchExtractor",
    "RadiusNeighborsTransformer", "RandomTreesEmbedding", "SparseCoder", "SparsePCA",
    "StackingClassifier", "StackingRegressor", "TSNE", "VotingClassifier", "VotingRegressor",
)  # fmt: skip


@pytest.mark.parametrize("kind", [kind for _, kind in all_estimators("transformer")])
def test_every_transformer_is_stored_exactly_or_refused(kind, tmp_path):
    transformer, data = fitted(kind)
    model = Pipeline([("first", transformer), ("model", regressor())])
    path = tmp_path / "m"
    if kind.__name__ in REFUSED:
        with pytest.raises(TypeError, match="step 'first'"):
            colk.save(model, path)
        assert not path.exists()
        return
    colk.save(model, path)
    twin = colk.load(path)
    before = path.read_bytes()
    colk.save(twin, path)
    assert path.read_bytes() == before
    assert vars(twin[0]).keys() == vars(transformer).keys()
    results = []
    # Products round differently if rows lie apart in memory, as in a part of a larger matrix.
    for one in (deepcopy(transformer), twin[0]):
        np.random.seed(0)  # noqa: NPY002  # some draw from the global generator
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = one.transform(data)
        results.append(result.toarray() if hasattr(result, "toarray") else result)
    np.testing.assert_array_equal(*results)


# -- files that lie ------------------------------------------------------------------------------


def pipeline(folder, transformer=None):
    model = make_pipeline(transformer or StandardScaler(), regressor()).fit(X, Y)
    return parts(model, folder)


@pytest.mark.parametrize(
    "tag",
    [
        "sklearn.svm.SVR",
        "sklearn.ensemble.RandomForestRegressor",
        "sklearn.utils.Bunch",
        "sklearn.preprocessing._data.StandardScaler",
        "sklearn.preprocessing.scale",
        "sklearn.externals.joblib",
        "sklearn.datasets.load_files",
        "sklearn..os.system",
        "os.system",
    ],
)
def test_only_public_classes_of_some_modules_are_made(tag, tmp_path):
    header, arrays = pipeline(tmp_path)
    dict(header["model"]["attributes"]["items"])["steps"][0]["items"][1]["is"] = tag
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize(
    "item",
    [
        ["transform", 1.0],
        ["fit", {"is": "function", "name": "sklearn.feature_selection.chi2"}],
        ["__class__", "x"],
        ["__dict__", {"is": "dict", "items": []}],
        ["memory", "/tmp"],
        ["n_features_in_", {"is": "function", "name": "sklearn.utils.os.system"}],
        [3, 1.0],
        ["n_samples_seen_", {"is": "slice", "start": "a", "stop": None, "step": None}],
        ["n_samples_seen_", {"is": "dtype", "name": "V8,(2)O"}],
        ["n_samples_seen_", {"is": "type", "name": "subprocess.Popen"}],
    ],
    ids=str,
)
def test_attributes_are_plain_and_hide_no_method(item, tmp_path):
    header, arrays = pipeline(tmp_path)
    attributes(header).append(item)
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))


def test_a_parameter_that_is_missing_is_named(tmp_path):
    header, arrays = pipeline(tmp_path)
    items = attributes(header)
    items[:] = [item for item in items if item[0] != "with_mean"]
    with pytest.raises(FileFormatError, match="with_mean"):
        colk.load(write(header, arrays, tmp_path))


def test_steps_are_names_and_estimators(tmp_path):
    header, arrays = pipeline(tmp_path)
    dict(header["model"]["attributes"]["items"])["steps"][0]["items"][1] = "os.system"
    with pytest.raises(FileFormatError, match="not an estimator"):
        colk.load(write(header, arrays, tmp_path))


def test_sparse_matrices_have_indices_within_bounds(tmp_path):
    """Compiled code of SciPy reads there without a check."""
    from sklearn.random_projection import SparseRandomProjection

    header, arrays = pipeline(tmp_path, SparseRandomProjection(3, random_state=0))
    matrix = dict(attributes(header))["components_"]
    arrays[matrix["indices"]["array"]][0] = 10**6
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))


def test_another_version_of_scikit_learn_is_warned_of(tmp_path):
    header, arrays = pipeline(tmp_path)
    assert header["scikit-learn"] == sklearn.__version__
    header["scikit-learn"] = "0.1"
    with pytest.warns(InconsistentVersionWarning, match=r"version 0\.1"):
        colk.load(write(header, arrays, tmp_path))


def test_the_header_names_every_class(tmp_path):
    colk.save(make_pipeline(MinMaxScaler(), regressor()).fit(X, Y), tmp_path / "m")
    data = (tmp_path / "m").read_bytes()
    (length,) = struct.unpack_from("<Q", data, 8)
    header = json.loads(data[24 : 24 + length])
    assert header["class"] == "sklearn.pipeline.Pipeline"


def test_what_was_written_is_read_back_before_the_old_file_is_replaced(tmp_path, monkeypatch):
    """A class whose file cannot be loaded leaves the old file."""
    colk.save(regressor(), tmp_path / "m")
    before = (tmp_path / "m").read_bytes()
    model = Pipeline([("scale", StandardScaler()), ("model", regressor())])
    with monkeypatch.context() as patch:
        patch.setattr("colk.persistence.tree.Decoder._object", _unknown)
        with pytest.raises(FileFormatError, match="sklearn"):
            colk.save(model, tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    colk.save(model, tmp_path / "m")
    assert repr(colk.load(tmp_path / "m")) == repr(model)


def _unknown(self, tag, tree, depth):
    raise FileFormatError(tag)
