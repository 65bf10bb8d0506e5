"""On a stream whose kernel is open, a rival learns beside the model and may overtake it."""

import copy
import pickle
import threading

import numpy as np
import pandas as pd
import pytest

import colk
from colk import (
    COLKClassifier,
    COLKQuantileRegressor,
    COLKRegressor,
    FileFormatError,
    _stored,
    river,
)
from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import CustomLoss
from colk.model import Contest, Settings
from colk.model.contest import BLOCK, IDLE, PATIENCE, TRIAL
from colk.selection import RecentSamples

CHANGE, SIZE = 1500, 3000
RNG = np.random.default_rng(0)
X = RNG.normal(size=(SIZE, 6))
IS_NEW = np.arange(SIZE) >= CHANGE
# Another feature counts after the change.
Y = np.sin(2.0 * np.where(IS_NEW, X[:, 4], X[:, 0])) + 0.1 * RNG.normal(size=SIZE)
LABELS = np.where(Y > 0.3, "high", np.where(Y < -0.3, "low", "middle"))
NAMES = list("abcdef")
FRAME = pd.DataFrame(X, columns=NAMES)
ROWS = FRAME.to_dict("records")
STREAMS = {river.COLKRegressor: Y.tolist(), river.COLKClassifier: LABELS.tolist()}


def learned(model, targets, start, stop):
    for x, y in zip(ROWS[start:stop], targets[start:stop], strict=True):
        model.learn_one(x, y)
    return model


def late_error(model, targets):
    """Mean error of predictions from 500 samples after the change on."""
    learned(model, targets, 0, CHANGE + 500)
    errors = []
    for x, y in zip(ROWS[CHANGE + 500 :], targets[CHANGE + 500 :], strict=True):
        found = model.predict_one(x)
        errors.append(found != y if isinstance(y, str) else abs(found - y))
        model.learn_one(x, y)
    return np.mean(errors)


MOMENTS = {
    "a rival": lambda contest: contest.rival is not None and contest.filled == 20,
    "no rival": lambda contest: contest.rival is None and contest.filled == 30,
    "the losses have risen": lambda contest: contest.due > 0,
    "the default leads": lambda contest: contest.race is None,
    "the end": lambda contest: False,
}


@pytest.fixture(scope="module")
def states():
    """River's regressor at the first of these moments, as a pickle, and the number of samples."""
    model, found = river.COLKRegressor(), {}
    for t in range(0, SIZE, 10):
        learned(model, Y.tolist(), t, t + 10)
        for name, has_come in MOMENTS.items():
            if (
                name not in found
                and model._online.contest is not None
                and has_come(model._online.contest)
            ):
                found[name] = (pickle.dumps(model), t + 10)
    return {**found, "the end": (pickle.dumps(model), SIZE)}


def at(states, moment):
    state, t = states[moment]
    return pickle.loads(state), t


@pytest.mark.parametrize("kind", STREAMS)
def test_after_a_change_the_default_is_ahead_of_the_fixed_kernel(kind):
    assert late_error(kind(), STREAMS[kind]) < late_error(kind(kernel="laplacian"), STREAMS[kind])


@pytest.mark.parametrize("solver", ["gradient", "newton"])
@pytest.mark.parametrize("kind", [COLKRegressor, COLKClassifier])
def test_partial_fit_follows_a_change(kind, solver):
    y, more = (Y, {}) if kind is COLKRegressor else (LABELS, {"classes": np.unique(LABELS)})
    scores = []
    for settings in ({}, {"kernel": "laplacian"}):
        model = kind(solver=solver, averaging=False, **settings)
        for start in range(0, SIZE - 250, 250):
            model.partial_fit(X[start : start + 250], y[start : start + 250], **more)
        scores.append(model.score(X[-250:], y[-250:]))
    assert scores[0] > scores[1]


def test_races_again_after_a_change(states):
    before, after = (at(states, moment)[0] for moment in ("no rival", "the end"))
    assert before.race.scales.argmax() == 0
    assert after.race.scales.argmax() == 4
    assert after.function.kernel == after.race.kernel_for(6)


def test_the_default_kernel_is_the_rival_as_soon_as_the_losses_rise(states):
    model, t = at(states, "the losses have risen")
    assert CHANGE < t <= CHANGE + 5 * BLOCK
    assert model._online.contest.rival.kernel == model._online.contest.default
    overtaken, t = at(states, "the default leads")
    assert CHANGE < t <= CHANGE + 500
    assert overtaken._online.learner.kernel == overtaken._online.contest.default


