"""A real cluster of processes: the same bits for any number of workers, also if some are killed."""

import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from colk.distributed import DaskCOLKRegressor
from colk.kernels import Matern

pytestmark = pytest.mark.slow
dask_array = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

N_ROWS, PARTS = 60_000, 12


def points(block, block_info=None):
    place = block_info[0]["chunk-location"][0]
    return np.random.default_rng([7, place]).uniform(-1, 1, size=(N_ROWS // PARTS, 3))


def targets(X):
    return np.sin(3 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2


def rows():
    """Partitions that tasks compute: if a worker dies, its rows are lost."""
    empty = dask_array.zeros((N_ROWS, 3), chunks=(N_ROWS // PARTS, 3))
    X = empty.map_blocks(points, dtype=float, meta=np.empty((0, 3)))
    return X, X.map_blocks(targets, drop_axis=1, dtype=float, meta=np.empty(0))


def fitted(client, **settings):
    small = {"kernel": Matern(1.0), "max_atoms": 60, "sample_size": 2000, "random_state": 0}
    return DaskCOLKRegressor(client=client, **small, **settings).fit(*rows()).local_


def cluster(n_workers):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
    )


@pytest.fixture(scope="module")
def expected():
    with cluster(1) as one, distributed.Client(one) as client:
        model = fitted(client)
        assert model.polished_.converged
        return model.function_


@pytest.mark.parametrize("n_workers", [2, 4])
def test_bits_do_not_depend_on_workers(expected, n_workers):
    with cluster(n_workers) as here, distributed.Client(here) as client:
        assert fitted(client).function_ == expected


def test_a_pool_of_processes_gives_the_same_bits(expected):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert fitted(pool).function_ == expected


@pytest.mark.parametrize("moment", range(5))
def test_a_killed_worker_changes_nothing(expected, moment):
    """A worker is killed at a random moment; the others, and a new one, do its work again."""
    calls = int(np.random.default_rng(moment).integers(1, 60))
    killed = []
    with cluster(2) as here, distributed.Client(here) as client:

        def watch(name, done, total):
            killed.append(name)
            if len(killed) == calls:
                workers = list(here.workers.values())
                os.kill(workers[moment % len(workers)].pid, signal.SIGKILL)

        assert fitted(client, progress=watch).function_ == expected
        assert len(killed) >= calls, "the fit ended before the worker was killed"


def test_a_worker_out_of_memory_is_one_error():
    """Rows that kill every worker that loads them."""
    with cluster(1) as here, distributed.Client(here) as client:
        X, y = rows()
        X = X.map_blocks(lethal, dtype=float, meta=np.empty((0, 3)))
        with pytest.raises(MemoryError, match="ran out of memory"):
            DaskCOLKRegressor(client=client).fit(X, y)


def lethal(block):
    os.kill(os.getpid(), signal.SIGKILL)
    return block


def test_a_scheduler_that_goes_is_one_error():
    here = cluster(1)
    client = distributed.Client(here)
    gone = threading.Timer(2.0, here.close)
    model = DaskCOLKRegressor(client=client, max_atoms=400, sample_size=100)
    X, y = rows()
    gone.start()
    with pytest.raises((ConnectionError, OSError, RuntimeError)):
        model.fit(X.map_blocks(slowly, dtype=float, meta=np.empty((0, 3))), y)
    assert not hasattr(model, "local_")
    gone.join()
    client.close(timeout=2)


def slowly(block):
    time.sleep(1.0)
    return block
