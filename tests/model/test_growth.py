"""max_atoms="auto" adds atoms if they lower left-out residuals; the model then works as before."""

import numpy as np
import pytest

import colk
from colk import COLKClassifier, COLKRegressor
from colk.kernels import Gaussian
from colk.losses import Softmax, Squared
from colk.model import Settings, grown, growth
from colk.risks import Mean
from colk.rkhs import KernelExpansion
from colk.rkhs.polishing import final_polish
from colk.tabular import TableModel

RNG = np.random.default_rng(0)
X = RNG.uniform(-3.0, 3.0, size=(600, 2))
Y = np.sin(3.0 * X[:, 0]) * np.cos(3.0 * X[:, 1])
NOISE = RNG.normal(size=600)


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(growth, "_WORK", 600 * 120**2)
    monkeypatch.setattr(growth, "_ALL", 0)
    monkeypatch.setattr("colk.model.settings.FIRST_ATOMS", 30)
    monkeypatch.setattr("colk.model.sample_fit.FIRST_ATOMS", 30)


def on(n_atoms, targets=Y, bandwidth=0.4):
    shape = (n_atoms, *targets.shape[1:])
    return KernelExpansion(Gaussian(bandwidth), X[:n_atoms], np.zeros(shape))


def test_atoms_are_added_where_they_pay_and_only_there():
    signal = grown(on(30), X, Y, np.ones(600), Squared())
    assert 110 < signal.function.n_atoms <= 120
    np.testing.assert_array_equal(signal.tried[:, 0], [60.0, signal.function.n_atoms])
    assert (signal.tried[:, 1] > 2.0 * signal.tried[:, 2]).all()
    noise = grown(on(30), X, NOISE, np.ones(600), Squared())
    assert noise.function.n_atoms == 30
    assert len(noise.tried) == 1


def test_classes_grow_too():
    classes = (X[:, 0] > 0.0) + 2.0 * (np.sin(2.0 * X[:, 1]) > 0.0)
    f = on(30, np.zeros((600, 4)))
    assert grown(f, X, classes, np.ones(600), Softmax()).function.n_atoms >= 60
    any_class = RNG.integers(4, size=600).astype(float)
    assert grown(f, X, any_class, np.ones(600), Softmax()).function.n_atoms == 30


def test_left_out_samples_are_predicted_by_a_fit_without_them():
    f, weight = on(60), RNG.uniform(0.5, 2.0, size=600)
    step = growth._Step(f, X, Y[:, None], weight, are_labels=False)
    losses = []
    for size in (30, 60):
        table, gram = f.kernel.gram(X, X[:size]), f.kernel.gram(X[:size])
        loss = np.empty(600)
        for fold in range(growth._FOLDS):
            left = np.arange(fold, 600, growth._FOLDS)
            rest = np.setdiff1d(np.arange(600), left)
            shares = (weight / weight.mean())[rest, None]
            A = table[rest].T @ (shares * table[rest]) + 0.1 * gram
            w = np.linalg.solve(A, table[rest].T @ (shares[:, 0] * Y[rest]))
            loss[left] = 0.5 * (Y - table @ w)[left] ** 2
        losses.append(np.average(loss, weights=weight))
    np.testing.assert_allclose(step._losses(0.1, (30, 60)) @ step._weight, losses, rtol=1e-5)


def test_new_atoms_are_where_left_out_losses_are_large():
    rough = np.where(X[:, 0] > 0.0, np.sin(6.0 * X[:, 1]), 0.0)
    new = grown(on(30), X, rough, np.ones(600), Squared()).function.atoms[30:]
    assert len(new) >= 30
    assert np.mean(new[:, 0] > 0.0) > 0.7 > np.mean(X[:, 0] > 0.0) + 0.15


def test_few_samples_and_samples_of_weight_0_do_not_add_atoms():
    weight = np.zeros(600)
    weight[:100] = 1.0
    assert grown(on(30), X, Y, weight, Squared()).function.n_atoms == 30


def test_weights_are_the_optimum_on_all_atoms():
    found = grown(on(30), X, Y, np.ones(600), Squared())
    few = final_polish(on(30), X, Y, Squared(), Mean(), 1e-6)
    polished = found.polished(few, X, Y, np.ones(600), 1e-6).polished
    f, decay = polished.function, polished.regularization
    assert decay == few.polished.regularization
    table = f.kernel.gram(X, f.atoms)
    A = 2.0 * table.T @ table / 600 + decay * f.kernel.gram(f.atoms)
    best = table @ np.linalg.lstsq(A, 2.0 * table.T @ Y / 600, rcond=None)[0]
    assert np.mean((f(X) - best) ** 2) < 1e-3 * np.mean((Y - best) ** 2) + 1e-8


