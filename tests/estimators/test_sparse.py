"""Sparse matrices: the model is that of the dense matrix, and no dense copy is made."""

import pickle

import numpy as np
import pytest
from scipy import sparse

import colk
from colk import COLKClassifier, COLKQuantileRegressor, COLKRegressor
from colk import _stored as stored
from colk._stored.memory import Memory
from colk.estimators import sparse_input
from colk.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial
from colk.kernels.of_rows import OfRows, SparseRows

KERNELS = [Linear(), Polynomial(2), Gaussian(1.5), Laplacian(5.0)]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = sparse.random(150, 20, 0.2, format="csr", random_state=0)
    return X, np.tanh(X @ rng.normal(size=20)) + 0.05 * rng.normal(size=150)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_values_are_those_of_dense_rows(kernel, data):
    X, _ = data
    X = sparse.vstack([X, -X[:5], sparse.csr_matrix((2, 20))], format="csr")
    rows = SparseRows(X)
    made = OfRows(kernel, rows)
    np.testing.assert_allclose(made(rows.points), kernel(X.toarray()), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(made.diagonal(rows.points), kernel.diagonal(X.toarray()))


def test_equal_entries_are_added_and_none_is_an_empty_matrix():
    twice = sparse.csr_matrix(([1.0, 2.0], [0, 0], [0, 2, 2]), shape=(2, 3))
    rows = SparseRows(twice)
    assert OfRows(Linear(), rows)(rows.points).tolist() == [[9.0, 0.0], [0.0, 0.0]]
    assert twice.nnz == 2
    empty = SparseRows(sparse.csr_matrix((2, 3)))
    assert OfRows(Gaussian(1.0), empty)(empty.points).tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("solver", ["gradient", "newton"])
def test_a_fit_is_that_of_the_dense_matrix(kernel, solver, data):
    X, y = data
    model = COLKRegressor(kernel=kernel, solver=solver, random_state=0, standardize=False)
    of_sparse, of_dense = (pickle.loads(pickle.dumps(model)).fit(Z, y) for Z in (X, X.toarray()))
    assert of_sparse.kernel_ == kernel
    assert of_sparse.n_atoms_ == of_dense.n_atoms_
    np.testing.assert_allclose(of_sparse.predict(X), of_dense.predict(X.toarray()), atol=1e-9)
    np.testing.assert_allclose(of_sparse.predict(X), of_sparse.predict(X.toarray()), atol=1e-9)
    of_dense.partial_fit(X.toarray(), y)
    np.testing.assert_allclose(
        of_sparse.partial_fit(X, y).predict(X), of_dense.predict(X), atol=1e-8
    )


def test_each_task(data):
    X, y = data
    settings = {"kernel": Gaussian(1.5), "random_state": 0, "standardize": False}
    for model, targets in (
        (COLKClassifier(**settings), np.digitize(y, [-0.3, 0.3])),
        (COLKRegressor(risk="cvar", **settings), y),
        (COLKRegressor(**settings), np.column_stack([y, -y])),
        (COLKQuantileRegressor((0.2, 0.8), **settings), y),
    ):
        found = model.fit(X, targets).predict(X)
        dense = model.fit(X.toarray(), targets).predict(X.toarray())
        np.testing.assert_allclose(found, dense, atol=1e-6)


def test_many_rows_and_outliers(monkeypatch, data):
    monkeypatch.setattr("colk.model.sample.MOST_ROWS", 100)
    monkeypatch.setattr("colk.model.sample.CHOOSING", 60)
    X, y = data
    y = y.copy()
    y[::7] += 40.0
    model = COLKRegressor(kernel=Gaussian(1.5), random_state=0, standardize=False)
    found = model.fit(X, y).predict(X)
    assert model.polished_.n_outliers == len(y[::7])
    np.testing.assert_allclose(found, model.fit(X.toarray(), y).predict(X), atol=1e-8)


def test_the_race_compares_what_is_supported(data):
    X, y = data
    model = COLKRegressor(random_state=0).fit(sparse.csr_array(X), y)
    assert {entry.name for entry in model.race_.entries} == {"laplacian", "gaussian"}
    assert isinstance(model.race_.kernel, (Gaussian, Laplacian))
    assert model.feature_relevance_.shape == (20,)  # at the atoms
    assert model.score(X, y) > 0.9
    assert COLKRegressor(kernel="rbf", bandwidth="median").fit(X, y).bandwidth_ > 0.0


def test_files_and_functions(data, tmp_path):
    X, y = data
    model = COLKRegressor(random_state=0).fit(X, y)
    colk.save(model, tmp_path / "m.colk")
    loaded = colk.load(tmp_path / "m.colk")
    assert (loaded.predict(X) == model.predict(X)).all()
    assert (loaded.partial_fit(X, y).predict(X) == model.partial_fit(X, y).predict(X)).all()
    f = model.function_
    np.testing.assert_allclose(f(X.toarray()) + model.intercept_, model.predict(X), atol=1e-9)


def test_blocks_of_a_stream(monkeypatch, data):
    X, y = data
    first = COLKRegressor(kernel=Gaussian(1.5)).fit(X[:50], y[:50])
    whole, parts = (pickle.loads(pickle.dumps(first)) for _ in range(2))
    whole.partial_fit(X, y, sample_weight=np.arange(150.0))
    monkeypatch.setattr(sparse_input, "_DENSE", 20 * 16)
    parts.partial_fit(X, y, sample_weight=np.arange(150.0))
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    labels = np.where(y > 0.0, "up", "down")
    model = COLKClassifier(kernel="laplacian").partial_fit(X, labels, ["up", "down"])
    before = model.predict(X)
    labels[-1] = "new"
    with pytest.raises(ValueError, match="labels"):
        model.partial_fit(X, labels)
    assert (model.predict(X) == before).all()


def test_dense_models_predict_at_sparse_rows(monkeypatch, data):
    monkeypatch.setattr(sparse_input, "_DENSE", 20 * 16)
    X, y = data
    for settings in ({"kernel": "matern"}, {"standardize": True}):
        model = COLKRegressor(random_state=0, **settings).fit(X.toarray(), y)
        np.testing.assert_allclose(model.predict(X), model.predict(X.toarray()), atol=1e-12)
    newton = COLKRegressor(solver="newton", kernel=Gaussian(1.5)).fit(X, y)
    for found, dense in zip(
        newton.predict(X, return_std=True),
        newton.predict(X.toarray(), return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(found, dense, atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "matern"}, "needs the kernel Linear, Polynomial, Gaussian or Laplacian"),
        ({"kernel": Matern(1.0)}, "pass X.toarray"),
        ({"kernel": Gaussian((1.0,) * 20)}, "one bandwidth"),
        ({"standardize": True}, "MaxAbsScaler"),
    ],
)
def test_what_is_refused(settings, message, data):
    X, y = data
    model = COLKRegressor(**settings)
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(X, y)
    assert not hasattr(model, "_rows")


