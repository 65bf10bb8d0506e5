"""No access to freed, read-only or out-of-bounds memory."""

import inspect

import numpy as np
import pytest

from colk.kernels import Gaussian
from colk.learners import BSGD, COLK, NASA, NORMA, POLK, SCGD
from colk.losses import Softmax
from colk.rkhs.features import RBFNetwork
from colk.rl import PolicyEvaluator

RIVER = """
    import signal, threading, time
    import numpy as np
    import pandas as pd
    from colk.kernels import Gaussian, Linear
    from colk.river import COLKRegressor

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(3000, 4)), columns=list("abcd"))
    y = pd.Series(np.sin(X["a"]))
    rows = X.to_dict("records")

    def begin(model, targets):
        for row, target in zip(rows[:20], targets):
            model.learn_one(row, target)
        return model

    def check(model):
        many = np.asarray(model.predict_many(X[:50]))
        assert np.allclose([model.predict_one(row) for row in rows[:50]], many, rtol=1e-9)
        assert np.isfinite(many).all()
        for row, target in zip(rows[:200], y[:200]):
            model.learn_one(row, target)
        assert np.isfinite(model.predict_one(rows[0]))
"""


def test_river_predicts_after_a_divergence_inside_learn_many(alone):
    alone(
        RIVER
        + """
    model = begin(COLKRegressor(Gaussian(0.5) + 1e-3 * Linear(), eps=0.0, max_atoms=None), y)
    wild = X[:600].copy()
    wild.iloc[-1] = 1e60
    try:
        model.learn_many(wild, y[:600])
    except ArithmeticError:
        pass
    for _ in range(200):
        junk = [np.ones(k) for k in range(1, 300)]
        model.predict_one(rows[0])
    check(model)
    """
    )


def test_river_predicts_after_an_interrupt_inside_learn_many(alone):
    alone(
        RIVER
        + """
    model = begin(COLKRegressor(Gaussian(0.5), eps=0.0, max_atoms=None), y)
    timer = threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,))
    try:
        timer.start()
        model.learn_many(X, y)
        time.sleep(1.0)
    except KeyboardInterrupt:
        pass
    for _ in range(200):
        junk = [np.ones(k) for k in range(1, 300)]
        model.predict_one(rows[0])
    check(model)
    """
    )


STREAM = """
    import os, tempfile
    import joblib
    import numpy as np
    from colk import COLKRegressor
    from colk.rkhs.features import RBFNetwork
    from colk.kernels import Gaussian
    from colk.learners import COLK, SCGD
    from colk.risks import Variance

    rng = np.random.default_rng(0)
    X = rng.random((4001, 2))
    y = np.sin(6.0 * X[:, 0])

    def make():
        return COLK(Gaussian(0.2), risk=Variance(0.1)).learn(X[:2001], y[:2001])

    def learn_on(learner, X, y):
        return learner.learn(X[2001:], y[2001:])

    expected = learn_on(make(), X, y).predict(X)
"""


