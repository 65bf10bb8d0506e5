"""User-defined terms in files: stored by name, and passed when loading."""

import numpy as np
import pytest
from cases import X, Y
from sklearn.svm import SVR

import colk
from colk import COLK, KernelExpansion, learners
from colk.compressors import Compressor, enrol
from colk.kernels import KERNELS, CustomKernel, Gaussian, Kernel, Linear
from colk.losses import Loss
from colk.trackers import Tracker


class Smallest(Kernel):
    def columns(self, atoms, n, points, size, out, first):
        near = np.minimum(atoms[:, None, :n], points.T[:, :size, None])
        out[first : first + size, :n] = near.sum(axis=0)


class KeepAll(Compressor):
    needs_factor = False

    def settle(self, dictionary, staged, step_size, t):
        enrol(dictionary, staged)
        return 0.0


class Halfway(Tracker):
    def update(self, g, before, now, rate):
        return 0.5 * (g + now)


def cauchy(u, v):
    return 1.0 / (1.0 + ((u - v) ** 2).sum())


class Quartic(Loss):
    def loss_at(self, f, y):
        return (f - y) ** 4

    def slope_at(self, f, y):
        return 4.0 * (f - y) ** 3


def test_own_terms_are_handed_back(tmp_path):
    terms = {
        "Smallest": Smallest(),
        "Quartic": Quartic(),
        "KeepAll": KeepAll(),
        "Halfway": Halfway(),
    }
    learner = COLK(
        Gaussian(1.0) + 0.5 * terms["Smallest"],
        terms["Quartic"],
        colk.risks.Variance(0.1),
        compressor=terms["KeepAll"],
        tracker=terms["Halfway"],
        step_size=0.01,
    ).learn(X[:20], Y[:20])
    colk.save(learner, tmp_path / "m")
    twin = colk.load(tmp_path / "m", terms=terms)
    learner.learn(X[20:40], Y[20:40])
    np.testing.assert_array_equal(twin.learn(X[20:40], Y[20:40]).predict(X), learner.predict(X))


def test_own_functions_go_by_their_names(tmp_path):
    f = KernelExpansion(2.0 * CustomKernel(cauchy) + Linear(), [[1.0]], [1.0])
    colk.save(f, tmp_path / "f")
    assert colk.load(tmp_path / "f", terms={"cauchy": CustomKernel(cauchy)}) == f
    with pytest.raises(LookupError, match=r"terms=\{'cauchy': \.\.\.\}"):
        colk.load(tmp_path / "f")
    with pytest.raises(LookupError, match=r"but terms\['cauchy'\] is Linear\(\)"):
        colk.load(tmp_path / "f", terms={"cauchy": Linear()})


def test_own_features_are_handed_back(tmp_path):
    class Line:
        def transform(self, X):
            return np.column_stack([np.ones(len(X)), X])

        def __repr__(self):
            return "Line()"

    learner = learners.SCGD(Line()).learn(X[:20], Y[:20])
    colk.save(learner, tmp_path / "m")
    twin = colk.load(tmp_path / "m", terms={"Line": Line()})
    np.testing.assert_array_equal(twin.predict(X), learner.predict(X))


def test_a_registry_does_not_let_files_make_own_classes(tmp_path, monkeypatch):
    monkeypatch.setitem(KERNELS, "smallest", Smallest)
    colk.save(KernelExpansion(Smallest(), [[1.0]], [1.0]), tmp_path / "f")
    with pytest.raises(LookupError, match="Smallest"):
        colk.load(tmp_path / "f")


def test_two_own_terms_of_one_name_are_refused(tmp_path):
    kernel = CustomKernel(lambda u, v: 1.0) + CustomKernel(lambda u, v: 2.0)
    with pytest.raises(ValueError, match="name '<lambda>'"):
        colk.save(KernelExpansion(kernel, [[1.0]], [1.0]), tmp_path / "f")
    assert not list(tmp_path.iterdir())


class Derived(COLK):
    pass


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (Derived(Gaussian(1.0)), "a Derived cannot be saved"),
        (SVR().fit(X, Y), "save from_sklearn"),
        ([1.0, 2.0], "a list cannot be saved"),
        (colk.COLKRegressor(random_state=np.random.default_rng(0)), "Generator"),
    ],
    ids=["derived", "machine", "list", "generator"],
)
def test_what_cannot_be_saved_is_said(model, said, tmp_path):
    with pytest.raises(TypeError, match=said):
        colk.save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())