def test_gaps_are_refused(data):
    X, y = data
    broken = X.copy()
    broken.data[3] = np.nan
    model = COLKRegressor(kernel="gaussian")
    with pytest.raises(ValueError, match="NaN"):
        model.fit(broken, y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, y).predict(broken)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :5])


def test_no_dense_copy_is_made(monkeypatch, data):
    X, y = data
    largest = []
    dense = SparseRows.dense
    monkeypatch.setattr(
        SparseRows, "dense", lambda self, points: largest.append(len(points)) or dense(self, points)
    )
    monkeypatch.setattr(type(X), "toarray", _count(largest, type(X).toarray))
    COLKRegressor(max_atoms=20, random_state=0).fit(X, y).predict(X)
    assert 0 < max(largest) <= 20


def _count(sizes, method):
    def call(matrix, *args, **kwargs):
        sizes.append(matrix.shape[0])
        return method(matrix, *args, **kwargs)

    return call


@pytest.fixture
def keep_sparse(monkeypatch):
    """Let small atoms stay sparse, too."""
    monkeypatch.setattr(sparse_input, "_SMALL", 0)
    monkeypatch.setattr(sparse_input, "_SHARE", 1.0)


TASKS = [
    (COLKRegressor(kernel=Gaussian(1.5), random_state=0), lambda y: y),
    (COLKRegressor(kernel=Linear(), random_state=0), lambda y: y),
    (COLKRegressor(kernel=Laplacian(5.0), solver="newton", random_state=0), lambda y: y),
    (COLKRegressor(kernel=Polynomial(2), random_state=0), lambda y: np.column_stack([y, -y])),
    (COLKClassifier(random_state=0), lambda y: np.digitize(y, [-0.3, 0.3])),
    (COLKQuantileRegressor((0.2, 0.8), kernel=Gaussian(1.5), random_state=0), lambda y: y),
]