def test_a_stream_that_stands_still_drops_the_rival_and_races_rarely():
    rng, model, races = np.random.default_rng(3), river.COLKRegressor(), []
    for _ in range(500 + BLOCK * (PATIENCE * IDLE + TRIAL)):
        x = rng.normal(size=3).tolist()
        y = float(np.sin(2.0 * x[0]) + 0.3 * rng.normal())
        model.learn_one(dict(zip("abc", x, strict=True)), y)
        if model.race is not None and (not races or model.race is not races[-1]):
            races.append(model.race)
    assert len(races) == 2  # the first samples, and once because that was long ago
    assert not races[0].default_won
    assert model._online.contest.rival is None
    assert model._online.contest.patience == 2 * PATIENCE


@pytest.mark.parametrize(("share", "overtakes"), [(0.04, False), (0.06, True), (-0.06, False)])
def test_a_rival_overtakes_only_by_a_share_of_the_loss(states, share, overtakes):
    model, _ = at(states, "a rival")
    contest, leader = model._online.contest, model._online.learner
    noise = 0.01 * np.random.default_rng(0).normal(size=12)
    contest.losses = np.column_stack([np.ones(12), 1.0 - share + noise - noise.mean()])
    contest.losses[-10:, 1] += 1.0 - share - contest.losses[-10:, 1].mean()
    rival = contest.rival
    assert contest._is_overtaken() is overtakes
    assert (contest.rival, model._online.learner) == (rival, leader)


@pytest.mark.each_value
@pytest.mark.parametrize("way", ["pickle", "copy", "file"])
@pytest.mark.parametrize("moment", list(MOMENTS)[:-1])
def test_a_copy_learns_on_bit_for_bit(states, tmp_path, way, moment):
    model, t = at(states, moment)
    if way == "file":
        colk.save(model, tmp_path / "model.colk")
        other = colk.load(tmp_path / "model.colk")
    else:
        other = copy.deepcopy(model) if way == "copy" else pickle.loads(pickle.dumps(model))
    for one in (model, other):
        learned(one, Y.tolist(), t, t + 600)
    assert model.function == other.function
    assert str(model.race) == str(other.race)


def test_an_estimator_from_a_file_learns_on_bit_for_bit(tmp_path):
    model = COLKRegressor(solver="newton").partial_fit(X[:1000], Y[:1000])
    model.partial_fit(X[1000:1720], Y[1000:1720])
    assert model._online.contest.filled == 20
    colk.save(model, tmp_path / "model.colk")
    other = colk.load(tmp_path / "model.colk")
    for one in (model, other):
        one.partial_fit(X[1720:], Y[1720:])
        assert one.race_.scales.argmax() == 4
    assert model.function_ == other.function_
    assert model.kernel_ == other.kernel_


@pytest.mark.parametrize("kind", [COLKRegressor, COLKClassifier, COLKQuantileRegressor])
def test_a_fitted_model_follows_a_change(kind, tmp_path):
    y = LABELS if kind is COLKClassifier else Y
    model = kind(random_state=0, max_atoms=50).fit(X[:600], y[:600])
    assert model.race_.scales.argmax() == 0
    stop = CHANGE + 620
    model.partial_fit(X[CHANGE:stop], y[CHANGE:stop])
    assert model._online.contest.is_fitted
    assert model.kernel_ == model._online.contest.kernel_for(6)
    colk.save(model, tmp_path / "model.colk")
    other = colk.load(tmp_path / "model.colk")
    for one in (model, other):
        one.partial_fit(X[stop:], y[stop:])
        assert one.race_.scales.argmax() == 4
        assert not one._online.contest.is_fitted
    assert model.function_ == other.function_
    assert model.kernel_ == other.kernel_


def test_a_fitted_model_is_stored_while_it_keeps_samples(tmp_path):
    model = COLKRegressor(random_state=0, max_atoms=50).fit(X[:600], Y[:600])
    model.partial_fit(X[600:800], Y[600:800])
    colk.save(model, tmp_path / "model.colk")
    other = colk.load(tmp_path / "model.colk")
    for one in (model, other):
        one.partial_fit(X[800:1300], Y[800:1300])
    assert model._online.contest is not None
    assert model.function_ == other.function_


def test_a_rival_needs_more_to_overtake_a_fitted_model(states):
    """The losses are those of the last iterate; a fitted model predicts with its average."""
    model, _ = at(states, "a rival")
    for is_fitted in (False, True):
        online = copy.deepcopy(model._online)
        contest = online.contest
        contest.is_fitted, contest.filled = is_fitted, BLOCK
        contest.losses = np.array([[1.0, 0.7], [1.0, 0.9], [1.0, 1.05]] * 3)
        rival = contest.rival
        assert (contest.next_leader(online.learner, Settings()) is rival) != is_fitted


@pytest.mark.parametrize("kind", STREAMS)
def test_chunks_change_nothing(kind):
    targets = pd.Series(STREAMS[kind])
    one, many = learned(kind(), STREAMS[kind], 0, SIZE), kind()
    for start, stop in ((0, 470), (470, 1333), (1333, SIZE)):
        many.learn_many(FRAME[start:stop], targets[start:stop])
    assert one.function == many.function
    assert str(one.race) == str(many.race)


