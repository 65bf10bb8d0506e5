"""Pipelines in files that lie: their state is refused before compiled code trusts it.

`python -m colk_lab.tables fuzz_files --structure pipelines` changes each part of each class.
"""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.impute import KNNImputer, MissingIndicator
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.random_projection import SparseRandomProjection
from tampering import attributes, parts, write

import colk
from colk import COLKRegressor, FileFormatError
from colk.kernels import Gaussian
from colk.persistence.scikit_learn import find_class, tag_of
from colk_lab.tables.steps import DATA, WORDS, Y

NUMBERS, TEXTS, SAMPLES = DATA["numbers"], DATA["texts"], DATA["samples"]
ROUNDED = np.round(NUMBERS)
INDICES = {"is": "dict", "items": [["blue", 0], ["green", 1], ["red", 2]]}


def fitted(step, data):
    model = COLKRegressor(kernel=Gaussian(1.0), max_atoms=5, epochs=1, random_state=0)
    return make_pipeline(step, model).fit(data, Y)


def numbered(*numbers):
    names = sorted(set(WORDS.reshape(-1)))
    return {"is": "dict", "items": [list(pair) for pair in zip(names, numbers, strict=True)]}


# A step, its data, the attribute that lies, and what it says.
LIES = {
    **{
        f"{kind.__name__} {numbers}": (kind(), TEXTS, "vocabulary_", numbered(*numbers))
        for kind in (CountVectorizer, TfidfVectorizer)
        for numbers in [(0, 1, 10**9), (0, 1, -(10**5)), (0, 1, 3), (0, 1, 1), (0, 1, 2.0)]
    },
    "feature of a dictionary": (
        DictVectorizer(),
        [{word: 1.0} for word in WORDS[:, 0]],
        "vocabulary_",
        numbered(0, 1, 10**9),
    ),
    "no hashes": (HashingVectorizer(n_features=16), TEXTS, "n_features", 0),
    "many hashes": (FeatureHasher(16), SAMPLES, "n_features", 2**31 - 1),
    "a pattern that never ends": (CountVectorizer(), TEXTS, "token_pattern", "(a+)+$"),
    "texts that are paths": (CountVectorizer(), TEXTS, "input", "filename"),
    "columns of a category": (OneHotEncoder(), WORDS, "_n_features_outs", [1, 1]),
    "a category that is dropped": (OneHotEncoder(), WORDS, "drop_idx_", [0]),
    "threads": (KMeans(3, n_init=1), NUMBERS, "_n_threads", 10**9),
    "uninitialised memory": (PolynomialFeatures(), NUMBERS, "_n_out_full", 100),
    "a steep polynomial": (PolynomialFeatures(), NUMBERS, "degree", 10**9),
    "a wide spline": (SplineTransformer(), NUMBERS, "n_features_out_", 10**9),
    "processes": (FeatureUnion([("a", MinMaxScaler())]), NUMBERS, "n_jobs", 10**6),
    "an attribute of no class": (StandardScaler(), NUMBERS, "_more_", 1.0),
    "a column of no table": (
        ColumnTransformer([("a", MinMaxScaler(), [0])]),
        NUMBERS,
        "_columns",
        [[10**6]],
    ),
}


@pytest.mark.filterwarnings("ignore:one value in all rows")
@pytest.mark.parametrize("name", LIES)
def test_a_state_that_lies_is_refused(name, tmp_path):
    step, data, attribute, lie = LIES[name]
    header, arrays = parts(fitted(step, data), tmp_path)
    items = [item for item in attributes(header) if item[0] != attribute]
    attributes(header)[:] = [*items, [attribute, lie]]
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))


def first(array, value):
    """The array with another first entry."""
    changed = array.copy()
    changed.reshape(-1)[0] = value
    return changed


