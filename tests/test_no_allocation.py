"""The compiled step allocates nothing once its buffers have their size."""

import numpy as np
from numba.core.runtime import _nrt_python, rtsys

from colk._core.dictionary import Dictionary
from colk._core.komp import absorb_points
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import POLK


def allocations(run):
    """Blocks of memory that compiled code took while `run` ran."""
    enabled = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats().alloc
        run()
        return rtsys.get_allocation_stats().alloc - before
    finally:
        if not enabled:
            _nrt_python.memsys_disable_stats()


def test_the_count_counts():
    f = Gaussian(1.0)
    assert allocations(lambda: f.gram(np.zeros((3, 2)))) > 0


def test_absorb():
    rng = np.random.default_rng(0)
    d = Dictionary(Gaussian(0.5).program(2), n_features=2)
    d.append(rng.normal(size=(20, 2)), rng.normal(size=(20, 1)), eps=0.1)

    def run():
        for point in rng.normal(size=(50, 2)):
            d.buffers.points[0] = point
            d.buffers.amounts[0] = rng.normal()
            absorb_points(d.address, 1, 0.5, 0, d.capacity - 1)

    assert allocations(run) == 0


def test_learn():
    """However long the stream is."""
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(4000, 1))
    y = np.sin(6.0 * X[:, 0])
    learner = POLK(Gaussian(0.1), step_size=0.1, compressor=KOMP(eps=1e-3))
    learner.learn(X, y)
    short = allocations(lambda: learner.learn(X[:10], y[:10]))
    assert allocations(lambda: learner.learn(X, y)) == short
