"""A kernel from a user-defined function."""

import pickle
from functools import partial

import numpy as np
import pytest

from colk import COLK, COLKRegressor
from colk._engine.user_functions import compilation
from colk.errors import SlowFunctionWarning
from colk.kernels import CustomKernel, Gaussian, Linear

POINTS = np.random.default_rng(2).normal(size=(9, 3))


@pytest.fixture(params=["numba", "plain"], autouse=True)
def mode(request, monkeypatch):
    if request.param == "numba":
        pytest.importorskip("numba")
    else:
        monkeypatch.setattr(compilation, "_has_numba", lambda: False)
    return request.param


def gaussian(u, v):
    return np.exp(-0.5 * np.sum((u - v) ** 2))


def gaussian_slope(u, v):
    return (u - v) * gaussian_of(u, v)


def gaussian_of(u, v):
    total = 0.0
    for i in range(len(u)):
        total += (u[i] - v[i]) ** 2
    return np.exp(-0.5 * total)


def cauchy(u, v):
    return 1.0 / (1.0 + np.sum((u - v) ** 2))


def whole(u, v):
    return 1


def test_equals_the_built_in_kernel():
    kernel = CustomKernel(gaussian)
    np.testing.assert_allclose(kernel(POINTS), Gaussian(1.0)(POINTS), rtol=1e-14, atol=1e-16)
    np.testing.assert_allclose(
        kernel.gram(POINTS, POINTS[:2]), Gaussian(1.0).gram(POINTS, POINTS[:2]), rtol=1e-14
    )
    assert (kernel.diagonal(POINTS) == 1.0).all()
    assert (CustomKernel(whole)(POINTS) == 1.0).all()


def test_is_a_part_of_others():
    kernel = 2.0 * CustomKernel(gaussian) * Linear() + Linear()
    expected = 2.0 * Gaussian(1.0) * Linear() + Linear()
    np.testing.assert_allclose(kernel(POINTS), expected(POINTS), rtol=1e-13)
    assert not CustomKernel(gaussian).has_gradient
    assert not kernel.has_gradient
    assert not CustomKernel(gaussian).is_radial


@pytest.mark.filterwarnings("ignore::colk.errors.SlowFunctionWarning")
def test_its_gradient_returns_a_vector():
    kernel, twin = CustomKernel(gaussian, gaussian_slope), Gaussian(1.0)
    assert kernel.has_gradient
    slopes = kernel.slopes(POINTS, POINTS[:4])
    np.testing.assert_allclose(slopes, twin.slopes(POINTS, POINTS[:4]), rtol=1e-12, atol=1e-15)
    wrong = CustomKernel(gaussian, gaussian)
    with pytest.raises(ValueError, match=r"gradient must return shape \(3,\), got \(\)"):
        wrong.slopes(POINTS, POINTS)
    with pytest.raises(TypeError, match="has no gradient"):
        CustomKernel(gaussian).slopes(POINTS, POINTS)


def greedy(u, v):
    u -= v
    v[:] = 0.0
    return np.exp(-0.5 * np.sum(u**2))


def test_a_kernel_that_writes_to_its_arguments_has_copies_of_its_own():
    kept = POINTS.copy()
    np.testing.assert_allclose(
        CustomKernel(greedy)(POINTS), Gaussian(1.0)(POINTS), rtol=1e-13, atol=1e-16
    )
    assert (kept == POINTS).all()


def moody(u, v):
    if u[0] > 3.0:
        raise RuntimeError("out of my range")
    return 1.0


def test_what_it_raises_reaches_the_caller():
    kernel = CustomKernel(moody)
    with pytest.raises(RuntimeError, match="out of my range"):
        kernel([[0.0], [4.0]])
    assert (kernel([[0.0], [1.0]]) == 1.0).all()
    with pytest.raises(RuntimeError, match="out of my range"):
        CustomKernel(gaussian, moody).slopes(np.array([[4.0]]), np.array([[0.0]]))


def test_nan_is_what_it_is():
    kernel = CustomKernel(lambda u, v: np.nan if u[0] != v[0] else 1.0)
    np.testing.assert_array_equal(kernel([[0.0], [4.0]]), [[1.0, np.nan], [np.nan, 1.0]])


def test_may_be_compiled_already():
    numba = pytest.importorskip("numba")
    compiled = CustomKernel(numba.njit(cauchy))
    typed = CustomKernel(numba.njit("float64(float64[::1], float64[::1])")(cauchy))
    expected = CustomKernel(cauchy)(POINTS)
    np.testing.assert_allclose(compiled(POINTS), expected, rtol=1e-14)
    np.testing.assert_allclose(typed(POINTS), expected, rtol=1e-14)


def unruly(u, v):
    return {"a": float(str(u[0]))}["a"]


def test_is_called_as_it_is_where_numba_cannot_compile_it(mode):
    from colk._engine.user_functions import base

    kernel = CustomKernel(unruly)
    if mode == "numba" and not base.__file__.endswith(".py"):
        with pytest.warns(SlowFunctionWarning, match="function: Numba cannot compile unruly"):
            kernel([[1.0]])
    assert kernel([[2.0]]) == 2.0


def test_is_shown_compared_and_replaced():
    kernel = CustomKernel(cauchy, gaussian_slope)
    assert repr(kernel) == "CustomKernel(function=cauchy, gradient=gaussian_slope)"
    assert repr(CustomKernel(cauchy)) == "CustomKernel(function=cauchy, gradient=None)"
    assert kernel.replace(gradient=None) == CustomKernel(cauchy) != kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert hash(pickle.loads(pickle.dumps(kernel))) == hash(kernel)
    with pytest.raises(pickle.PicklingError, match=r"<lambda>, which .*or pickle with cloudpickle"):
        pickle.dumps(CustomKernel(partial(lambda a, u, v: a * float(u @ v), 2.0)))
    with pytest.raises(pickle.PicklingError, match=r"function of CustomKernel is .*<lambda>"):
        pickle.dumps(CustomKernel(lambda u, v: 1.0))


class Scale:
    """An object with a method that is a kernel."""

    def __init__(self, factor):
        self.factor = factor

    def product(self, u, v):
        return self.factor * float(u @ v)


def test_methods_and_partial_functions_are_pickled_with_what_they_hold():
    kernel = pickle.loads(pickle.dumps(CustomKernel(Scale(2.0).product)))
    assert kernel([[3.0]]) == 18.0
    kernel = pickle.loads(pickle.dumps(CustomKernel(partial(Scale.product, Scale(3.0)))))
    assert kernel([[3.0]]) == 27.0


def test_a_plain_function_is_told_what_wraps_it():
    def product(u, v):
        return float(u @ v)

    for use in (
        lambda: COLK(product),
        lambda: COLKRegressor(kernel=product).fit(np.ones((3, 1)), np.ones(3)),
    ):
        with pytest.raises(TypeError, match=r"must be a Kernel.*: wrap it in CustomKernel\("):
            use()
    with pytest.raises(TypeError, match=r"must be a Loss.*: wrap it in CustomLoss\("):
        COLK(Gaussian(1.0), product)
    with pytest.raises(TypeError, match=r"must be a Kernel.*: call it, Gaussian\(\.\.\.\)"):
        COLK(Gaussian)