def test_an_estimator_goes_on_with_the_larger_model(tmp_path):
    model = COLKRegressor(kernel=Gaussian(0.7), random_state=0).fit(X, Y)
    fixed = COLKRegressor(kernel=Gaussian(0.7), random_state=0, max_atoms=30).fit(X, Y)
    assert fixed.n_atoms_ == 30 < model.n_atoms_ == model.max_atoms_ <= 120
    assert len(fixed.growth_) == 0 < len(model.growth_)
    assert np.mean((model.predict(X) - Y) ** 2) < 0.5 * np.mean((fixed.predict(X) - Y) ** 2)
    colk.save(model, tmp_path / "model.colk")
    loaded = colk.load(tmp_path / "model.colk")
    for one in (model, loaded):
        one.partial_fit(X[:50], Y[:50])
        assert one.n_atoms_ > 60
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.growth_, model.growth_)


def test_risks_labels_and_tables_grow_too():
    averse = COLKRegressor(kernel=Gaussian(0.7), risk="cvar", random_state=0).fit(X, Y)
    assert averse.n_atoms_ > 30
    averse.partial_fit(X[:20], Y[:20])
    labels = COLKClassifier(kernel=Gaussian(0.7), random_state=0, eps=1e-3).fit(X, Y > 0.0)
    assert labels.n_atoms_ > 30
    table = TableModel("y", ["a", "b"], kernel=Gaussian(0.4)).fit(
        [({"a": X[:, 0], "b": X[:, 1]}, Y)]
    )
    assert table.n_atoms > 30
    assert table.settings.max_atoms == table.n_atoms


def test_streams_newton_steps_and_a_given_number_do_not_grow():
    assert Settings().grows
    assert not Settings(max_atoms=30).grows
    assert not Settings(solver="newton").grows
    with pytest.raises(ValueError, match="'many'"):
        COLKRegressor(max_atoms="many").fit(X, Y)
    assert COLKRegressor().partial_fit(X, Y).max_atoms_ == 30


def test_every_one_of_few_rows_may_be_an_atom(monkeypatch, tmp_path):
    monkeypatch.setattr(growth, "_ALL", 400)
    few, more = (
        COLKRegressor(kernel=Gaussian(0.2), random_state=0).fit(X[:size], Y[:size])
        for size in (400, 600)
    )
    assert few.n_atoms_ == few.max_atoms_ > 350
    assert more.n_atoms_ <= 120
    for settings in ({"eps": 0.05}, {"epochs": 1}, {"max_atoms": 30}):
        model = COLKRegressor(kernel=Gaussian(0.2), random_state=0, **settings)
        assert model.fit(X[:400], Y[:400]).n_atoms_ <= 120
    averse = COLKRegressor(kernel=Gaussian(0.2), risk="cvar", random_state=0).fit(X[:400], Y[:400])
    assert averse.n_atoms_ == few.n_atoms_  # a risk has the atoms of the mean
    colk.save(few, tmp_path / "model.colk")
    loaded = colk.load(tmp_path / "model.colk")
    for one in (few, loaded):
        one.partial_fit(X[400:450], Y[400:450])
    np.testing.assert_array_equal(loaded.predict(X), few.predict(X))


def test_rows_that_are_nearly_atoms_are_not_added():
    f = KernelExpansion(Gaussian(0.7), X[:2], np.ones(2))
    twice = np.concatenate([X[:50], X[:50] + 1e-9])
    larger = growth._with_novel(f, twice, 100)
    assert 2 < larger.n_atoms <= 50
    np.testing.assert_allclose(larger(X), f(X), rtol=1e-12)


def test_dependent_atoms_get_no_more():
    large = np.random.default_rng(1).normal(size=(200, 2)) * 1e3
    f = KernelExpansion(Gaussian(1e5), large[:30], np.ones(30))
    assert growth.filled(f, large, 200) is f
    model = COLKRegressor(kernel="polynomial", random_state=0).fit(X[:100], Y[:100])
    assert np.isfinite(model.predict(X)).all()
