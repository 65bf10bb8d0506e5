"""Prequential risks as metrics of River."""

import numpy as np
import pytest
from river import datasets, evaluate, linear_model, metrics, preprocessing

from colk.losses import Huber
from colk.risks import Composition, CVaR, Entropic, Mean, MeanSemideviation, Variance
from colk.river import ClassificationRisk, RegressionRisk

RNG = np.random.default_rng(0)
Y, F = RNG.normal(size=50), RNG.normal(size=50)
RISKS = [Mean(), CVaR(0.2), Variance(0.5), Entropic(1.0), MeanSemideviation()]


@pytest.mark.parametrize("risk", RISKS, ids=str)
def test_it_is_the_risk_of_the_latest_losses(risk):
    metric = RegressionRisk(risk, loss="huber", window_size=20)
    for y, f in zip(Y, F, strict=True):
        metric.update(y, f)
    assert metric.get() == pytest.approx(risk.value(Huber().value(F[-20:], Y[-20:])), rel=1e-14)


def test_weights_count_and_a_reverted_sample_does_not():
    weights = RNG.integers(0, 3, size=50).astype(float)
    metric = RegressionRisk(Variance(0.5))
    for y, f, w in zip(Y, F, weights, strict=True):
        metric.update(y, f, w)
    metric.update(9.0, 0.0, 2.0)
    metric.revert(9.0, 0.0, 2.0)
    expected = Variance(0.5).value((F - Y) ** 2, weights)
    assert metric.get() == pytest.approx(expected, rel=1e-12)


def test_of_labels_it_is_the_risk_of_log_losses():
    metric = ClassificationRisk(CVaR(0.5))
    for p in (0.9, 0.8, 0.1, 0.2):
        metric.update("a", {"a": p, "b": 1.0 - p})
    assert metric.get() == pytest.approx(-(np.log(0.1) + np.log(0.2)) / 2.0)
    metric.update("new", {"a": 1.0})
    assert np.isfinite(metric.get())


def test_river_evaluates_with_them():
    model = preprocessing.StandardScaler() | linear_model.LinearRegression()
    metric = RegressionRisk("cvar") + metrics.MAE()
    found = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metric)
    assert all(value > 0.0 for value in found.get())
    model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    found = evaluate.progressive_val_score(datasets.Phishing(), model, ClassificationRisk())
    assert 0.0 < found.get() < 10.0
    assert not found.clone()._samples
    assert RegressionRisk().bigger_is_better is ClassificationRisk().bigger_is_better is False


def test_what_it_refuses():
    with pytest.raises(ValueError, match="window_size"):
        RegressionRisk(window_size=0)
    with pytest.raises(ValueError, match="loss for classification"):
        RegressionRisk(loss="logistic")
    bias = Composition(
        lambda f, y: f - y, lambda f, y: 1.0, lambda f, y, g: g, lambda f, y, g: 0.0,
        lambda f, y, g: 1.0,
    )  # fmt: skip
    with pytest.raises(TypeError, match="risk of losses"):
        ClassificationRisk(bias)
