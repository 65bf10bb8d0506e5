"""Learners that look for drift: events, columns, copies and files."""

import copy
import pickle

import numpy as np
import pytest

import colk
from colk.kernels import Gaussian
from colk.learners import BSGD, COLK, DriftDetector, NewtonCOLK, RandomFeatureSGD

N, LATE = 2600, 2000
X = np.random.default_rng(0).normal(size=(N, 2))
X[LATE:, 1] += 2.0
Y = X[:, 0] + X[:, 1] ** 2
LEARNERS = {
    "COLK": lambda: COLK(Gaussian(2.0)),
    "pairs": lambda: COLK(Gaussian(2.0), risk=colk.risks.Variance(0.1)),
    "batches": lambda: COLK(Gaussian(2.0), batch_size=4),
    "NewtonCOLK": lambda: NewtonCOLK(Gaussian(2.0), compressor=colk.compressors.KOMP(max_atoms=20)),
    "BSGD": lambda: BSGD(Gaussian(2.0), max_atoms=20),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_drift_has_time_severity_and_columns(name):
    learner = LEARNERS[name]().watch_drift()
    learner.learn(X[:LATE], Y[:LATE])
    assert not learner.drift_detected
    learner.learn(X[LATE:], Y[LATE:])
    assert learner.drift_detected
    drift = learner.drifts[0]
    assert LATE < drift.time < LATE + 200
    assert drift.severity > 0.5
    assert list(drift.features) == [1]


def test_the_detector_takes_the_losses_before_each_step():
    learner = COLK(Gaussian(2.0), trace=True).watch_drift(DriftDetector(4.0)).learn(X, Y)
    alone = DriftDetector(4.0)
    alone.update_many(learner.trace.loss, {0: X[:, 0], 1: X[:, 1]})
    told = [(drift.time, drift.severity) for drift in learner.drifts]
    assert told == [(drift.time, drift.severity) for drift in alone.events] != []
    assert learner.drifts[0].features == pytest.approx(alone.events[0].features)


def test_chunks_and_single_samples_make_no_difference():
    whole, single = COLK(Gaussian(2.0)).watch_drift().learn(X, Y), COLK(Gaussian(2.0)).watch_drift()
    found = []
    for t in range(N):
        single.learn_one(X[t].tolist(), float(Y[t]))
        if single.drift_detected:
            found.append(t + 1)
    assert single.drifts == whole.drifts
    assert found == [drift.time for drift in whole.drifts] != []


@pytest.mark.parametrize("moment", [300, 1234, 2100])
def test_copies_go_on_and_share_nothing(moment, tmp_path):
    learner = COLK(Gaussian(2.0)).watch_drift().learn(X[:moment], Y[:moment])
    colk.save(learner, tmp_path / "learner")
    before = list(learner.drifts)
    twins = [
        copy.copy(learner),
        pickle.loads(pickle.dumps(learner)),
        colk.load(tmp_path / "learner"),
    ]
    learner.learn(X[moment:], Y[moment:])
    for twin in twins:
        assert twin.drifts == before
        assert twin.learn(X[moment:], Y[moment:]).drifts == learner.drifts != []


def test_the_features_of_a_map_are_not_named():
    learner = RandomFeatureSGD(Gaussian(2.0), n_components=50).watch_drift().learn(X, Y)
    assert [drift.features for drift in learner.drifts][:1] == [{}]


def test_without_a_detector_nothing_is_told():
    learner = COLK(Gaussian(2.0)).learn(X[:9], Y[:9])
    for name in ("drifts", "drift_detected"):
        with pytest.raises(ValueError, match="call watch_drift first"):
            getattr(learner, name)
