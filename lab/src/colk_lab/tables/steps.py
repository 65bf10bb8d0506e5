"""Fitted transformers of scikit-learn, one of each class, and the data that they have seen."""

import inspect
import warnings

import numpy as np
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA, FastICA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectFromModel, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.utils.discovery import all_estimators

from colk import COLKClassifier, COLKRegressor
from colk.kernels import Gaussian
from colk.persistence.scikit_learn import tag_of

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 4))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=120)
LABELS = np.array(["no", "yes"])[(Y > 0.0) * 1]
GAPS = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
WORDS = np.array(["red", "green", "blue"], dtype=object)[RNG.integers(3, size=(120, 2))]
MIXED = np.column_stack([X[:, :2].astype(object), WORDS])


DATA = {
    "numbers": X - X.min(),
    "gaps": GAPS,
    "words": WORDS,
    "mixed": MIXED,
    "column": X[:, :1],
    "labels": WORDS[:, 0],
    "products": X @ X.T,
    "images": X.reshape(-1, 4, 4),
    "texts": [f"{a} {b}" for a, b in WORDS],
    "samples": [{"a": a, b: 1.0} for a, b in zip(X[:, 0].tolist(), WORDS[:, 0], strict=True)],
    "sets": [tuple(row) for row in WORDS],
}

_WANTED = {
    "texts": ("CountVectorizer", "TfidfVectorizer", "HashingVectorizer"),
    "samples": ("DictVectorizer", "FeatureHasher"),
    "labels": ("LabelBinarizer", "LabelEncoder"),
    "sets": ("MultiLabelBinarizer",),
    "words": ("OneHotEncoder", "OrdinalEncoder", "TargetEncoder"),
    "images": ("PatchExtractor",),
    "column": ("IsotonicRegression",),
    "products": ("KernelCenterer",),
    "gaps": ("MissingIndicator",),
}

_OF_CLASSES = ("LinearDiscriminantAnalysis", "NeighborhoodComponentsAnalysis", "LogisticRegression")


def wanted(kind):
    """Name of the data that a transformer can learn."""
    return next((data for data, names in _WANTED.items() if kind.__name__ in names), "numbers")


def unfitted(kind):
    """A transformer with small settings."""
    labels = "Classifier" in kind.__name__ or kind.__name__ in _OF_CLASSES
    machine = LogisticRegression if labels else Ridge
    given = {
        "estimator": machine(),
        "estimators": [("first", machine()), ("other", machine(tol=1e-3))],
        "transformers": [("all", MinMaxScaler(), [0, 1])],
        "transformer_list": [("all", MinMaxScaler())],
        "steps": [("scale", MinMaxScaler())],
        "dictionary": X[:2],
        "patch_size": (2, 2),
        "n_components": 1 if labels or "cross_decomposition" in kind.__module__ else 2,
        "score_func": f_regression,
        "n_clusters": 3,
        "n_quantiles": 10,
        "n_estimators": 2,
        "n_features": 16,  # of hashes
    }
    accepted = inspect.signature(kind).parameters
    return kind(**{name: value for name, value in given.items() if name in accepted})


def fitted(kind):
    """A fitted transformer with small settings, and the data that it has seen."""
    model, data = unfitted(kind), DATA[wanted(kind)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind.__name__ in ("LabelBinarizer", "LabelEncoder", "MultiLabelBinarizer"):
            return model.fit(data), data
        is_of_classes = "Classifier" in kind.__name__ or kind.__name__ in _OF_CLASSES
        return model.fit(data, LABELS if is_of_classes else Y), data


def mixed_columns():
    """A transformer of columns of several kinds."""
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), [0, 1]),
            ("words", OneHotEncoder(handle_unknown="ignore"), [2]),
            ("codes", OrdinalEncoder(), slice(3, 4)),
            ("dropped", "drop", [0]),
        ],
        remainder="passthrough",
    )


def _more_steps():
    """Yield transformers with other settings, whose state has other parts, and their data."""
    rare = {"max_categories": 2, "handle_unknown": "infrequent_if_exist"}
    yield OneHotEncoder(drop="first", **rare), "words"
    yield OneHotEncoder(sparse_output=False, drop="if_binary"), "numbers"
    yield (
        OrdinalEncoder(max_categories=2, handle_unknown="use_encoded_value", unknown_value=9),
        "words",
    )
    yield OrdinalEncoder(encoded_missing_value=-1.0), "gaps"
    yield TargetEncoder(target_type="multiclass"), "words"
    yield mixed_columns(), "mixed"
    yield SimpleImputer(add_indicator=True, strategy="most_frequent"), "gaps"
    yield KNNImputer(add_indicator=True), "gaps"
    yield KBinsDiscretizer(3, encode="ordinal", strategy="uniform"), "numbers"
    yield SplineTransformer(3, sparse_output=True, include_bias=False), "numbers"
    yield SplineTransformer(5, extrapolation="periodic"), "numbers"
    yield PolynomialFeatures((2, 3), interaction_only=True), "numbers"
    yield KernelPCA(2, kernel="rbf", fit_inverse_transform=True), "numbers"
    yield FastICA(whiten=False), "numbers"
    yield PCA(whiten=True), "numbers"
    yield LinearDiscriminantAnalysis(solver="eigen", store_covariance=True), "numbers"
    yield DictVectorizer(sparse=False), "samples"
    yield CountVectorizer(analyzer="char_wb", ngram_range=(1, 2), max_features=9), "texts"
    yield TfidfVectorizer(stop_words=["red"], vocabulary=["green", "blue"]), "texts"
    union = FeatureUnion([("counts", CountVectorizer()), ("tf-idf", TfidfVectorizer())])
    yield union, "texts"
    yield FrozenEstimator(StandardScaler().fit(X)), "numbers"
    for machine in (ElasticNet(1e-3), Lasso(1e-3), LinearRegression(), LogisticRegression()):
        yield SelectFromModel(machine), "numbers"


def _targets(step):
    if getattr(step, "target_type", None) == "multiclass":
        return WORDS[:, 1].astype(str)
    return LABELS if type(getattr(step, "estimator", step)).__name__ in _OF_CLASSES else Y


def fitted_pipelines(part=0, n_parts=1):
    """Yield a pipeline for each transformer that files may hold; its first step names its data."""
    steps = list(_more_steps())
    for _, kind in all_estimators("transformer"):
        if tag_of(unfitted(kind)) is not None:
            steps.append((unfitted(kind), wanted(kind)))
    given = {"kernel": Gaussian(1.0), "max_atoms": 5, "epochs": 1, "random_state": 0}
    for step, data in steps[part::n_parts]:
        targets = _targets(step)
        model = COLKRegressor(**given) if targets is Y else COLKClassifier(**given)
        yield _quietly(Pipeline([(data, step), ("model", model)]), DATA[data], targets)
    if part == 0:
        target = TransformedTargetRegressor(COLKRegressor(**given), transformer=StandardScaler())
        yield _quietly(Pipeline([("numbers", MinMaxScaler()), ("model", target)]), X, Y)


def _quietly(pipeline, data, targets):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pipeline.fit(data, targets)
