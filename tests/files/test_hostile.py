"""Files that lie: one clear error each, and nothing of them in the engine."""

import json
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from cases import CASES, SEEN, X, Y
from sklearn.svm import SVC, SVR

import colk
from colk import COLK, COLKRegressor, FileFormatError, KernelExpansion
from colk.files.container import seal
from colk.kernels import Gaussian
from colk.losses import Quantiles
from colk.risks import Variance

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def parts(model, folder):
    """The header of a model's file, and its arrays."""
    colk.save(model, folder / "good")
    data = (folder / "good").read_bytes()
    (length,) = struct.unpack_from("<Q", data, 8)
    header = json.loads(data[24 : 24 + length])
    arrays, start = [], 24 + length
    for entry in header["arrays"]:
        size = np.dtype(entry["dtype"]).itemsize * int(np.prod(entry["shape"]))
        array = np.frombuffer(data[start : start + size], entry["dtype"])
        arrays.append(array.reshape(entry["shape"]).copy())
        start += size + -size % 8
    return header, arrays


def write(header, arrays, folder):
    """A file of such contents, under the right checksum."""
    header["arrays"] = [{"dtype": a.dtype.str, "shape": list(a.shape)} for a in arrays]
    text = json.dumps(header).encode()
    text += b" " * (-(24 + len(text)) % 8)
    body = b"".join(a.tobytes() + bytes(-a.nbytes % 8) for a in arrays)
    (folder / "bad").write_bytes(seal(text, body))
    return folder / "bad"


def learner():
    return COLK(Gaussian(0.3), risk=Variance(0.1)).learn(X[:21], Y[:21])


def state(header):
    """Names and numbers of the arrays of a learner's state."""
    found = {}
    for section, tree in dict(header["model"]["state"]["items"]).items():
        if isinstance(tree, dict) and tree.get("is") == "dict":
            for name, item in tree["items"]:
                found[section, name] = item["array"]
    return found


def set_tally(header, name, value):
    for item in header["model"]["state"]["items"]:
        if item[0] == name:
            item[1] = value


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("dictionary", "atoms"), np.nan),
        (("dictionary", "weights"), np.inf),
        (("dictionary", "factor"), np.nan),
        (("dictionary", "diagonal"), 1e300),
        (("dictionary", "diagonal"), -1.0),
        (("dictionary", "own"), 0.0),
        (("dictionary", "ghosts"), np.nan),
        (("window", "points"), np.nan),
        (("window", "targets"), np.inf),
        (("window", "weights"), -1.0),
        (("window", "g"), np.nan),
    ],
)
def test_wild_numbers_do_not_enter_the_engine(place, value, tmp_path):
    header, arrays = parts(learner(), tmp_path)
    array = arrays[state(header)[place]]
    if array.size == 0:
        array = arrays[state(header)[place]] = np.zeros((array.shape[0], 1))
    array.flat[0] = value
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize("place", [(s, n) for s, n in [("dictionary", k) for k in (
    "atoms", "weights", "factor", "diagonal", "own", "ghosts")] + [("window", k) for k in (
    "points", "targets", "weights", "g")]])  # fmt: skip
@pytest.mark.parametrize("change", ["longer", "shorter", "flat", "float32"])
def test_wrong_shapes_do_not_enter_the_engine(place, change, tmp_path):
    header, arrays = parts(learner(), tmp_path)
    number = state(header)[place]
    array = arrays[number]
    arrays[number] = {
        "longer": lambda: np.concatenate([array, np.ones((1, *array.shape[1:]))]),
        "shorter": lambda: array[1:],
        "flat": lambda: array.reshape(-1, 1) if array.ndim == 1 else array.reshape(-1),
        "float32": lambda: array.astype("<f4"),
    }[change]()
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize("steps", [-1, 2**62, 1.0, None, True])
def test_counters_are_counted(steps, tmp_path):
    header, arrays = parts(learner(), tmp_path)
    set_tally(header, "steps", steps)
    with pytest.raises(FileFormatError, match="steps"):
        colk.load(write(header, arrays, tmp_path))