@pytest.mark.parametrize(("model", "targets"), TASKS, ids=range(len(TASKS)))
def test_sparse_atoms_predict_as_dense_ones(model, targets, data, tmp_path, monkeypatch):
    X, y = data[0], targets(data[1])
    dense = pickle.loads(pickle.dumps(model)).fit(X, y)
    monkeypatch.setattr(sparse_input, "_SMALL", 0)
    kept = pickle.loads(pickle.dumps(model)).fit(X, y)
    assert (dense.has_sparse_atoms_, kept.has_sparse_atoms_) == (False, True)
    assert (kept.kernel_, kept.n_atoms_) == (dense.kernel_, dense.n_atoms_)
    expected = dense.predict(X)
    for Z in (X, X.toarray(), sparse.csr_array(X)):
        np.testing.assert_allclose(kept.predict(Z), expected, rtol=1e-12, atol=1e-12)
    colk.save(kept, tmp_path / "m.colk")
    for other in (colk.load(tmp_path / "m.colk"), pickle.loads(pickle.dumps(kept))):
        assert other.has_sparse_atoms_
        assert (other.predict(X) == kept.predict(X)).all()
        other.partial_fit(X, y)
        assert not other.has_sparse_atoms_
        dense_on = pickle.loads(pickle.dumps(dense)).partial_fit(X, y)
        np.testing.assert_allclose(other.predict(X), dense_on.predict(X), atol=1e-9)
    np.testing.assert_allclose(kept.function_.atoms, dense.function_.atoms)
    assert not kept.has_sparse_atoms_  # `function_` has dense atoms
    np.testing.assert_allclose(kept.predict(X), expected, rtol=1e-12, atol=1e-12)


def test_large_atoms_stay_sparse_and_small_ones_do_not(tmp_path):
    X = sparse.random(300, 12_000, 0.0015, format="csr", random_state=0)
    y = np.tanh(X.sum(axis=1).A1 - 5.0)
    wide = COLKRegressor(kernel=Gaussian(3.0), max_atoms=200, random_state=0).fit(X, y)
    assert wide.has_sparse_atoms_
    colk.save(wide, tmp_path / "wide.colk")
    numbers = wide.n_atoms_ * X.shape[1]
    assert len(pickle.dumps(wide.learner_.function)) > 8 * numbers  # which makes the atoms dense
    assert (tmp_path / "wide.colk").stat().st_size < 8 * numbers // 10
    narrow = COLKRegressor(kernel=Gaussian(3.0), random_state=0).fit(X[:, :50], y)
    assert not narrow.has_sparse_atoms_
    full = SparseRows(sparse.random(60, 40_000, 0.3, format="csr", random_state=0))
    assert not sparse_input._stay_sparse(full, np.arange(60.0))


@pytest.mark.usefixtures("keep_sparse")
def test_all_doors_take_models_with_sparse_atoms(data):
    X, y = data
    kernel = Gaussian(1.5)

    def fitted(**settings):
        return COLKRegressor(kernel=kernel, random_state=0, **settings).fit(X, y)

    expected = fitted().predict(X)
    small = colk.compress(fitted().function_, eps=0.0).function
    np.testing.assert_allclose(small(X.toarray()) + fitted().intercept_, expected, atol=1e-8)
    assert "def predict" in colk.export.to_python(fitted())
    assert fitted().learner_.predict(X.toarray()).shape == y.shape
    interval = colk.ConformalRegressor(fitted()).fit(X.toarray(), y).predict_interval(X.toarray())
    assert (interval[:, 0] < interval[:, 1]).all()
    std = fitted(solver="newton").predict(X, return_std=True)[1]
    assert (std > 0.0).all()


def test_hostile_rows_are_refused(data):
    X, _ = data
    rows = SparseRows(X)
    kernel = OfRows(Gaussian(1.5), rows)
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert OfRows(Gaussian(1.5), SparseRows(X[:100])) != kernel
    for numbers in ([[150.0]], [[-1.0]], [[1e300]]):
        with pytest.raises(IndexError, match="number of a row"):
            kernel.gram(np.array(numbers), rows.points[:2])
        with pytest.raises(IndexError, match="number of a row"):
            kernel.gram(rows.points[:2], np.array(numbers))
    packed = stored.pack(rows)

    def refuses(**changes):
        with pytest.raises((ValueError, colk.errors.FileFormatError)):
            stored.restore(SparseRows, {**packed, **changes}, lambda size, what: None)

    assert stored.restore(SparseRows, packed, lambda size, what: None) == rows
    places, starts = packed["places"], packed["starts"]
    refuses(n_columns=19)
    refuses(n_columns=0)
    refuses(places=places[::-1].copy())
    refuses(places=-places)
    refuses(places=places[:-1])
    refuses(starts=starts[::-1].copy())
    refuses(starts=starts[:1])
    refuses(starts=starts + 1)
    # SciPy's own check accepts these, because there are no entries.
    far = np.r_[0, np.full(len(starts) - 2, 10**8), 0]
    refuses(starts=far, places=places[:0], values=packed["values"][:0])
    refuses(values=np.full_like(packed["values"], np.nan))
    with pytest.raises(colk.errors.FileFormatError, match="columns of sparse rows"):
        stored.restore(SparseRows, {**packed, "n_columns": 2**30}, Memory(1000).check)
