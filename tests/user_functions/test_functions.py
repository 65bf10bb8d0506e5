"""User-defined functions: plain, compiled by Numba, and by address."""

import copy
import ctypes
import functools
import pickle
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import LowLevelCallable

from colk._engine.user_functions import compilation
from colk.errors import SlowFunctionWarning
from colk.kernels import CustomKernel
from colk.losses import CustomLoss, Squared
from colk.risks import Composition, CustomRisk, Variance

DOUBLE, VECTOR, SIZE = ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.c_ssize_t
F, Y = np.random.default_rng(0).normal(size=(2, 20))

SOURCE = """
#include <math.h>
#include <stddef.h>
double squared(double f, double y) { return (f - y) * (f - y); }
double squared_slope(double f, double y) { return 2.0 * (f - y); }
double product(double *u, double *v, ptrdiff_t n)
{
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) { sum += u[i] * v[i]; u[i] = v[i] = 7.0; }
    return sum;
}
double product_slope(double *u, double *v, ptrdiff_t n, double *out)
{
    for (ptrdiff_t i = 0; i < n; i++) out[i] = u[i];
    return 0.0;
}
double moments(double loss, double *g, ptrdiff_t i) { return i ? loss * loss : loss; }
double moments_slope(double loss, double *g, ptrdiff_t i) { return i ? 2.0 * loss : 1.0; }
double outer(double loss, double *g, ptrdiff_t i) { return loss + 0.1 * (g[1] - g[0] * g[0]); }
double outer_slope(double loss, double *g, ptrdiff_t i) { return 1.0; }
double outer_slope_inner(double loss, double *g, ptrdiff_t i) { return i ? 0.1 : -0.2 * g[0]; }
double bias(double *f, double *y, double *g, double *out) { out[0] = f[0] - y[0]; return 0.0; }
double one(double *f, double *y, double *g, double *out) { out[0] = 1.0; return 0.0; }
double failing(double *f, double *y, double *g, double *out) { return NAN; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform == "win32":
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("c")
    (folder / "mine.c").write_text(SOURCE)
    command = [compiler, "-shared", "-fPIC", "-O1", "mine.c", "-o", "mine.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "mine.so"))


def typed(function, *arguments, result=DOUBLE):
    function.restype, function.argtypes = result, list(arguments)
    return function


def c_loss(library):
    return CustomLoss(
        typed(library.squared, DOUBLE, DOUBLE), typed(library.squared_slope, DOUBLE, DOUBLE)
    )


def agrees_with_squared(loss):
    np.testing.assert_allclose(loss.value(F, Y), Squared().value(F, Y), rtol=1e-14)
    np.testing.assert_allclose(loss.slope(F, Y), Squared().slope(F, Y), rtol=1e-14)


def test_a_loss_by_address(library):
    loss = c_loss(library)
    agrees_with_squared(loss)
    assert repr(loss).startswith("CustomLoss(value=squared, slope=squared_slope, kind='regression'")
    assert loss == c_loss(library)
    assert copy.deepcopy(loss) is loss
    with pytest.raises(pickle.PicklingError, match="value of CustomLoss is a C function"):
        pickle.dumps(loss)


def test_a_low_level_callable_is_taken(library):
    value = LowLevelCallable(typed(library.squared, DOUBLE, DOUBLE))
    slope = LowLevelCallable(typed(library.squared_slope, DOUBLE, DOUBLE))
    agrees_with_squared(CustomLoss(value, slope))


def capsule(function, signature):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.cast(function, ctypes.c_void_p), signature, None)


# A capsule keeps the address of its name.
SIGNATURE, OTHER = b"double (double, const double)", b"double (double *, double)"


def test_a_capsule_is_taken_where_its_name_is_the_signature(library):
    value = LowLevelCallable(capsule(library.squared, SIGNATURE))
    agrees_with_squared(
        CustomLoss(value, LowLevelCallable(capsule(library.squared_slope, SIGNATURE)))
    )
    with pytest.raises(
        TypeError, match=r"must be double \(double, double\), got double \(double \*"
    ):
        CustomLoss(LowLevelCallable(capsule(library.squared, OTHER)), value)


def test_numbas_own_c_function_is_taken():
    numba = pytest.importorskip("numba")
    value = numba.cfunc("float64(float64, float64)")(lambda f, y: (f - y) ** 2)
    slope = numba.cfunc("float64(float64, float64)")(lambda f, y: 2.0 * (f - y))
    agrees_with_squared(CustomLoss(value, slope))
    kernel = numba.cfunc("float64(CPointer(float64), CPointer(float64), intp)")(
        lambda u, v, n: u[0] * v[0]
    )
    assert CustomKernel(kernel)([[2.0]], [[3.0]]) == 6.0


def test_a_kernel_by_address_cannot_alter_the_data(library):
    kernel = CustomKernel(
        typed(library.product, VECTOR, VECTOR, SIZE),
        typed(library.product_slope, VECTOR, VECTOR, SIZE, VECTOR),
    )
    points = np.random.default_rng(1).normal(size=(6, 3))
    kept = points.copy()
    np.testing.assert_allclose(kernel(points), points @ points.T, rtol=1e-13)
    assert (points == kept).all()
    np.testing.assert_array_equal(kernel.slopes(points, points[:2])[:, 1], points)


def test_risks_by_address(library):
    names = ("moments", "moments_slope", "outer", "outer_slope", "outer_slope_inner")
    five = [typed(getattr(library, name), DOUBLE, VECTOR, SIZE) for name in names]
    losses = np.abs(F)
    risk = CustomRisk(*five, n_inner=2)
    assert risk.value(losses) == pytest.approx(Variance(0.1).value(losses), rel=1e-13)
    np.testing.assert_allclose(risk.gradient(losses), Variance(0.1).gradient(losses), rtol=1e-12)


def test_compositions_by_address(library):
    names = ("bias", "one", "bias", "one", "one")
    five = [typed(getattr(library, name), *[VECTOR] * 4) for name in names]
    risk = Composition(*five)
    assert risk.value_at(Squared(), F, Y) == pytest.approx((F - Y).mean(), rel=1e-13)
    broken = risk.replace(inner=typed(library.failing, *[VECTOR] * 4))
    with pytest.raises(ArithmeticError, match="C function failed"):
        broken.value_at(Squared(), F, Y)


def test_other_signatures_are_refused(library):
    right = typed(library.squared_slope, DOUBLE, DOUBLE)
    library.squared.restype, library.squared.argtypes = ctypes.c_int, None
    with pytest.raises(TypeError, match="value is a C function whose arguments are unknown; set"):
        CustomLoss(library.squared, right)
    for wrong in (
        typed(library.squared, DOUBLE, ctypes.c_float),
        typed(library.squared, DOUBLE),
        typed(library.squared, DOUBLE, DOUBLE, result=ctypes.c_float),
    ):
        with pytest.raises(TypeError, match=r"value must be double \(double, double\), got c_"):
            CustomLoss(wrong, right)
    with pytest.raises(
        TypeError, match=r"function must be double \(double \*, double \*, ssize_t\)"
    ):
        CustomKernel(right)
    with_data = LowLevelCallable(right, ctypes.c_void_p(8))
    with pytest.raises(TypeError, match="user_data"):
        CustomLoss(with_data, right)


def test_what_numba_cannot_compile_is_called_as_it_is_and_said_once():
    pytest.importorskip("numba")
    if not is_compiled():
        pytest.skip("uncompiled sources call every function as it is")

    def unruly(f, y):
        return float(str((f - y) ** 2))

    loss = CustomLoss(unruly, lambda f, y: 2.0 * (f - y))
    with pytest.warns(SlowFunctionWarning, match="value: Numba cannot compile .*unruly"):
        agrees_with_squared(loss)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agrees_with_squared(CustomLoss(unruly, lambda f, y: 2.0 * (f - y)))


def is_compiled():
    from colk._engine.user_functions import base

    return not base.__file__.endswith(".py")


@pytest.mark.skipif(not is_compiled(), reason="uncompiled sources call every function as it is")
def test_with_numba_the_machine_code_is_called():
    pytest.importorskip("numba")
    calls = []
    seen = calls.append

    def counted(f, y):
        return (f - y) ** 2

    _, address = compilation.machine_code(counted, compilation.Signature("numbers"), "value")
    assert address != 0
    again, same = compilation.machine_code(counted, compilation.Signature("numbers"), "value")
    assert same == address == again.address
    assert compilation.machine_code(seen, compilation.Signature("numbers"), "value") == (None, 0)


def slope_times(factor, f, y):
    return factor * (f - y)


def test_objects_that_can_be_called_are_called():
    class Mine:
        def __call__(self, f, y):
            return (f - y) ** 2

    agrees_with_squared(CustomLoss(Mine(), functools.partial(slope_times, 2.0)))


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="value must be a function, got float"):
        CustomLoss(3.0, max)
    with pytest.raises(TypeError, match="gradient must be a function, got float"):
        CustomKernel(max, 1.0)


@pytest.mark.parametrize("result", [None, "3", 1j, [1.0, 2.0]], ids=repr)
def test_what_is_not_a_number_is_named(result, monkeypatch):
    monkeypatch.setattr(compilation, "_has_numba", lambda: False)
    with pytest.raises((TypeError, ValueError), match="value must return"):
        CustomLoss(lambda f, y: result, max).value([1.0], [2.0])
