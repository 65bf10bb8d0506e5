"""Functions of an RKHS: values, geometry, immutability, memory, files."""

import operator
import os
import pickle
import subprocess
import sys
import tempfile
import tracemalloc
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colk.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial
from colk.rkhs.expansion import KernelExpansion

KERNELS = [
    Gaussian(0.8),
    Laplacian((0.5, 2.0)),
    Polynomial(2),
    0.5 * Matern(0.7, nu=2.5) * Linear() + Gaussian(3.0),
]


def make(kernel, n_atoms=7, n_outputs=None, seed=0, n_features=2):
    rng = np.random.default_rng(seed)
    shape = n_atoms if n_outputs is None else (n_atoms, n_outputs)
    return KernelExpansion(kernel, rng.normal(size=(n_atoms, n_features)), rng.normal(size=shape))


@pytest.fixture
def points():
    return np.random.default_rng(9).normal(size=(11, 2))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_outputs", [None, 1, 3])
def test_values_are_the_definition(kernel, n_outputs, points):
    f = make(kernel, n_outputs=n_outputs)
    expected = kernel(points, f.atoms) @ f.weights
    assert f(points).shape == (11,) if n_outputs is None else (11, n_outputs)
    np.testing.assert_allclose(f(points), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_outputs", [None, 3])
def test_gradient_is_the_derivative(kernel, n_outputs, points):
    f = make(kernel, n_outputs=n_outputs)
    steps = 1e-5 * np.eye(2)
    expected = np.stack([(f(points + h) - f(points - h)) / 2e-5 for h in steps], axis=-1)
    assert f.gradient(points).shape == expected.shape
    np.testing.assert_allclose(f.gradient(points), expected, rtol=1e-6, atol=1e-7)


@settings(deadline=None, max_examples=50)
@given(
    kernel=st.sampled_from(KERNELS),
    sizes=st.tuples(st.integers(0, 12), st.integers(0, 12)),
    n_outputs=st.sampled_from([None, 1, 2]),
    factor=st.floats(-100.0, 100.0),
    seed=st.integers(0, 1000),
)
def test_vector_space_with_inner_product(kernel, sizes, n_outputs, factor, seed):
    f = make(kernel, sizes[0], n_outputs, seed)
    g = make(kernel, sizes[1], n_outputs, seed + 1)
    X = np.random.default_rng(seed).normal(size=(5, 2))
    near = {"rtol": 1e-10, "atol": 1e-9 * (1 + f.norm() + g.norm()) * (1 + abs(factor))}
    np.testing.assert_allclose((f + g)(X), f(X) + g(X), **near)
    np.testing.assert_allclose((f - g)(X), f(X) - g(X), **near)
    np.testing.assert_allclose((factor * f)(X), factor * f(X), **near)
    np.testing.assert_allclose((-f / 4)(X), -f(X) / 4, **near)
    scale = (1 + f.norm()) * (1 + g.norm()) * (1 + abs(factor))
    assert f.inner(g) == pytest.approx(g.inner(f), rel=1e-9, abs=1e-10 * scale)
    assert (factor * f).inner(g) == pytest.approx(factor * f.inner(g), rel=1e-9, abs=1e-10 * scale)
    assert abs(f.inner(g)) <= f.norm() * g.norm() * (1 + 1e-9) + 1e-10
    assert (f + g).norm() <= f.norm() + g.norm() + 1e-6
    assert f.distance(g) == pytest.approx((f - g).norm(), rel=1e-6, abs=1e-6)
    assert f.distance(f) == 0.0
    assert (f + g).n_atoms == sum(sizes)


@pytest.mark.parametrize("kernel", KERNELS)
def test_inner_product_is_the_quadratic_form(kernel):
    f, g = make(kernel, 7, 2, 1), make(kernel, 5, 2, 2)
    K = kernel(f.atoms, g.atoms)
    assert f.inner(g) == pytest.approx(np.sum(f.weights * (K @ g.weights)), rel=1e-12)
    assert f.norm() ** 2 == pytest.approx(f.inner(f), rel=1e-12)


def test_reproducing_property(points):
    f = make(Gaussian(0.8))
    section = KernelExpansion(f.kernel, points[:1], [1.0])
    assert f.inner(section) == pytest.approx(f(points[:1])[0], rel=1e-13)


def test_distance_sees_what_rounding_would_hide():
    """f and f + 1e-12 κ(x, ·) are 1e-12 apart; the root of ‖f‖² − 2⟨f, g⟩ + ‖g‖² says 1e-8."""
    f = 1e3 * make(Gaussian(0.8))
    g = f + KernelExpansion(f.kernel, f.atoms[:1], [1e-10])
    assert g.distance(f) == pytest.approx(1e-10, rel=1e-2)


def test_distance_merges_duplicates():
    kernel = Gaussian(1.0)
    f = KernelExpansion(kernel, [[0.0], [1.0], [0.0], [-0.0]], [0.1, 0.2, 0.3, 0.4])
    assert f.distance(f) == 0.0
    assert f.distance(KernelExpansion(kernel, [[1.0], [0.0]], [0.2, 0.8])) < 1e-15


def test_zero_function(points):
    zero = KernelExpansion.zero(Gaussian(1.0), 2, n_outputs=3)
    assert zero.n_atoms == 0
    assert (zero(points) == np.zeros((11, 3))).all()
    assert (zero.gradient(points) == np.zeros((11, 3, 2))).all()
    assert zero.norm() == zero.distance(zero) == 0.0
    f = make(Gaussian(1.0), n_outputs=3)
    assert f + zero == f
    assert zero.inner(f) == f.inner(zero) == 0.0
    assert f(np.empty((0, 2))).shape == (0, 3)


def test_shape_facts():
    f = make(Gaussian(1.0), 7, 3)
    assert (f.n_atoms, f.n_features, f.n_outputs) == (7, 2, 3)
    assert (f.atoms.shape, f.weights.shape) == ((7, 2), (7, 3))
    assert make(Gaussian(1.0), 7).n_outputs == 1
    text = "KernelExpansion(kernel=Gaussian(bandwidth=1.0), n_atoms=7, n_features=2, n_outputs=3)"
    assert repr(f) == text


@pytest.mark.parametrize("n_features", [1, 2])
@pytest.mark.parametrize("n_outputs", [None, 1, 2])
def test_it_does_not_change(n_features, n_outputs):
    shape = (3,) if n_outputs is None else (3, n_outputs)
    atoms, weights = np.ones((3, n_features)), np.ones(shape)
    f = KernelExpansion(Linear(), atoms, weights)
    before = f(np.ones((1, n_features)))
    atoms[:] = weights[:] = 5.0
    assert (f(np.ones((1, n_features))) == before).all()
    for array in (f.atoms, f.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    for name in ("atoms", "_atoms", "anything"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(f, name, atoms)
    with pytest.raises(AttributeError, match="immutable"):
        del f._kernel


def test_equality_and_hash():
    f = make(Gaussian(1.0))
    same = KernelExpansion(Gaussian(1.0), f.atoms, f.weights)
    assert f == same
    assert hash(f) == hash(same)
    assert f != 2 * f
    assert f != make(Gaussian(2.0))
    assert f != "f"
    column = KernelExpansion(f.kernel, f.atoms, f.weights[:, None])
    assert f != column
    negative = KernelExpansion(Linear(), [[-0.0]], [1.0])
    positive = KernelExpansion(Linear(), [[0.0]], [1.0])
    assert negative == positive
    assert hash(negative) == hash(positive)


@pytest.mark.parametrize("n_outputs", [None, 1, 2])
def test_pickling(n_outputs, points):
    f = make(KERNELS[-1], n_outputs=n_outputs)
    again = pickle.loads(pickle.dumps(f))
    assert again == f
    assert (again(points) == f(points)).all()


def test_numpy_scalars_scale():
    f = make(Gaussian(1.0))
    assert np.float64(2.0) * f == f * np.float32(2.0) == 2 * f == f / 0.5


def test_prediction_needs_little_memory():
    f = make(Gaussian(1.0), n_atoms=300, n_features=4)
    X = np.zeros((60_000, 4))
    X.flags.writeable = False
    f(X[:2])
    tracemalloc.start()
    values = f(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A Gram matrix of all points would take 144 MB.
    assert peak - values.nbytes < 2e6


RESIDENT = """
import numpy as np
from colk.rkhs.expansion import KernelExpansion
from colk.kernels import Gaussian

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

f = KernelExpansion(Gaussian(1.0), np.zeros((300, 4)), np.ones(300))
X = np.zeros((60_000, 4))
f(X[:2])
before = peak()
f(X)
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_core_needs_little_memory_either():
    """Python's own count does not see what compiled code allocates; the system's does."""
    run = subprocess.run([sys.executable, "-c", RESIDENT], capture_output=True, check=True)
    assert int(run.stdout) < 8_000  # kB; a Gram matrix of all points would take 144,000


def test_norm_needs_little_memory():
    f = make(Gaussian(1.0), n_atoms=2000, n_features=2)
    f.norm()
    tracemalloc.start()
    f.norm()
    f.distance(2 * f)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A Gram matrix would take 32 MB.
    assert peak < 2e6


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_outputs", [None, 1, 3])
def test_files_read_back(kernel, n_outputs, tmp_path):
    f = make(kernel, n_outputs=n_outputs)
    f.save(tmp_path / "f")
    assert KernelExpansion.load(str(tmp_path / "f")) == f
    (2 * f).save(tmp_path / "f")
    assert KernelExpansion.load(tmp_path / "f") == 2 * f
    assert os.listdir(tmp_path) == ["f"]


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    f = make(Gaussian(1.0))
    f.save(tmp_path / "f.colk")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        (2 * f).save(tmp_path / "f.colk")
    assert os.listdir(tmp_path) == ["f.colk"]
    assert KernelExpansion.load(tmp_path / "f.colk") == f


def test_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        KernelExpansion.load(tmp_path / "none.colk")


def saved():
    """The bytes of a saved function."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.colk")
        KernelExpansion(Gaussian(1.0), np.ones((2, 1)), np.ones(2)).save(path)
        return path.read_bytes()


class Bomb:
    def __reduce__(self):
        return os._exit, (1,)


HOSTILE = {
    "empty": b"",
    "text": b"hello",
    "a pickle": pickle.dumps(Bomb()),
    "an npy": b"\x93NUMPY\x01\x00",
    "truncated": saved()[:-40],
    "half": saved()[: len(saved()) // 2],
    "longer": saved() + b"x",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(name, tmp_path):
    path = tmp_path / "f.colk"
    path.write_bytes(HOSTILE[name])
    with pytest.raises(ValueError, match=r"f\.colk is not a model that can be loaded"):
        KernelExpansion.load(path)


def test_a_wide_product_of_sums_reads_back(tmp_path):
    """Multiplied out it would have 2⁴⁰ terms."""
    pair = Linear() + Linear()
    f = KernelExpansion(reduce(operator.mul, [pair] * 40), [[1.0]], [1.0])
    f.save(tmp_path / "f.colk")
    assert KernelExpansion.load(tmp_path / "f.colk")([[1.0]]) == f([[1.0]]) == [2.0**40]


@settings(deadline=None, max_examples=150)
@given(changes=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_files_are_refused_or_unharmed(changes, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "damaged.colk"
    data = bytearray(saved())
    for where, value in changes:
        data[int(where * (len(data) - 1))] = value
    path.write_bytes(bytes(data))
    try:
        f = KernelExpansion.load(path)
    except ValueError:
        return
    # A byte may be replaced by itself; all others are under a checksum.
    assert f == KernelExpansion(Gaussian(1.0), np.ones((2, 1)), np.ones(2))
