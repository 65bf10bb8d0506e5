"""Trackers of a mean: formulas, registry, and one from outside the package."""

import copy
import pickle

import numpy as np
import pytest

from colk import trackers
from colk.testing import check_tracker
from colk.trackers import TRACKERS, Extrapolation, Momentum, MovingAverage, Tracker

ALL = [Momentum(), MovingAverage(), Extrapolation()]


class Slow(Tracker):
    """A moving average at a share of the rate, as a user writes it."""

    _fields = ("share",)

    def __init__(self, share=0.5):
        self.share = share

    def update(self, g, before, now, rate):
        return g + self.share * rate * (now - g)


class Failing(Tracker):
    def update(self, g, before, now, rate):
        raise KeyError("no such mean")


@pytest.mark.parametrize("tracker", [*ALL, Slow()], ids=repr)
def test_obeys_the_laws(tracker):
    check_tracker(tracker)


def test_formulas():
    now, before, rate = [2.0, 5.0], [2.0, 3.0], 0.25
    assert Momentum().follow(now, before, rate=rate).tolist() == [2.0, 0.75 * (2.0 - 3.0) + 5.0]
    assert MovingAverage().follow(now, before, rate=rate).tolist() == [2.0, 0.75 * 2.0 + 0.25 * 5.0]
    assert Extrapolation().follow(now, before, rate=rate).tolist() == [2.0, 0.75 * 2.0 + 0.25 * 3.0]
    assert Slow().follow(now, before, rate=rate).tolist() == [2.0, 2.0 + 0.125 * 3.0]


def test_which_trackers_remember():
    assert [tracker.remembers for tracker in (*ALL, Slow())] == [True, False, True, False]


def test_momentum_follows_a_moving_function_without_lag():
    """Inner values ξ + h(t), with both values of a sample known: h(t) cancels."""
    rng = np.random.default_rng(0)
    t = np.arange(5000)
    noise, drift = 0.01 * rng.normal(size=5000), 0.1 * t
    lags = []
    for tracker in (Momentum(), MovingAverage()):
        path = tracker.follow(noise + drift, noise + drift - 0.1, rate=0.05)
        lags.append(np.abs(path - drift)[1000:].mean())
    assert lags[0] < 0.01
    assert lags[1] == pytest.approx(0.1 * 0.95 / 0.05, rel=0.01)


@pytest.mark.parametrize("tracker", [Momentum(), MovingAverage(), Slow()], ids=repr)
def test_a_still_function_has_its_mean_found(tracker):
    inner = np.random.default_rng(1).exponential(size=20_000)
    path = tracker.follow(inner, rate=0.01)
    assert path[2000:].mean() == pytest.approx(1.0, rel=0.03)


def test_rate_one_has_no_memory():
    inner = np.array([3.0, 1.0, 2.0])
    for tracker in ALL:
        assert np.array_equal(tracker.follow(inner, rate=1.0), inner)


@pytest.mark.parametrize("tracker", [*ALL, Slow(0.3)], ids=repr)
def test_terms_are_frozen(tracker):
    for again in (pickle.loads(pickle.dumps(tracker)), copy.deepcopy(tracker)):
        assert again == tracker
        assert hash(again) == hash(tracker)
        assert repr(again) == repr(tracker)
    assert tracker.replace() == tracker
    with pytest.raises(AttributeError, match="cannot be changed"):
        tracker.remembers = False


def test_the_registry_names_what_a_learner_takes():
    assert {"momentum": Momentum, "average": MovingAverage} == TRACKERS
    assert set(TRACKERS.values()) < {getattr(trackers, name) for name in trackers.__all__[1:]}
    assert len({Momentum(), MovingAverage(), Extrapolation(), Momentum()}) == 3


def test_a_tracker_of_ones_own():
    assert repr(Slow(0.25)) == "Slow(share=0.25)"
    assert Slow(0.25).replace(share=1.0).follow([0.0, 1.0], rate=0.5).tolist() == [0.0, 0.5]
    with pytest.raises(AttributeError, match="cannot be changed"):
        Slow().share = 1.0
    with pytest.raises(KeyError, match="no such mean"):
        Failing().follow([1.0, 2.0])
    with pytest.raises(NotImplementedError, match="Tracker must define the method update"):
        Tracker().follow([1.0, 2.0])


@pytest.mark.parametrize(
    ("update", "law"),
    [
        (lambda self, g, before, now, rate: g + rate * now, "confirms is kept"),
        (lambda self, g, before, now, rate: g + (now - before) / rate, "within 2/β"),
        (lambda self, g, before, now, rate: g if now == before else np.nan, "finite"),
    ],
)
def test_the_check_can_fail(update, law):
    with pytest.raises(AssertionError, match=law):
        check_tracker(type("Wrong", (Tracker,), {"update": update})())


def test_bad_input_meets_one_clear_error():
    with pytest.raises(TypeError, match="check_tracker needs a Tracker"):
        check_tracker("momentum")
    with pytest.raises(ValueError, match=r"rate must lie in \(0, 1\]"):
        Momentum().follow([1.0], rate=0.0)
    with pytest.raises(ValueError, match="before has 1 entries, expected 2"):
        Momentum().follow([1.0, 2.0], [1.0])
