"""Forecasts of errors: lags that find themselves, seasons, and what happens if they are useless."""

import numpy as np
import pytest

import colk
from colk import ConformalRegressor, river
from colk.conformal.lags import find_lags
from colk.conformal.rule import IntervalRule
from colk.conformal.series import ErrorForecast


def seasonal(n, period=24, seed=0):
    rng, t = np.random.default_rng(seed), np.arange(n)
    errors = np.zeros(n)
    for k in range(1, n):
        errors[k] = 0.5 * errors[k - 1] + 0.1 * rng.normal()
    return np.where(t % period < period // 4, 2.0, -1.0) + errors


def ends_of(rule, errors):
    ends = np.empty((len(errors), 2))
    for t in range(len(errors)):
        ends[t] = rule.ends(0.9, np.zeros((1, 0)), np.zeros((1, 2)))[0]
        rule.learn(np.zeros((1, 0)), np.zeros((1, 2)), errors[t : t + 1])
    return ends


@pytest.mark.parametrize("period", [7, 24, 100])
def test_seasons_are_found(period):
    assert period in find_lags(seasonal(4 * period + 100, period))


def test_noise_and_constants_have_no_lags():
    assert sum(len(find_lags(np.random.default_rng(k).normal(size=300))) for k in range(10)) <= 1
    assert find_lags(np.ones(200)) == find_lags(np.zeros(2)) == []


def test_intervals_move_with_the_season():
    errors = seasonal(800)
    ends = {flag: ends_of(IntervalRule(0.9, series=flag), errors) for flag in (False, True)}
    widths = {flag: np.median(np.ptp(ends[flag][300:], axis=1)) for flag in ends}
    low, high = ends[True][300:].T
    assert np.mean((low <= errors[300:]) & (errors[300:] <= high)) == pytest.approx(0.9, abs=0.03)
    assert widths[True] < 0.25 * widths[False]


def test_useless_forecasts_cost_little():
    errors = np.random.default_rng(0).standard_t(3.0, size=1200)
    plain, cast = (ends_of(IntervalRule(0.9, series=flag), errors)[300:] for flag in (False, True))
    assert np.ptp(cast, axis=1).mean() < 1.05 * np.ptp(plain, axis=1).mean()


def test_gross_errors_do_not_stay_in_the_models():
    errors = seasonal(900)
    errors[500] = 1e9
    ends = ends_of(IntervalRule(0.9, series=True), errors)
    assert np.median(np.ptp(ends[600:], axis=1)) < 2.0


def test_several_horizons_follow_the_season():
    forecast, errors = ErrorForecast(), seasonal(624)
    forecast.update(errors[:600])
    found = forecast.predict(24)
    assert np.abs(found[:, 1] - errors[600:]).mean() < 0.4
    assert np.abs(errors[600:]).mean() > 1.0
    np.testing.assert_array_equal(found[:, 0], 0.0)


def test_rows_of_a_call_are_the_next_times():
    class Zero:
        quantiles = ()

        def learn(self, X, y):
            pass

        def predict(self, X):
            return np.zeros(len(X))

    errors, X = seasonal(900), np.zeros((900, 1))
    model, covered = ConformalRegressor(Zero(), series=True), []
    for start in range(0, 900, 6):
        rows = slice(start, start + 6)
        low, high = model.predict_interval(X[rows]).T
        covered += ((low <= errors[rows]) & (errors[rows] <= high)).tolist()
        model.learn(X[rows], errors[rows])
    assert np.mean(covered[300:]) == pytest.approx(0.9, abs=0.04)
    assert np.median(np.ptp(model.predict_interval(X[:6]), axis=1)) < 1.5


def test_a_stored_series_goes_on(tmp_path):
    errors = seasonal(500)
    model = river.ConformalRegressor(river.COLKRegressor(kernel="gaussian"), series=True)
    for t in range(450):
        model.learn_one({"a": 0.0}, errors[t])
    colk.save(model, tmp_path / "series.colk")
    again = colk.load(tmp_path / "series.colk")
    for t in range(450, 500):
        mine, other = model.predict_interval({"a": 0.0}), again.predict_interval({"a": 0.0})
        assert (mine.lower, mine.upper) == (other.lower, other.upper)
        for each in (model, again):
            each.learn_one({"a": 0.0}, errors[t])


def test_adaptive_conformal_inference_is_a_named_choice():
    rule = IntervalRule(0.9, adaptive=colk.conformal.AdaptiveInterval(0.02, 50))
    assert (rule.adaptive.rate, rule.adaptive.window) == (0.02, 50)
    with pytest.raises(ValueError, match="an AdaptiveInterval has neither local nor series"):
        IntervalRule(0.9, series=True, adaptive=colk.conformal.AdaptiveInterval())
    with pytest.raises(TypeError, match="rule must be None or an AdaptiveInterval, got str"):
        IntervalRule(0.9, adaptive="aci")
