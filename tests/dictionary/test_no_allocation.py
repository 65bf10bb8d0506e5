"""The step allocates no memory once its buffers have their size."""

import tracemalloc

import numpy as np

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import POLK


def peak(run):
    """Most bytes that Python and NumPy took at once while `run` ran."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_count_counts():
    assert peak(lambda: Gaussian(1.0).gram(np.zeros((300, 2)))) > 300 * 300 * 8


def test_learn():
    """The memory does not grow with the stream, except for the checks of the input."""
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(4000, 1))
    y = np.sin(6.0 * X[:, 0])
    learner = POLK(Gaussian(0.1), step_size=0.1, compressor=KOMP(eps=1e-3))
    learner.learn(X, y)
    stream, Y, weight = learner._state(), y[:, None].copy(), np.ones(4000)
    short = peak(lambda: stream.advance(X, Y, weight, 0, 10))
    assert peak(lambda: stream.advance(X, Y, weight, 0, 4000)) <= short + 256