ARRAYS = {
    "scales": (StandardScaler(), NUMBERS, "scale_", lambda a: a[:2]),
    "edges": (KBinsDiscretizer(3), NUMBERS, "n_bins_", lambda a: a + 1),
    "quantiles": (QuantileTransformer(n_quantiles=9), NUMBERS, "quantiles_", lambda a: a[:, ::-1]),
    "centres": (KMeans(3, n_init=1), NUMBERS, "cluster_centers_", lambda a: a[:, :3]),
    "labels": (KMeans(3, n_init=1), NUMBERS, "labels_", lambda a: first(a, 3)),
    "neighbours": (KNNImputer(), DATA["gaps"], "_mask_fit_X", lambda a: a[:5]),
    "gaps": (MissingIndicator(), DATA["gaps"], "features_", lambda a: first(a, 10**6)),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_that_lies_is_refused(name, tmp_path):
    step, data, attribute, change = ARRAYS[name]
    header, arrays = parts(fitted(step, data), tmp_path)
    number = dict(attributes(header))[attribute]["array"]
    arrays[number] = change(arrays[number])
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize(
    ("encoder", "data"),
    [(OneHotEncoder(), ROUNDED), (OrdinalEncoder(), ROUNDED), (TargetEncoder(), ROUNDED)],
)
def test_categories_ascend(encoder, data, tmp_path):
    """The search among them would otherwise return a place beyond the last one."""
    header, arrays = parts(fitted(encoder, data), tmp_path)
    number = dict(attributes(header))["categories_"][-1]["array"]
    arrays[number] = arrays[number][::-1]
    with pytest.raises(FileFormatError, match="must ascend"):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize("lie", [[0, 10**6, 0], [0, 0, 10**6], [1, 1, 1], [0, 0]])
def test_sparse_matrices_without_entries_have_no_rows_of_entries(lie, tmp_path):
    """SciPy's own check accepts the first of them, and products then read anywhere."""
    projection = SparseRandomProjection(2, random_state=0)
    header, arrays = parts(fitted(projection, NUMBERS), tmp_path)
    tree = dict(attributes(header))["components_"]
    for name in ("data", "indices"):
        arrays[tree[name]["array"]] = arrays[tree[name]["array"]][:0]
    arrays[tree["indptr"]["array"]] = np.array(lie, "<i4")
    with pytest.raises(FileFormatError, match="sparse"):
        colk.load(write(header, arrays, tmp_path))


def test_a_state_that_cannot_be_loaded_is_not_saved(tmp_path):
    """The message names the step and the attribute."""
    model = fitted(CountVectorizer(), TEXTS)
    model[0].vocabulary_["red"] = 10**9
    with pytest.raises(TypeError, match=r"step 'countvectorizer'.*vocabulary_"):
        colk.save(model, tmp_path / "m")
    model = make_pipeline(CountVectorizer(tokenizer=str.split), COLKRegressor())
    with pytest.raises(TypeError, match="tokenizer"):
        colk.save(model, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_parameters_that_scikit_learn_refuses_are_refused(tmp_path):
    header, arrays = parts(fitted(StandardScaler(), NUMBERS), tmp_path)
    dict_of_items = {item[0]: item for item in attributes(header)}
    dict_of_items["with_mean"][1] = "no"
    with pytest.raises(FileFormatError, match="with_mean"):
        colk.load(write(header, arrays, tmp_path))


def test_each_class_of_the_table_exists():
    from colk.persistence._fitted import STATES

    for key in STATES:
        kind = find_class(f"sklearn.{key}")
        assert tag_of(object.__new__(kind)) == f"sklearn.{key}"


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS and /proc")
@pytest.mark.parametrize("part", range(4))
def test_changes_of_each_class_crash_nothing(part):
    command = [sys.executable, "-m", "colk_lab.tables", "fuzz_files", "--structure", "pipelines"]
    command += ["--part", f"{part}/4", "--every", "7", "--count", "1000000"]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-1000:]
    assert ", 0 faults" in found.stdout
