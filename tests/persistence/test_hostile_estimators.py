"""Files with a wrong state of an estimator: one clear error each."""

from functools import partial

import numpy as np
import pytest
from cases import CASES, SEEN, X, Y
from sklearn.svm import SVC, SVR
from tampering import parts, write

import colk
from colk import COLK, COLKRegressor, FileFormatError
from colk.conformal import AdaptiveInterval
from colk.kernels import Gaussian


def test_the_learner_is_one_of_the_solver(tmp_path):
    make, learn = CASES["COLKRegressor by curvature"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    settings = {"solver": "gradient", "forgetting": 1.0}
    for item in header["model"]["parameters"]["items"]:
        item[1] = settings.get(item[0], item[1])
    with pytest.raises(FileFormatError, match="solver='gradient'"):
        colk.load(write(header, arrays, tmp_path))


def test_names_have_a_column_each(tmp_path):
    """Compiled code writes a feature to the column of its name."""
    make, learn = CASES["river.COLKRegressor"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    header["model"]["columns"]["names"] += ["more", "and more"]
    with pytest.raises(FileFormatError, match="n_features is 2 here and 4"):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize("trace", [True, 1e-8])
def test_a_traced_learner_is_none_of_rivers(trace, tmp_path):
    """The stream would write lines of a trace where there is room for one."""
    make, learn = CASES["river.COLKRegressor"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    for item in header["model"]["online"]["learner"]["settings"]["items"]:
        if item[0] == "trace":
            item[1] = trace
    with pytest.raises(FileFormatError, match="trace"):
        colk.load(write(header, arrays, tmp_path))


def test_classes_have_an_output_each(tmp_path):
    make, learn = CASES["COLKClassifier"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    fitted = header["model"]["fitted"]["items"]
    classes = next(value for name, value in fitted if name == "classes_")
    arrays[classes["lengths"]], arrays[classes["text"]] = (
        np.array([1, 1], dtype="<i8"),
        np.frombuffer(b"ab", dtype="u1"),
    )
    with pytest.raises(FileFormatError, match="needs a learner of 2 outputs"):
        colk.load(write(header, arrays, tmp_path))


def test_predictions_are_numbers_or_rows_as_the_estimator_wants_them(tmp_path):
    make, learn = CASES["COLKClassifier of two"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    fitted = dict(header["model"]["fitted"]["items"])
    fitted["_online"]["learner"]["is_vector"] = False
    with pytest.raises(FileFormatError, match="needs a learner of 1 outputs"):
        colk.load(write(header, arrays, tmp_path))


def test_the_position_of_random_numbers_is_in_their_key(tmp_path):
    """NumPy reads its key there without a check."""
    model = COLKRegressor(random_state=np.random.RandomState(0)).fit(X, Y)
    header, arrays = parts(model, tmp_path)
    state = next(v for k, v in header["model"]["parameters"]["items"] if k == "random_state")
    state["position"] = 10**7
    with pytest.raises(FileFormatError, match="position"):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize("machine", [SVC(), SVR()])
def test_a_compressed_classifier_has_labels(machine, tmp_path):
    targets = np.where(Y > 0.0, "high", "low") if isinstance(machine, SVC) else Y
    header, arrays = parts(colk.KernelCompressor(machine).fit(X, targets), tmp_path)
    items = header["model"]["fitted"]["items"]
    labels = [item for item in items if item[0] == "classes_"]
    header["model"]["fitted"]["items"] = (
        [item for item in items if item not in labels] if labels else [*items, ["classes_", [0, 1]]]
    )
    with pytest.raises(FileFormatError, match="labels"):
        colk.load(write(header, arrays, tmp_path))


def kept(model, folder):
    """The header and arrays of a model that keeps samples, and its part of the header."""
    header, arrays = parts(model, folder)
    tree = header["model"]
    online = tree["online"] if "online" in tree else dict(tree["fitted"]["items"])["_online"]
    return header, arrays, online["kept"]


@pytest.mark.each_value
@pytest.mark.parametrize("name", ["COLKRegressor", "COLKClassifier", "river.COLKClassifier"])
@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("points", lambda array: np.hstack([array, array])),
        ("points", lambda array: array[1:]),
        ("points", lambda array: np.full_like(array, np.nan)),
        ("points", lambda array: np.tile(array, (5, 1))),
        ("targets", lambda array: np.column_stack([array] * 4)),
        ("targets", lambda array: np.full_like(array, np.inf)),
        ("weights", lambda array: -array),
    ],
)
def test_samples_that_are_kept_are_samples(name, part, change, tmp_path):
    make, learn = CASES[name]
    header, arrays, tree = kept(learn(make(), slice(0, SEEN)), tmp_path)
    number = tree[part]["array"]
    arrays[number] = np.ascontiguousarray(change(arrays[number]))
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize(
    ("part", "value"),
    [("winner", 10**6), ("winner", -1), ("kernel", {"is": "Linear"}), ("n_samples", 5000)],
)
def test_a_race_has_a_winner(part, value, tmp_path):
    header, arrays = parts(COLKRegressor(epochs=1).fit(X, Y), tmp_path)
    race = dict(header["model"]["fitted"]["items"])["_online"]["fitted_race"]
    race[part] = value
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))


def tampered(rule, arrays, part, value):
    """Change a part of the stored rule, of its level, or an array of its level."""
    level = rule["interval"]["levels"][0]["items"] if rule["interval"]["levels"] else []
    if part in ("moments", "steps", "weights"):
        place = dict(level)[part]["array"]
        arrays[place] = value(arrays[place])
    elif part in ("seen", "missed"):
        next(item for item in level if item[0] == part)[1] = value
    elif part == "coverage":
        rule["coverage"] = value
    else:
        rule["interval"][part] = value


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("window", 3), ("n_views", 2), ("levels", []), ("missed", 10**6), ("seen", -1),
        ("coverage", 0.7), ("moments", lambda a: a - 1e6), ("moments", lambda a: a * np.nan),
        ("steps", lambda a: a[:, :1]), ("weights", lambda a: a * 0.5),
        ("weights", lambda a: np.tile(a, 2)), ("weights", lambda a: -a),
    ],
)  # fmt: skip
def test_intervals_are_steered_by_what_was_missed(part, value, tmp_path):
    make, learn = CASES["ConformalRegressor"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    tampered(header["model"]["rule"], arrays, part, value)
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize(
    ("part", "value"),
    [("window", 3), ("rate", 2.0), ("levels", [[0.9, 0.1, 5, 6]]), ("levels", [])]
    + [("levels", [[0.8, aim, 5, 1]]) for aim in (1.1, 1e300)],
)
def test_adaptive_intervals_are_steered_by_what_was_missed(part, value, tmp_path):
    make = partial(colk.ConformalRegressor, coverage=0.8, rule=AdaptiveInterval(0.05, 50))
    model = make(COLK(Gaussian(0.2))).learn(X[:SEEN], Y[:SEEN])
    header, arrays = parts(model, tmp_path)
    header["model"]["rule"]["interval"][part] = value
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))
