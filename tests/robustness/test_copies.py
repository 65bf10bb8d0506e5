"""Copies are independent and continue bit for bit; a lack of memory leaves a working learner."""

import copy
import pickle
import sys

import numpy as np
import pytest
from sklearn.base import clone

from colk import COLKClassifier, COLKRegressor
from colk.kernels import Gaussian
from colk.learners import BSGD, COLK, NASA, NORMA, NPBSGD, POLK, SCGD, CompositionalBSGD
from colk.losses import Huber
from colk.risks import Variance
from colk.rkhs.features import RBFNetwork
from colk.rl import PolicyEvaluator
from colk.schedules import Exponential

RNG = np.random.default_rng(0)
X = RNG.random((1203, 2))
Y = np.sin(6.0 * X[:, 0]) + 0.1 * RNG.normal(size=1203)
SEEN = 601  # odd: a pair is half full

FEATURES = RBFNetwork(20, 0.2, (0.0, 0.0), (1.0, 1.0))
LEARNERS = {
    "COLK": lambda: COLK(Gaussian(0.2), Huber(1.0), Variance(0.1)),
    "overlap": lambda: COLK(Gaussian(0.2), risk=Variance(0.1), pairing="overlap"),
    "average": lambda: COLK(Gaussian(0.2), risk=Variance(0.1), tracker="average"),
    "exponential": lambda: COLK(Gaussian(0.2), averaging=Exponential(0.01)),
    "batches": lambda: COLK(Gaussian(0.2), batch_size=4),
    "traced": lambda: COLK(Gaussian(0.2), trace=True),
    "POLK": lambda: POLK(Gaussian(0.2)),
    "BSGD": lambda: BSGD(Gaussian(0.2)),
    "CompositionalBSGD": lambda: CompositionalBSGD(Gaussian(0.2), risk=Variance(0.1)),
    "NPBSGD": lambda: NPBSGD(Gaussian(0.2)),
    "NORMA": lambda: NORMA(Gaussian(0.2)),
    "SCGD": lambda: SCGD(FEATURES, risk=Variance(0.1)),
    "NASA": lambda: NASA(FEATURES, risk=Variance(0.1)),
}
COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda learner: pickle.loads(pickle.dumps(learner)),
}


@pytest.mark.each_value
@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
def test_a_copy_in_the_middle_of_a_stream_goes_on_bit_for_bit(make, duplicate):
    learner = make().learn(X[:SEEN], Y[:SEEN])
    before = learner.predict(X)
    g, steps = learner.inner_estimate.copy(), learner.steps
    twin = duplicate(learner)
    twin.learn(X[SEEN:], Y[SEEN:])
    np.testing.assert_array_equal(learner.predict(X), before)
    np.testing.assert_array_equal(learner.inner_estimate, g)
    assert learner.steps == steps
    learner.learn(X[SEEN:], Y[SEEN:])
    np.testing.assert_array_equal(learner.predict(X), twin.predict(X))
    np.testing.assert_array_equal(learner.inner_estimate, twin.inner_estimate)
    assert learner.steps == twin.steps
    unbroken = make().learn(X, Y)
    np.testing.assert_array_equal(learner.predict(X), unbroken.predict(X))


def test_a_copy_has_a_trace_of_its_own():
    learner = COLK(Gaussian(0.2), trace=True).learn(X[:SEEN], Y[:SEEN])
    twin = copy.copy(learner).learn(X[SEEN:], Y[SEEN:])
    assert len(learner.trace) == SEEN
    assert len(twin.trace) == len(X)


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
def test_a_copy_of_an_evaluator_goes_on_bit_for_bit(duplicate):
    evaluator = PolicyEvaluator(Gaussian(0.2), discount=0.9)
    evaluator.learn(X[:SEEN], Y[:SEEN], X[1 : SEEN + 1])
    before, steps = evaluator.value(X), evaluator.steps
    twin = duplicate(evaluator)
    rest = (X[SEEN:-1], Y[SEEN:-1], X[SEEN + 1 :])
    twin.learn(*rest)
    np.testing.assert_array_equal(evaluator.value(X), before)
    assert evaluator.steps == steps
    np.testing.assert_array_equal(evaluator.learn(*rest).value(X), twin.value(X))


