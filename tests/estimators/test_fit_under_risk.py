"""`fit` under a risk: the mean's atoms, the path, the risk as given, and what follows a fit."""

import numpy as np
import pytest

import colk
from colk import COLKClassifier, COLKRegressor
from colk.estimators import RiskPathDisplay
from colk.model import sample
from colk.risks import CVaR, Entropic, Mean, Semivariance, Variance
from colk.tabular import TableModel


def samples(n=600, seed=0, noise="exponential"):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, 2))
    return X, 10.0 * (np.sin(3.0 * X[:, 0]) + X[:, 1] + 0.5 * getattr(rng, noise)(size=n))


def regressor(**settings):
    return COLKRegressor(**{"kernel": "gaussian", "max_atoms": 60, "random_state": 0} | settings)


RISKS = [CVaR(0.1), CVaR(0.05, 0.5), Variance(0.5), Semivariance(1.0), Entropic(3.0)]


@pytest.fixture(scope="module", params=["gradient", "newton"])
def mean(request):
    """A fitted model of the mean, by each solver."""
    return regressor(kernel="auto", solver=request.param).fit(*samples())


@pytest.mark.parametrize("risk", RISKS, ids=repr)
def test_atoms_and_race_are_those_of_the_mean(risk, mean):
    X, y = samples()
    model = regressor(kernel="auto", solver=mean.solver, risk=risk).fit(X, y)
    np.testing.assert_array_equal(mean.function_.atoms, model.function_.atoms)
    assert str(mean.race_) == str(model.race_)
    assert model.learner_.risk == model.risk_ == risk
    kept = model.risk_path_.kept_the_mean
    assert kept == np.array_equal(mean.predict(X), model.predict(X))


@pytest.mark.parametrize("risk", RISKS, ids=repr)
def test_the_risk_as_given_ends_below_the_model_of_the_mean(risk):
    """The objective on the training samples, with the same λ."""
    X, y = samples(noise="normal")
    mean = regressor().fit(X, y)
    model = regressor(risk=risk, risk_path=False).fit(X, y)
    assert model.risk_path_ is None
    decay = mean.polished_.regularization
    assert model.polished_.regularization == decay
    values = [
        risk.value(each._losses(X, y)) + 0.5 * decay * each.learner_.function.norm() ** 2
        for each in (model, mean)
    ]
    assert values[0] <= values[1]
    if risk.is_monotone:
        assert model.polished_.gap <= 1e-3 * model.polished_.value


def test_the_tail_is_lower_where_the_noise_is_skewed_and_never_higher():
    for noise, least, most in (("exponential", 0.1, 0.5), ("normal", -0.01, 0.1)):
        X, y = samples(1000, noise=noise)
        points, targets = samples(4000, seed=1, noise=noise)
        mean, model = regressor().fit(X, y), regressor(risk=CVaR(0.1)).fit(X, y)
        tails = [CVaR(0.1).value(each._losses(points, targets)) for each in (model, mean)]
        assert least <= 1.0 - tails[0] / tails[1] <= most


def test_several_outputs_classes_and_weights():
    X, y = samples()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    both = regressor(risk=CVaR(0.2)).fit(X, np.column_stack([y, -y]), weight)
    assert both.predict(X).shape == (600, 2)
    assert both.risk_path_.n_samples == 600
    for labels in (y > 5.0, np.digitize(y, [0.0, 10.0])):
        model = COLKClassifier(kernel="gaussian", risk=CVaR(0.2), random_state=0)
        model.fit(X, labels, weight)
        assert model.score(X, labels) > 0.75
        assert model.risk_path_.risk == CVaR(0.2)


@pytest.mark.parametrize("solver", ["gradient", "newton"])
def test_a_stream_goes_on_under_the_risk(solver, tmp_path):
    X, y = samples()
    model = regressor(risk=CVaR(0.1), solver=solver).fit(X, y)
    g = CVaR(0.1).estimate(model._losses(X, y))
    np.testing.assert_allclose(model.inner_estimate_, g, rtol=1e-9)
    colk.save(model, tmp_path / "model.colk")
    twin = colk.load(tmp_path / "model.colk")
    assert twin.risk_path_ == model.risk_path_
    for each in (model, twin):
        each.partial_fit(X[:100], y[:100])
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))
    assert model.n_steps_ == 600 + 100


def test_without_a_polish_the_stream_has_the_risk():
    X, y = samples()
    model = regressor(risk=CVaR(0.1), polish=False, epochs=1).fit(X, y)
    assert model.risk_path_ is None
    assert model.n_steps_ == 600


def test_the_path_is_drawn():
    X, y = samples()
    model = regressor(risk=CVaR(0.1)).fit(X, y)
    display = RiskPathDisplay.from_estimator(model)
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert {"λ of the mean", "4 λ", "chosen", "model of the mean"} <= set(legend)
    chosen = next(line for line in display.ax_.lines if line.get_label() == "chosen")
    assert chosen.get_ydata()[0] == model.risk_path_.chosen.held_out
    with pytest.raises(ValueError, match="has no risk_path_: call fit under a risk"):
        RiskPathDisplay.from_estimator(regressor().fit(X, y))


def test_a_table_stores_its_path(tmp_path):
    X, y = samples()
    columns = {"a": X[:, 0], "b": X[:, 1]}
    model = TableModel("y", ["a", "b"], kernel="gaussian", max_atoms=60, risk=CVaR(0.1))
    colk.save(model.fit([(columns, y)]), tmp_path / "m.colk")
    again = colk.load(tmp_path / "m.colk")
    assert again.path == model.path is not None
    np.testing.assert_array_equal(model.predict(columns), again.predict(columns))


def test_a_table_of_many_rows_keeps_the_model_of_the_mean(monkeypatch):
    """If the path stays at the mean, the weights come from all rows, as for the mean."""
    monkeypatch.setattr(sample, "MOST_ROWS", 300)
    X, y = samples(900, noise="normal")
    columns = {"a": X[:, 0], "b": X[:, 1]}
    models = [
        TableModel("y", ["a", "b"], kernel="gaussian", max_atoms=40, risk=risk).fit([(columns, y)])
        for risk in (Mean(), CVaR(0.05))
    ]
    assert models[1].path.kept_the_mean
    np.testing.assert_array_equal(models[0].predict(columns), models[1].predict(columns))


@pytest.mark.parametrize("risk", ["cvar", "variance", "entropic"])
def test_one_row_is_fitted_under_a_risk(risk):
    assert COLKRegressor(risk=risk).fit([[1.0, 2.0]], [3.0]).predict([[1.0, 2.0]]) == [3.0]


@pytest.mark.parametrize("risk", ["cvar", "variance", "entropic"])
def test_if_the_mean_stays_only_time_is_lost(risk):
    """The model is that of a fit without a risk, bit for bit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=400)
    model = COLKRegressor(risk=risk, random_state=0).fit(X, y)
    assert "the model of the mean stays" in model.risk_path_.told
    plain = COLKRegressor(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
