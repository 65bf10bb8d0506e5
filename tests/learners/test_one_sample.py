"""Learning one sample without arrays gives the same steps and the same errors."""

import math
from threading import Thread

import numpy as np
import pytest

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK, SCGD
from colk.losses import Huber, Softmax
from colk.risks import Variance
from colk.rkhs.features import RBFNetwork

RNG = np.random.default_rng(0)
X = RNG.random((200, 2))
Y = np.sin(6.0 * X[:, 0])

FORMS = {
    "arrays": lambda x, y: (x, y),
    "lists": lambda x, y: (x.tolist(), float(y)),
    "tuples": lambda x, y: (tuple(x), y),
    "other arrays": lambda x, y: (x.astype(np.longdouble), np.array(y)),
    "strides": lambda x, y: (np.repeat(x, 2)[::2], y),
}


@pytest.mark.each_value
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("weight", [1.0, 0.5, 2, np.float32(0.25), 0.0])
def test_it_is_learn_to_the_bit(form, weight):
    settings = {"loss": Huber(1.0), "risk": Variance(0.1)}
    single, whole = COLK(Gaussian(0.2), **settings), COLK(Gaussian(0.2), **settings)
    for x, y in zip(X, Y, strict=True):
        single.learn_one(*form(x, y), sample_weight=weight)
    whole.learn(X, Y, np.full(len(X), weight))
    assert single.steps == whole.steps
    assert single.loss_sums == whole.loss_sums
    assert weight == 0.0 or single.function == whole.function


def test_whole_numbers_are_numbers():
    single, whole = COLK(Gaussian(2.0)), COLK(Gaussian(2.0))
    points = RNG.integers(-3, 4, size=(50, 2))
    for x in points:
        single.learn_one(x, int(x[0]))
    assert single.function == whole.learn(points, points[:, 0]).function


@pytest.mark.parametrize(
    ("make", "targets"),
    [
        (lambda: COLK(Gaussian(0.2), trace=True), Y),
        (lambda: COLK(Gaussian(0.2), Softmax(), n_outputs=2), (Y > 0).astype(float)),
        (lambda: COLK(Gaussian(0.2)), np.column_stack([Y, -Y])),
        (lambda: SCGD(RBFNetwork(2, 0.3, (0.0, 0.0), (1.0, 1.0))), Y),
    ],
    ids=["trace", "classes", "outputs", "as many features as components"],
)
def test_what_cannot_go_the_short_way(make, targets):
    single, whole = make(), make().learn(X, targets)
    for x, y in zip(X, targets, strict=True):
        single.learn_one(x, y)
    np.testing.assert_array_equal(single.predict(X), whole.predict(X))


BAD = {
    "NaN": ([0.1, math.nan], 1.0, 1.0),
    "infinity": ([math.inf, -math.inf], 1.0, 1.0),
    "too few": ([0.1], 1.0, 1.0),
    "too many": ([0.1, 0.2, 0.3], 1.0, 1.0),
    "a table": ([[0.1, 0.2]], 1.0, 1.0),
    "points": ([[0.1], [0.2]], 1.0, 1.0),
    "text": (["0.1", "0.2"], 1.0, 1.0),
    "nothing": ([0.1, None], 1.0, 1.0),
    "complex": (np.array([1j, 2.0]), 1.0, 1.0),
    "target": ([0.1, 0.2], math.nan, 1.0),
    "target of text": ([0.1, 0.2], "1", 1.0),
    "targets": ([0.1, 0.2], [1.0, 2.0], 1.0),
    "weight below 0": ([0.1, 0.2], 1.0, -1.0),
    "weight": ([0.1, 0.2], 1.0, math.nan),
    "truth for a weight": ([0.1, 0.2], 1.0, True),
    "weight of text": ([0.1, 0.2], 1.0, "1"),
}


@pytest.mark.parametrize(("x", "y", "weight"), BAD.values(), ids=BAD)
def test_bad_samples_are_refused(x, y, weight):
    learner = COLK(Gaussian(0.2)).learn(X, Y)
    before = learner.function
    with pytest.raises((TypeError, ValueError)):
        learner.learn_one(x, y, sample_weight=weight)
    assert learner.function == before
    assert learner.learn_one(X[0], Y[0]).steps == 201


def test_samples_of_two_threads_are_not_mixed():
    """A sample is written and learned under one lock: every sample has y = x."""
    exact = KOMP(eps=0.0)
    learner = COLK(Gaussian(0.5), step_size=0.05, averaging=None, compressor=exact)
    learner.learn([[0.0]], [0.0])

    def work(level):
        for _ in range(3000):
            learner.learn_one([level], level)

    threads = [Thread(target=work, args=(level,)) for level in (-4.0, 4.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert learner.steps == 6001
    np.testing.assert_allclose(learner.predict([[-4.0], [4.0]]), [-4.0, 4.0], atol=1e-3)