def test_a_batch_that_breaks_off_leaves_the_contest_unchanged():
    calls_left = [10**9]

    def slope(f, y):
        calls_left[0] -= 1
        if calls_left[0] == 0:
            raise RuntimeError("broken off")
        return f - y

    loss = CustomLoss(lambda f, y: 0.5 * (f - y) ** 2, slope)
    model = learned(river.COLKRegressor(loss=loss, solver="gradient"), Y.tolist(), 0, 620)
    contest, function = copy.deepcopy(model._online.contest), model.function
    before = _stored.pack(contest)
    assert contest.rival is not None
    calls_left[0] = 120  # the first block of leader and rival, and a part of the second
    with pytest.raises(RuntimeError, match="broken off"):
        model.learn_many(FRAME[620:720], pd.Series(Y[620:720]))
    after = _stored.pack(model._online.contest)
    for name in ("points", "losses", "sums", "filled"):
        np.testing.assert_array_equal(before[name], after[name])
    assert model._online.contest.rival.function == contest.rival.function
    assert model.function == function


def test_features_and_classes_may_come_while_a_rival_learns():
    model = learned(river.COLKClassifier(), LABELS.tolist(), 0, 600)
    assert model._online.contest.rival is not None
    for x, y in zip(ROWS[600:900], LABELS[600:900].tolist(), strict=True):
        model.learn_one({**x, "new": 0.5}, "very " + y if y == "high" else y)
    rival = model._online.contest.rival
    assert rival is None or (rival.n_features, rival.n_outputs) == (7, 4)
    assert model._online.contest.recent.n_features == model.function.n_features == 7
    learned(model, LABELS.tolist(), 900, 1200)


class Diverging(COLK):
    """A learner that would diverge at any sample."""

    def learn_checked(self, X, Y, weight):
        raise self.divergence()


def test_a_rival_that_diverges_is_dropped(states):
    model, t = at(states, "a rival")
    contest = model._online.contest
    contest.rival = Diverging(Gaussian(1.0)).learn(X[:5], Y[:5])
    learned(model, Y.tolist(), t, t + 1)
    assert contest.rival is None
    assert np.isnan(contest.losses[:, 1]).all()


def test_threads_lose_no_sample(states):
    model, t = at(states, "a rival")
    steps = model._online.learner.steps
    parts = [(t + 30 * k, t + 30 * k + 30) for k in range(4)]
    threads = [threading.Thread(target=learned, args=(model, Y.tolist(), *part)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model._online.learner.steps == steps + 120
    assert model._online.contest.filled == (t + 120) % BLOCK


def test_a_file_with_other_learners_is_refused(states):
    model, _ = at(states, "a rival")
    contest = model._online.contest

    def restored(settings=None, **changes):
        other = copy.deepcopy(contest)
        vars(other).update(changes)
        online = copy.copy(model._online)
        online.contest = other
        parts = {**_stored.pack(model), "online": online}
        parts["parameters"] = {**parts["parameters"], **(settings or {})}
        return _stored.restore(type(model), parts, _stored.Memory(10**9).check)

    assert restored().function == model.function
    with pytest.raises(FileFormatError, match="neither the default nor that of a race"):
        restored(race=None)
    with pytest.raises(FileFormatError, match="same settings"):
        restored(rival=COLK(contest.default).learn(X[:5], Y[:5]))
    with pytest.raises(FileFormatError, match="other features"):
        restored(recent=contest.recent.widened(7))
    with pytest.raises(FileFormatError, match="race of kernels"):
        restored(settings={"kernel": "laplacian"})
    online = copy.copy(model._online)
    online.learner = copy.copy(online.learner)
    online.learner._detector = None
    parts = {**_stored.pack(model), "online": online}
    with pytest.raises(FileFormatError, match="no drift detector"):
        _stored.restore(type(model), parts, _stored.Memory(10**9).check)


def test_a_file_with_a_race_of_more_features_is_refused(states):
    model, _ = at(states, "a rival")
    parts = _stored.pack(model._online.contest)
    parts["points"], parts["rival"] = parts["points"][:, :2].copy(), None
    with pytest.raises(FileFormatError, match="more features than the samples"):
        _stored.restore(Contest, parts, _stored.Memory(10**9).check)


def test_samples_without_a_pattern_need_no_rival():
    noise = np.random.default_rng(1).normal(size=500)
    settings = Settings()
    samples = (X[:500], noise, np.ones(500))
    default = COLK(Gaussian(1.0)).learn(X[:500], noise)
    contest = Contest(RecentSamples(*samples), default.kernel, settings.race(*samples, 1))
    assert contest.first_leader(default, settings) is default
    assert contest.rival is None