@pytest.mark.parametrize("mode", ["r", "c", "r+"])
def test_a_learner_loaded_as_a_memory_map_learns_on(alone, mode):
    alone(
        STREAM
        + f"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "learner.joblib")
        joblib.dump(make(), path)
        loaded = joblib.load(path, mmap_mode={mode!r})
        np.testing.assert_array_equal(learn_on(loaded, X, y).predict(X), expected)
        again = joblib.load(path)
        np.testing.assert_array_equal(learn_on(again, X, y).predict(X), expected)
        del loaded, again
    """
    )


WIDE = composition(q=30)


@pytest.mark.parametrize(
    "learner", [COLK(Gaussian(0.2), risk=WIDE), SCGD(RBFNetwork(10, 0.1), risk=WIDE)]
)
def test_a_composition_may_have_more_outputs_than_targets(learner):
    X = np.random.default_rng(0).random((50, 1))
    assert learner.learn(X, X[:, 0]).predict(X).shape == (50, 30)


def test_a_composition_of_other_sizes_is_refused_by_features_too():
    X = np.random.default_rng(0).random((50, 1))
    with pytest.raises(ValueError, match=r"output|target|column"):
        SCGD(RBFNetwork(10, 0.1), risk=composition(r=30)).learn(X, X[:, 0])


@pytest.mark.parametrize("given", [1, 2, 40])
def test_a_composition_that_returns_another_size_is_refused(given):
    X = np.random.default_rng(0).random((50, 1))
    learner = COLK(Gaussian(0.2), risk=composition(m=3, given=given))
    with pytest.raises((ValueError, TypeError)):
        learner.learn(X, X[:, 0])


CROOKED = """
    import numpy as np
    from colk.rkhs.features import RBFNetwork
    from colk.learners import SCGD

    class Crooked:
        def transform(self, X):
            found = RBFNetwork(10, 0.1).transform(X)
            return found if len(X) == 1 else np.resize(found, ({rows}, 10))

    X = np.random.default_rng(0).random((3000, 1))
    learner = SCGD(Crooked())
    try:
        {call}
    except ValueError as error:
        assert "rows" in str(error), error
    else:
        raise AssertionError("not refused")
"""


@pytest.mark.parametrize("call", ["learner.learn(X, X[:, 0])", "predict"])
@pytest.mark.parametrize("rows", ["0", "len(X) // 2", "len(X) + 5", "2 * len(X)"])
def test_a_feature_map_of_other_rows_is_refused(alone, rows, call):
    if call == "predict":
        call = "learner.learn(X[:1], X[:1, 0]); learner.predict(X)"
    alone(CROOKED.format(rows=rows, call=call), timeout=20.0)


def test_a_feature_map_of_other_columns_is_refused():
    class Widening:
        def transform(self, X):
            return np.ones((len(X), 3 if len(X) == 1 else 4))

    X = np.random.default_rng(0).random((50, 1))
    learner = SCGD(Widening()).learn(X[:1], X[:1, 0])
    with pytest.raises(ValueError, match="4 features"):
        learner.learn(X, X[:, 0])


# -- settings are read-only ------------------------------------------------------------------------

FEATURES = RBFNetwork(10, 0.1)
LEARNERS = {
    "COLK": lambda: COLK(Gaussian(0.2)),
    "POLK": lambda: POLK(Gaussian(0.2)),
    "BSGD": lambda: BSGD(Gaussian(0.2)),
    "NORMA": lambda: NORMA(Gaussian(0.2)),
    "SCGD": lambda: SCGD(FEATURES),
    "NASA": lambda: NASA(FEATURES),
}


def test_a_number_of_outputs_cannot_be_changed():
    X = np.random.default_rng(0).random((50, 1))
    learner = COLK(Gaussian(0.2)).learn(X, X[:, 0])
    with pytest.raises(AttributeError, match="n_outputs"):
        learner.n_outputs = 30
    assert learner.learn(X, X[:, 0]).n_outputs == 1
    labels = COLK(Gaussian(0.2), Softmax(), n_outputs=3)
    with pytest.raises(AttributeError, match="n_outputs"):
        labels.n_outputs = 4


@pytest.mark.parametrize("fitted", [False, True], ids=["new", "fitted"])
@pytest.mark.parametrize("name", LEARNERS)
def test_settings_are_read_only(name, fitted):
    X = np.random.default_rng(0).random((50, 1))
    learner = LEARNERS[name]()
    if fitted:
        learner.learn(X, X[:, 0])
    checked = 0
    for setting in inspect.signature(type(learner)).parameters:
        if setting == "trace" or not hasattr(learner, setting):
            continue
        value = getattr(learner, setting)
        with pytest.raises(AttributeError, match=setting):
            setattr(learner, setting, value)
        checked += 1
    assert checked >= 5


def test_settings_of_policy_evaluation_are_read_only():
    evaluator = PolicyEvaluator(Gaussian(0.5), discount=0.9)
    settings = ("kernel", "discount", "step_size", "tracking_rate", "tracks", "regularization")
    for setting in (*settings, "compressor", "averaging", "eps_ratio"):
        with pytest.raises(AttributeError, match=setting):
            setattr(evaluator, setting, getattr(evaluator, setting))
