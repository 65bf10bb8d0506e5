"""Files with a wrong state of a learner: nothing of it reaches the engine."""

import tracemalloc

import numpy as np
import pytest
from cases import CASES, SEEN, TERMS, X, Y
from tampering import learner, parts, set_tally, state, write

import colk
from colk import COLK, FileFormatError
from colk.kernels import Gaussian
from colk.losses import Quantiles


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
    """One more sample would be written beyond the buffer."""
    header, arrays = parts(learner(), tmp_path)
    for name in ("points", "targets", "weights"):
        number = state(header)["window", name]
        arrays[number] = np.repeat(arrays[number], 2, axis=0)
    with pytest.raises(FileFormatError, match="n_waiting from 0 to 1"):
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


@pytest.mark.parametrize("pending", [-1, 9, 2**40, 1.0, None])
def test_pending_updates_fit_their_buffer(pending, tmp_path):
    """Compiled code reads that many rows without a check of bounds."""
    make, learn = CASES["NewtonCOLK"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    for item in covariance(header):
        item[1] = pending if item[0] == "pending" else item[1]
    with pytest.raises(FileFormatError, match="pending"):
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


@pytest.mark.parametrize("width", [1, 3])
def test_targets_are_as_wide_as_outputs_where_no_sample_waits(width, tmp_path):
    """A target of two numbers would be written beyond a buffer for one."""
    model = COLK(Gaussian(0.3)).learn(X[:20], np.column_stack([Y[:20], Y[:20]]))
    header, arrays = parts(model, tmp_path)
    arrays[state(header)["window", "targets"]] = np.zeros((0, width))
    with pytest.raises(FileFormatError, match=f"y has {width} outputs, the predictions have 2"):
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


def test_orders_that_a_step_would_count_for_ever_are_refused(tmp_path):
    header, arrays = parts(COLK(Gaussian(1.0)), tmp_path)
    settings = dict(header["model"]["settings"]["items"])
    settings["risk"] = {"is": "CentralMoments", "order": 10**15, "weight": 0.1}
    header["model"]["settings"]["items"] = [list(item) for item in settings.items()]
    with pytest.raises(FileFormatError, match="beyond 10000"):
        colk.load(write(header, arrays, tmp_path))


def test_waiting_targets_of_a_composition_are_finite(tmp_path):
    make, learn = CASES["COLK of a composition of other sizes"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    arrays[state(header)["window", "targets"]][:] = np.nan
    with pytest.raises(FileFormatError, match=r"window\.targets holds NaN or infinity"):
        colk.load(write(header, arrays, tmp_path), terms=TERMS)


@pytest.mark.parametrize(
    ("part", "name", "value", "said"),
    [
        ("model", "batch_size", 1, "the model .* has other settings"),
        ("tracker", "regularization", 0.5, "the tracker .* has other settings"),
    ],
)
def test_the_parts_of_a_conditional_learner_agree(part, name, value, said, tmp_path):
    make, learn = CASES["ConditionalCOLK"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    for item in header["model"][part]["settings"]["items"]:
        item[1] = value if item[0] == name else item[1]
    with pytest.raises(FileFormatError, match=said):
        colk.load(write(header, arrays, tmp_path), terms=TERMS)


def test_a_conditional_learner_knows_whether_conditions_are_points(tmp_path):
    make, learn = CASES["ConditionalCOLK"]
    header, arrays = parts(learn(make(), slice(0, SEEN)), tmp_path)
    header["model"]["is_apart"] = True
    with pytest.raises(FileFormatError, match="the model of a ConditionalCOLK has other settings"):
        colk.load(write(header, arrays, tmp_path), terms=TERMS)


def test_both_parts_of_a_conditional_learner_saw_all_samples(tmp_path):
    make, learn = CASES["ConditionalCOLK"]
    model = learn(make(), slice(0, SEEN))
    model.tracker.learn_checked(X[:1], Y[:1, None], np.ones(1))
    with pytest.raises(ValueError, match="the model of a ConditionalCOLK learned other samples"):
        colk.save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())
