"""Threads: a learner is always consistent, and two learners are independent."""

import threading

import numpy as np
import pytest

from colk.kernels import Gaussian
from colk.learners import COLK
from colk.risks import Variance

STREAM = """
    import threading
    import numpy as np
    from colk.compressors import KOMP
    from colk.rkhs.features import RBFNetwork
    from colk.kernels import Gaussian
    from colk.learners import COLK, SCGD
    from colk.risks import Variance

    rng = np.random.default_rng(0)
    X = rng.random((40_000, 2))
    y = np.sin(6.0 * X[:, 0]) + X[:, 1]
    grid = rng.random((8, 2))
"""

ONE_LEARNER = (
    STREAM
    + """
    learner = {learner}
    learner.learn(X[:100], y[:100])
    learned, refused = [], []

    def work(part):
        for start in range(part, 20_000, 2 * {chunk}):
            chunk = slice(start, start + {chunk})
            try:
                learner.learn(X[chunk], y[chunk])
            except RuntimeError as error:
                refused.append(str(error))
            else:
                learned.append({chunk})

    threads = [threading.Thread(target=work, args=(k * {chunk},)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("thread" in message or "learning" in message for message in refused), refused[0]
    assert len(learned) + len(refused) == 20_000 // {chunk}, "a thread died"
    assert learner.steps * {samples} == 100 + sum(learned), (learner.steps, len(refused))
    assert np.abs(learner.predict(grid) - np.sin(6.0 * grid[:, 0]) - grid[:, 1]).max() < 0.5
    learner.learn(X[20_000:], y[20_000:])
    assert np.abs(learner.predict(grid) - np.sin(6.0 * grid[:, 0]) - grid[:, 1]).max() < 0.3
"""
)


@pytest.mark.parametrize(
    ("learner", "samples"),
    [
        ("COLK(Gaussian(0.2), compressor=KOMP(eps=2e-3))", 1),
        ("COLK(Gaussian(0.2), compressor=KOMP(eps=2e-3), batch_size=4)", 4),
        ("COLK(Gaussian(0.2), risk=Variance(0.01))", 2),
        ("SCGD(RBFNetwork(100, 0.2, (0.0, 0.0), (1.0, 1.0)), pairing='same')", 1),
    ],
    ids=["COLK", "batches", "pairs", "SCGD"],
)
@pytest.mark.parametrize("chunk", [20, 2000])
def test_two_threads_on_one_learner(alone, learner, samples, chunk):
    """Serialised or refused: the steps are those of the chunks that were taken."""
    alone(ONE_LEARNER.format(learner=learner, samples=samples, chunk=chunk))


def test_a_prediction_while_another_thread_learns_is_of_some_state(alone):
    """Pairs, so that there is a state after every second sample only."""
    alone(
        STREAM
        + """
    def make():
        compressor = KOMP(eps=0.005, max_atoms=100)
        return COLK(Gaussian(0.1), risk=Variance(0.01), step_size=0.5, compressor=compressor)

    n = 6000
    twin, states = make(), []
    for start in range(0, n, 2):
        twin.learn(X[start : start + 2], y[start : start + 2])
        states.append(twin.predict(grid))
    learner = make().learn(X[:2], y[:2])
    thread = threading.Thread(target=learner.learn, args=(X[2:n], y[2:n]))
    seen = []
    thread.start()
    while thread.is_alive():
        try:
            seen.append(learner.predict(grid))
        except RuntimeError as error:
            assert "thread" in str(error) or "learning" in str(error), error
    thread.join()
    seen.append(learner.predict(grid))
    states = np.array(states)
    np.testing.assert_allclose(seen[-1], states[-1], rtol=1e-9)
    for values in seen:
        assert np.isfinite(values).all()
        assert np.abs(states - values).max(axis=1).min() < 1e-9, "torn"
    """
    )


@pytest.mark.parametrize("property_name", ["function", "n_atoms", "steps"])
def test_a_learner_can_be_looked_at_while_it_learns(alone, property_name):
    """The function that is read is whole: as many weights as atoms, all finite."""
    alone(
        STREAM
        + f"""
    learner = COLK(Gaussian(0.1), step_size=0.5, compressor=KOMP(eps=0.005, max_atoms=200))
    learner.learn(X[:2], y[:2])
    thread = threading.Thread(target=learner.learn, args=(X[:8000], y[:8000]))
    thread.start()
    while thread.is_alive():
        try:
            found = learner.{property_name}
        except RuntimeError as error:
            assert "thread" in str(error) or "learning" in str(error), error
            continue
        if "{property_name}" == "function":
            assert len(found.atoms) == len(found.weights) <= 200
            assert np.isfinite(found.weights).all()
            assert np.isfinite(found(grid)).all()
        else:
            assert 0 <= found <= 8002
    thread.join()
    assert learner.steps == 8002
    """
    )


def test_two_learners_in_two_threads_learn_as_alone():
    rng = np.random.default_rng(1)
    X = rng.random((6000, 2))
    targets = [np.sin(6.0 * X[:, 0]), np.cos(6.0 * X[:, 1])]

    def make():
        return COLK(Gaussian(0.2), risk=Variance(0.1))

    expected = [make().learn(X, y).function for y in targets]
    learners = [make(), make()]
    threads = [
        threading.Thread(target=learner.learn, args=(X, y))
        for learner, y in zip(learners, targets, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [learner.function for learner in learners] == expected


def test_two_threads_teach_one_evaluator(alone):
    alone(
        STREAM
        + """
    from colk.rl import PolicyEvaluator

    evaluator = PolicyEvaluator(Gaussian(0.2), discount=0.5)
    evaluator.learn(X[:100], y[:100], X[1:101])
    values = []

    def work(first):
        for start in range(first, 20_000, 100):
            chunk, ahead = slice(start, start + 50), slice(start + 1, start + 51)
            evaluator.learn(X[chunk], y[chunk], X[ahead])
            values.append(evaluator.value(grid))

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert evaluator.steps == 20_100
    assert np.isfinite(values).all() and len(values) == 400
    """
    )
