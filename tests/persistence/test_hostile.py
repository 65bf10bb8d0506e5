"""Files with wrong claims about their contents: one clear error each."""

import subprocess
import sys

import numpy as np
import pytest
from cases import CASES, SEEN
from tampering import parts, write

import colk
from colk import COLK, FileFormatError, KernelExpansion
from colk.kernels import Gaussian
from colk_lab.tables.saved_models import corpus

FUZZ = [sys.executable, "-m", "colk_lab.tables", "fuzz_files"]


@pytest.mark.parametrize(
    "item", [{"is": "numbers", "of": "list", "array": 0}, {"is": "array", "array": 0}]
)
def test_an_array_stands_for_one_value(item, tmp_path):
    """Many references to one array would multiply the memory."""
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


@pytest.mark.parametrize("tag", ["os.system", "Derived", "SVR", "Kernel", "CustomKernel", "eval"])
def test_only_known_classes_are_made(tag, tmp_path):
    header, arrays = parts(KernelExpansion(Gaussian(1.0), [[0.0]], [1.0]), tmp_path)
    header["model"]["kernel"] = {"is": tag, "bandwidth": 1.0}
    with pytest.raises(FileFormatError):
        colk.load(write(header, arrays, tmp_path))


def test_features_do_not_ask_for_what_the_file_cannot_pay(tmp_path):
    """Centres in as many dimensions as the file lists would need the product of two lengths."""
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
    with pytest.raises(FileFormatError, match="which is not a model"):
        colk.load(write(header, arrays, tmp_path))


def test_versions_to_come_are_named(tmp_path):
    header, arrays = parts(COLK(Gaussian(1.0)), tmp_path)
    header |= {"version": 2, "library": "9.0"}
    with pytest.raises(FileFormatError, match=r"version 2 .* reads version 1; .* colk '9\.0'"):
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
    command = [*FUZZ, "--count", "400", "--seed", "7"]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-1000:]
    assert "0 faults" in found.stdout


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (np.full((2, 3), np.nan), "metric contains NaN"),
        (np.ones((2, 2)), "expected 2|must be an array of shape"),
        (np.ones(6), "metric must have shape"),
        (np.ones((0, 3)), "a row for each feature"),
        (np.ones((2, 3), dtype="S1"), "unknown dtype"),
    ],
)
@pytest.mark.parametrize("name", ["learner", "function"])
def test_a_damaged_metric_is_refused(name, metric, message, tmp_path):
    header, arrays, place = _with_metric(name, tmp_path)
    with pytest.raises(FileFormatError, match=message):
        colk.load(write(header, [*arrays[:place], metric, *arrays[place + 1 :]], tmp_path))


def test_a_metric_has_a_row_for_each_feature_of_the_learner(tmp_path):
    header, arrays, place = _with_metric("learner", tmp_path)
    with pytest.raises(FileFormatError, match="2 features, expected 4"):
        colk.load(write(header, [*arrays[:place], np.ones((4, 3)), *arrays[place + 1 :]], tmp_path))


def _with_metric(name, folder):
    """The parts of a file of a model with a metric, and the place of the metric."""
    make, learn = CASES["COLK in a metric"]
    model = learn(make(), slice(0, SEEN))
    model = model.function if name == "function" else model
    header, arrays = parts(model, folder)
    is_metric = [np.array_equal(array, model.kernel.metric) for array in arrays]
    return header, arrays, is_metric.index(True)


def test_the_fuzzer_has_a_model_of_every_class_and_term(tmp_path):
    from colk.persistence.terms import known_terms
    from colk.persistence.trusted import _homes

    def kinds(tree):
        if isinstance(tree, dict):
            found.add(str(tree.get("is")))
        for value in tree.values() if isinstance(tree, dict) else tree:
            if isinstance(value, dict | list):
                kinds(value)

    found = set()
    for model in corpus():
        kinds(parts(model, tmp_path)[0]["model"])
    assert not {*_homes(), *known_terms()} - found