@pytest.mark.parametrize("duplicate", [COPIES["deepcopy"], COPIES["pickle"]])
@pytest.mark.parametrize("model", [COLKRegressor(risk="variance"), COLKClassifier()], ids=repr)
def test_a_copy_of_an_estimator_goes_on_bit_for_bit(model, duplicate):
    y = Y if isinstance(model, COLKRegressor) else (Y > 0.0).astype(int)
    fitted = clone(model).partial_fit(
        X[:SEEN], y[:SEEN], **({} if isinstance(model, COLKRegressor) else {"classes": [0, 1]})
    )
    before = fitted.predict(X)
    twin = duplicate(fitted)
    twin.partial_fit(X[SEEN:], y[SEEN:])
    np.testing.assert_array_equal(fitted.predict(X), before)
    np.testing.assert_array_equal(
        fitted.partial_fit(X[SEEN:], y[SEEN:]).predict(X), twin.predict(X)
    )


def test_a_clone_of_a_fitted_estimator_begins_anew():
    model = COLKRegressor(risk="variance", random_state=0).fit(X, Y)
    expected = model.predict(X)
    twin = clone(model)
    assert not hasattr(twin, "loss_curve_")
    np.testing.assert_array_equal(twin.fit(X, Y).predict(X), expected)


def test_both_sides_of_a_fork_go_on_bit_for_bit(alone):
    alone("""
    import multiprocessing
    import numpy as np
    from colk.kernels import Gaussian
    from colk.learners import COLK
    from colk.risks import Variance

    rng = np.random.default_rng(0)
    X = rng.random((4001, 2))
    y = np.sin(6.0 * X[:, 0])
    learner = COLK(Gaussian(0.2), risk=Variance(0.1)).learn(X[:2001], y[:2001])

    def work(pipe):
        learner.learn(X[2001:], y[2001:])
        pipe.send((learner.predict(X), learner.steps))

    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=work, args=(theirs,))
    child.start()
    predictions, steps = ours.recv()
    child.join(20.0)
    assert child.exitcode == 0
    learner.learn(X[2001:], y[2001:])
    np.testing.assert_array_equal(learner.predict(X), predictions)
    assert learner.steps == steps == 2000
    """)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS and /proc")
@pytest.mark.parametrize("batch_size", [1, 4])
def test_a_lack_of_memory_leaves_a_learner_that_works(alone, batch_size):
    """Address space for 30 MB more: less than a factor of some 2000 atoms takes."""
    alone(
        f"""
    import resource
    import numpy as np
    from colk.compressors import KOMP
    from colk.kernels import Laplacian
    from colk.learners import COLK

    def make():
        return COLK(Laplacian(0.01), compressor=KOMP(eps=0.0), batch_size={batch_size})

    rng = np.random.default_rng(0)
    X = rng.random((2400, 3))
    y = np.sin(6.0 * X[:, 0])
    learner = make().learn(X[:800], y[:800])
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 30_000_000, hard))
    try:
        learner.learn(X[800:], y[800:])
    except MemoryError:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    else:
        raise AssertionError("there was enough memory after all")
    taken = learner.steps * {batch_size}
    assert 800 <= taken < 2400, taken
    twin = make().learn(X[:taken], y[:taken])
    np.testing.assert_array_equal(learner.predict(X), twin.predict(X))
    rest = slice(taken, taken + 80)
    learner.learn(X[rest], y[rest])
    assert learner.steps * {batch_size} == taken + 80
    twin.learn(X[rest], y[rest])
    # Of a batch that was not complete some samples may wait in the learner.
    tolerance = 0.0 if {batch_size} == 1 else 0.1
    np.testing.assert_allclose(learner.predict(X), twin.predict(X), rtol=0.0, atol=tolerance)
    """,
        timeout=40.0,
    )
