"""Functions and learners in a notebook: pictures and tables."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from colk import COLK, KernelExpansion
from colk.kernels import Gaussian, Mahalanobis

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_a_plot_shows_the_values_of_the_function(n_features):
    f = KernelExpansion(Gaussian(1.0), RNG.normal(size=(5, n_features)), RNG.normal(size=5))
    ax = f.plot(resolution=30)
    if n_features == 2:
        assert ax.collections
        return
    curve = ax.lines[0]
    points = np.tile(f.atoms.mean(axis=0), (30, 1))
    points[:, 0] = curve.get_xdata()
    assert np.array_equal(curve.get_ydata(), f(points))


def test_a_plot_in_a_metric_is_over_the_features():
    kernel, points = Mahalanobis(Gaussian(1.0), [[2.0, 0.0], [0.0, 0.5]]), RNG.normal(size=(5, 2))
    f = KernelExpansion(kernel, kernel.points(points), RNG.normal(size=5))
    np.testing.assert_allclose(kernel.preimages(f.atoms), points, rtol=1e-12)
    np.testing.assert_allclose(f.plot(resolution=9).lines[0].get_xydata(), points, rtol=1e-12)
    wide = Mahalanobis(Gaussian(1.0), RNG.normal(size=(3, 1)))
    g = KernelExpansion(wide, wide.points(RNG.normal(size=(4, 3))), np.ones(4))
    np.testing.assert_allclose(wide.points(wide.preimages(g.atoms)), g.atoms, rtol=1e-12)
    assert len(g.plot(resolution=9).lines) == 3


def test_a_function_without_atoms_has_no_range():
    with pytest.raises(ValueError, match="no range to draw"):
        KernelExpansion(Gaussian(1.0), np.empty((0, 2)), np.empty(0)).plot()


def test_tables_escape_and_count():
    f = KernelExpansion(Gaussian(1.0), [[0.0], [1.0]], [1.0, 2.0])
    assert "<td>2</td>" in f._repr_html_()
    learner = COLK(Gaussian(0.5)).learn([[0.0], [1.0]], [1.0, 2.0])
    html = learner._repr_html_()
    assert "Gaussian(bandwidth=0.5)" in html
    assert f"<td>{learner.n_atoms}</td>" in html
    assert repr(learner).startswith("COLK(kernel=Gaussian(bandwidth=0.5), loss=Squared()")
