"""`fit` after its passes: polish, early stopping, verbose output, warnings."""

import copy

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from colk import COLK, COLKClassifier, COLKRegressor
from colk.kernels import Gaussian
from colk.losses import CustomLoss, Huber
from colk.river import COLKRegressor as RiverRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
Y = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=400)


def regressor(**settings):
    return COLKRegressor(random_state=0, **settings)


def test_the_polish_keeps_the_atoms_and_betters_the_objective():
    plain, polished = (regressor(polish=flag, epochs=2).fit(X, Y) for flag in (False, True))
    np.testing.assert_array_equal(plain.function_.atoms, polished.function_.atoms)
    found = polished.polished_
    assert found.value < found.value_before
    assert found.regularization >= polished.regularization_
    np.testing.assert_allclose(
        polished.predict(X),
        found.function(X) * polished.target_scale_ + polished.intercept_,
        atol=1e-9,
    )
    assert not hasattr(plain, "polished_")


@pytest.mark.parametrize("risk", ["mean", "variance"])
def test_single_steps_go_on_from_the_polished_function(risk):
    model = regressor(risk=risk, epochs=1).fit(X, Y)
    before, again = model.predict(X), copy.deepcopy(model)
    np.testing.assert_array_equal(again.predict(X), before)
    model.partial_fit(X[:1], Y[:1])
    assert np.abs(model.predict(X) - before).max() < 0.1
    again.partial_fit(X[:1], Y[:1])
    np.testing.assert_array_equal(model.predict(X), again.predict(X))


def test_early_stopping_makes_fewer_epochs():
    whole, stopped = (regressor(epochs=50, early_stopping=flag).fit(X, Y) for flag in (False, True))
    assert len(whole.loss_curve_) == 50
    assert len(stopped.loss_curve_) < 50
    assert stopped.score(X, Y) > 0.9


def test_verbose_prints_a_line_for_each_epoch(capsys):
    regressor(epochs=2, verbose=True).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["epoch", "epoch", "polished:"]
    assert lines[0].startswith("[COLKRegressor] epoch 1: loss ")


def wrong_way(f, y):
    return -2.0 * (f - y)


def squared(f, y):
    return (f - y) ** 2


def test_a_slope_of_the_wrong_sign_is_refused():
    with pytest.raises(ValueError, match=r"slope of .*squared.* has the wrong sign"):
        regressor(loss=CustomLoss(squared, wrong_way)).fit(X, Y)
    with pytest.raises(ValueError, match="has the wrong sign"):
        RiverRegressor(loss=CustomLoss(squared, wrong_way))
    with pytest.raises(ValueError, match="has the wrong sign"):
        COLK(Gaussian(1.0), CustomLoss(squared, wrong_way))


def test_a_model_that_does_not_learn_says_so():
    noise = RNG.normal(size=400)
    with pytest.warns(ConvergenceWarning, match="above the .* of predicting a constant; lower"):
        regressor(loss="pinball", step_size=30.0, polish=False, epochs=1).fit(X, noise)


def test_clipped_steps_are_reported():
    with pytest.warns(ConvergenceWarning, match="raise gradient_bound"):
        regressor(gradient_bound=1e-3, loss=Huber(1.0), eps=1e-6, epochs=1).fit(X, Y)


def test_steps_that_are_all_forgotten_are_reported():
    with pytest.warns(ConvergenceWarning, match="lower eps, or raise step_size"):
        regressor(eps=100.0).fit(X, Y)


def test_a_budget_that_forgets_more_than_eps_is_reported():
    with pytest.warns(ConvergenceWarning, match="raise max_atoms"):
        regressor(max_atoms=3, eps=0.01, polish=False).fit(X, Y)


def test_classifiers_are_polished_too():
    labels = np.digitize(X[:, 0] * X[:, 1], [-0.3, 0.3])
    for loss in ("logistic", "hinge"):
        settings = {"loss": loss, "epochs": 1, "random_state": 0, "max_atoms": 20}
        plain = COLKClassifier(polish=False, **settings).fit(X, labels)
        polished = COLKClassifier(**settings).fit(X, labels)
        assert polished.score(X, labels) > plain.score(X, labels)