def test_a_full_window_is_refused(tmp_path):
    """One sample more would be written behind the buffer."""
    header, arrays = parts(learner(), tmp_path)
    for name in ("points", "targets", "weights"):
        number = state(header)["window", name]
        arrays[number] = np.repeat(arrays[number], 2, axis=0)
    with pytest.raises(FileFormatError, match="the number of samples is 2"):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize(
    ("setting", "value"),
    [("batch_size", 10**6), ("n_outputs", 10**9), ("pairing", "os.system"), ("loss", None)],
)
def test_settings_do_not_ask_for_what_the_file_cannot_pay(setting, value, tmp_path):
    header, arrays = parts(learner(), tmp_path)
    for item in header["model"]["settings"]["items"]:
        if item[0] == setting:
            item[1] = value
    path = write(header, arrays, tmp_path)
    tracemalloc.start()
    try:
        if setting == "loss":  # without one it is the squared loss, as it was
            assert colk.load(path).loss == learner().loss
            return
        with pytest.raises(FileFormatError):
            colk.load(path)
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("change", ["nan", "longer", "shorter", "float32"])
def test_a_system_that_is_not_one_of_the_atoms_is_refused(change, tmp_path):
    make, learn = CASES["KernelLSTD"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    (number,) = (
        item["array"] for name, item in header["model"]["state"]["items"] if name == "inverse"
    )
    array = arrays[number]
    arrays[number] = {
        "nan": lambda: np.where(np.eye(len(array)) > 0.0, np.nan, array),
        "longer": lambda: np.vstack([array, array]),
        "shorter": lambda: array[1:, 1:],
        "float32": lambda: array.astype("<f4"),
    }[change]()
    with pytest.raises(FileFormatError, match="inverse"):
        colk.load(write(header, arrays, tmp_path))


def covariance(header):
    """P of a second-order learner, as a list of pairs."""
    return next(tree["items"] for name, tree in header["model"]["state"]["items"] if name == "P")


@pytest.mark.parametrize("pending", [-1, 8, 9, 2**40, 1.0, None])
def test_samples_to_catch_up_with_leave_room_for_the_next(pending, tmp_path):
    """Compiled code writes the next one behind them, without looking."""
    make, learn = CASES["NewtonCOLK"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    for item in covariance(header):
        item[1] = pending if item[0] == "pending" else item[1]
    with pytest.raises(FileFormatError, match="samples to catch up with"):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize("part", ["matrix", "rows", "amounts"])
@pytest.mark.parametrize("change", ["nan", "longer", "shorter", "float32"])
def test_a_covariance_that_is_not_one_of_the_atoms_is_refused(part, change, tmp_path):
    make, learn = CASES["NewtonCOLK"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    number = dict(covariance(header))[part]["array"]
    array = arrays[number]
    arrays[number] = {
        "nan": lambda: np.full_like(array, np.nan),
        "longer": lambda: np.concatenate([array, array]),
        "shorter": lambda: array[1:],
        "float32": lambda: array.astype("<f4"),
    }[change]()
    with pytest.raises(FileFormatError, match=part):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize("noise", [-1.0, np.nan])
def test_noise_is_no_less_than_nothing(noise, tmp_path):
    make, learn = CASES["NewtonCOLK"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    number = dict(header["model"]["state"]["items"])["noise"]["array"]
    arrays[number] = np.full_like(arrays[number], noise)
    with pytest.raises(FileFormatError, match="noise"):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize(
    "item", [{"is": "floats", "of": "list", "array": 0}, {"is": "array", "array": 0}]
)
def test_an_array_stands_for_one_value(item, tmp_path):
    """Many that refer to the same one would be a bomb."""
    header, _ = parts(KernelExpansion(Gaussian(1.0), [[0.0]], [1.0]), tmp_path)
    header["model"]["kernel"] = [item] * 2
    path = write(header, [np.zeros(1000)], tmp_path)
    with pytest.raises(FileFormatError, match="refers to the array 0 twice"):
        colk.load(path)


def test_whole_numbers_have_64_bits(tmp_path):
    """Keys of a dictionary that are multiples of 2⁶¹ − 1 have one hash."""
    model = colk.COLKClassifier(class_weight={2**70: 1.0})
    with pytest.raises(ValueError, match="more than 64 bits"):
        colk.save(model, tmp_path / "none")
    assert not (tmp_path / "none").exists()
    header, arrays = parts(colk.COLKClassifier(class_weight={1: 1.0}), tmp_path)
    for name, value in header["model"]["parameters"]["items"]:
        if name == "class_weight":
            value["items"][0][0] = 5 * (2**61 - 1)
    with pytest.raises(FileFormatError, match="more than 64 bits"):
        colk.load(write(header, arrays, tmp_path))


def test_the_learner_is_one_of_the_solver(tmp_path):
    make, learn = CASES["COLKRegressor by curvature"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    settings = {"solver": "gradient", "forgetting": 1.0}
    for item in header["model"]["parameters"]["items"]:
        item[1] = settings.get(item[0], item[1])
    with pytest.raises(FileFormatError, match="is none of solver='gradient'"):
        colk.load(write(header, arrays, tmp_path))


def test_names_have_a_column_each(tmp_path):
    """Compiled code writes a feature to the column of its name."""
    make, learn = CASES["river.COLKRegressor"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    header["model"]["names"] += ["more", "and more"]
    with pytest.raises(FileFormatError, match="4 names for 2 features"):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize("trace", [True, 1e-8])
def test_a_traced_learner_is_none_of_rivers(trace, tmp_path):
    """The stream would write lines of a trace where there is room for one."""
    make, learn = CASES["river.COLKRegressor"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    for item in header["model"]["learner"]["settings"]["items"]:
        if item[0] == "trace":
            item[1] = trace
    with pytest.raises(FileFormatError, match=r"none that it makes|settings of a COLK are missing"):
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
    fitted["_learner"]["is_vector"] = False
    with pytest.raises(FileFormatError, match="needs a learner of 1 outputs"):
        colk.load(write(header, arrays, tmp_path))


def test_the_position_of_random_numbers_is_in_their_key(tmp_path):
    """NumPy reads its key there without looking."""
    model = COLKRegressor(random_state=np.random.RandomState(0)).fit(X, Y)
    header, arrays = parts(model, tmp_path)
    state = next(v for k, v in header["model"]["parameters"]["items"] if k == "random_state")
    state["position"] = 10**7
    with pytest.raises(FileFormatError, match="position of random numbers"):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize("width", [1, 3])
def test_targets_are_as_wide_as_outputs_where_no_sample_waits(width, tmp_path):
    """A target of two numbers would be written behind a buffer of one."""
    model = COLK(Gaussian(0.3)).learn(X[:20], np.column_stack([Y[:20], Y[:20]]))
    header, arrays = parts(model, tmp_path)
    arrays[state(header)["window", "targets"]] = np.zeros((0, width))
    with pytest.raises(FileFormatError, match=f"y has {width} outputs, the predictions have 2"):
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
    with pytest.raises(FileFormatError, match="labels or a classifier"):
        colk.load(write(header, arrays, tmp_path))


def test_quantiles_have_an_output_each(tmp_path):
    """Compiled code reads the level of every output."""
    model = COLK(Gaussian(0.3), Quantiles((0.2, 0.8)), n_outputs=2).learn(X[:20], Y[:20])
    header, arrays = parts(model, tmp_path)
    loss = next(v for k, v in header["model"]["settings"]["items"] if k == "loss")
    loss["levels"]["items"] = [0.5]
    with pytest.raises(FileFormatError, match="Quantiles of 1 levels needs as many outputs"):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize("move", [-1.0, {"is": "float", "value": "nan"}, 1])
def test_what_a_step_may_forget_is_a_number(move, tmp_path):
    header, arrays = parts(learner(), tmp_path)
    set_tally(header, "squared_move", move)
    with pytest.raises(FileFormatError, match="squared_move"):
        colk.load(write(header, arrays, tmp_path))


def kept(model, folder):
    """The header and arrays of a model that keeps samples, and its part of the header."""
    header, arrays = parts(model, folder)
    tree = header["model"]
    part = tree["kept"] if "kept" in tree else dict(tree["fitted"]["items"])["_kept"]
    return header, arrays, part


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
    [("winner", 10**6), ("winner", -1), ("kernel", {"is": "Linear"}), ("n_samples", 2000)],
)
def test_a_race_has_a_winner(part, value, tmp_path):
    header, arrays = parts(COLKRegressor(epochs=1).fit(X, Y), tmp_path)
    race = dict(header["model"]["fitted"]["items"])["race_"]
    race[part] = value
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize(
    ("part", "value"),
    [("window", 3), ("rate", 2.0), ("levels", [[0.9, 0.1, 5, 6]]), ("levels", [])]
    + [("levels", [[0.8, aim, 5, 1]]) for aim in (1.1, 1e300)],
)
def test_intervals_are_steered_by_what_was_missed(part, value, tmp_path):
    make, learn = CASES["ConformalRegressor"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    header["model"]["interval"][part] = value
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))


@pytest.mark.parametrize("tag", ["os.system", "Derived", "SVR", "Kernel", "CustomKernel", "eval"])
def test_only_known_classes_are_made(tag, tmp_path):
    header, arrays = parts(KernelExpansion(Gaussian(1.0), [[0.0]], [1.0]), tmp_path)
    header["model"]["kernel"] = {"is": tag, "bandwidth": 1.0}
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))


def test_orders_that_a_step_would_count_for_ever_are_refused(tmp_path):
    header, arrays = parts(COLK(Gaussian(1.0)), tmp_path)
    settings = dict(header["model"]["settings"]["items"])
    settings["risk"] = {"is": "CentralMoments", "order": 10**15, "weight": 0.1}
    header["model"]["settings"]["items"] = [list(item) for item in settings.items()]
    with pytest.raises(FileFormatError, match="beyond 10000"):
        colk.load(write(header, arrays, tmp_path))


def test_features_do_not_ask_for_what_the_file_cannot_pay(tmp_path):
    """Centres in as many dimensions as a file lists would be a product of two of its lengths."""
    make, learn = CASES["SCGD"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    features = next(v for k, v in header["model"]["settings"]["items"] if k == "features")
    for corner, value in (("low", 0.0), ("high", 1.0)):
        features[corner] = {"is": "tuple", "items": [value] * 30_000}
    with pytest.raises(FileFormatError, match="centres of 30000 features"):
        colk.load(write(header, arrays, tmp_path))


def test_a_term_is_no_model(tmp_path):
    header, arrays = parts(COLK(Gaussian(1.0)), tmp_path)
    header |= {"class": "Gaussian", "model": {"is": "Gaussian", "bandwidth": 1.0}}
    with pytest.raises(FileFormatError, match="it holds no model"):
        colk.load(write(header, arrays, tmp_path))


def test_versions_to_come_are_named(tmp_path):
    header, arrays = parts(COLK(Gaussian(1.0)), tmp_path)
    header |= {"version": 2, "library": "9.0"}
    with pytest.raises(FileFormatError, match=r"version 2 .* reads 1; .* colk '9\.0'"):
        colk.load(write(header, arrays, tmp_path))


def test_any_flipped_bit_is_found(tmp_path):
    colk.save(KernelExpansion(Gaussian(1.0), [[0.5]], [1.0]), tmp_path / "f")
    good = (tmp_path / "f").read_bytes()
    for place in range(0, len(good), 3):
        data = bytearray(good)
        data[place] ^= 1 << place % 8
        (tmp_path / "f").write_bytes(data)
        if 20 <= place < 24:  # not used yet
            continue
        with pytest.raises(FileFormatError):
            colk.load(tmp_path / "f")


def test_every_truncation_is_found(tmp_path):
    colk.save(KernelExpansion(Gaussian(1.0), [[0.5]], [1.0]), tmp_path / "f")
    good = (tmp_path / "f").read_bytes()
    for length in range(0, len(good), 3):
        (tmp_path / "f").write_bytes(good[:length])
        with pytest.raises(FileFormatError):
            colk.load(tmp_path / "f")


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        colk.load(tmp_path / "none")


def test_a_model_of_another_class_is_no_function(tmp_path):
    colk.save(COLK(Gaussian(1.0)), tmp_path / "m")
    with pytest.raises(FileFormatError, match="holds a COLK"):
        KernelExpansion.load(tmp_path / "m")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS and /proc")
def test_a_short_run_of_the_fuzzer_finds_nothing():
    command = [sys.executable, str(BENCHMARKS / "fuzz_files.py"), "--count", "400", "--seed", "7"]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-1000:]
    assert "0 faults" in found.stdout
