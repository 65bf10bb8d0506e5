"""A failure on a cluster gives one clear error, and no model is half fitted."""

import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import pytest

import colk
from colk.distributed import DaskCOLKClassifier, DaskCOLKRegressor, engines
from colk.distributed.connection import connected
from colk.distributed.engines import DaskParts, ExecutorParts
from colk.kernels import Gaussian
from colk.risks import GroupRisk

dask_array = pytest.importorskip("dask.array")

X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
Y = X[:, 0] ** 2


def regressor(**settings):
    small = {"kernel": Gaussian(0.5), "max_atoms": 10, "sample_size": 100, "random_state": 0}
    return DaskCOLKRegressor(**{**small, **settings})


def lazy(*arrays, rows=100):
    return [dask_array.from_array(a, chunks=(rows, *a.shape[1:])) for a in arrays]


def test_no_scheduler(monkeypatch):
    monkeypatch.setattr("colk.distributed.connection._PATIENCE", 1)
    with pytest.raises(ConnectionError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        regressor(client="tcp://127.0.0.1:9").fit(*lazy(X, Y))


def test_something_else_than_a_client():
    with pytest.raises(TypeError, match=r"client must be a distributed.Client"), connected(3):
        pass


def broken(block, place=2):
    if block.shape[0] and block[0, 0] == X[200, 0]:
        raise OSError("the disk is gone")
    return block


def test_a_partition_that_cannot_be_computed(client, pool):
    points, targets = lazy(X, Y)
    for engine in (client, pool):
        model = regressor(client=engine)
        with pytest.raises(OSError, match=r"the disk is gone"):
            model.fit(points.map_blocks(broken, dtype=float, meta=X[:0]), targets)
        assert not hasattr(model, "local_")


def test_a_partition_with_bad_values_is_named(client, pool):
    bad = X.copy()
    bad[250, 1] = np.inf
    for engine in (client, pool):
        with pytest.raises(ValueError, match=r"partition 2 cannot be used: X contains infinity"):
            regressor(client=engine).fit(*lazy(bad, Y))


@pytest.mark.parametrize("content", [b"a,y\n1,2\n1,2,3,4\n", b"a,y\n1,cat\n"])
def test_a_file_that_cannot_be_read_is_named(pool, tmp_path, content):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"bad.csv, bytes 0 to .* cannot be"):
        regressor(client=pool).fit([path], "y")
    with pytest.raises(ValueError, match=r"neither a .csv nor"):
        regressor(client=pool).fit(["x.txt"], "y")


def test_a_process_that_dies():
    with (
        ProcessPoolExecutor(1) as pool,
        pytest.raises(MemoryError, match=r"a process of the executor died"),
    ):
        ExecutorParts(pool, [partial(os._exit, 9)]).each(len)


def test_what_does_not_fit_together(pool):
    points, targets = lazy(X, Y)
    with pytest.raises(TypeError, match=r"y must be a dask collection"):
        regressor(client=pool).fit(points, Y)
    with pytest.raises(ValueError, match=r"the same partitions"):
        regressor(client=pool).fit(points, dask_array.from_array(Y[:200], chunks=100))
    with pytest.raises(ValueError, match=r"no partition has a row"):
        regressor(client=pool).fit(*lazy(X, Y), dask_array.zeros(400, chunks=100))
    with pytest.raises(ValueError, match=r"polish=False is not possible"):
        regressor(client=pool, polish=False).fit(points, targets)
    with pytest.raises(ValueError, match=r"one class"):
        DaskCOLKClassifier(client=pool).fit(X, np.ones(400))


def test_groups_are_refused(pool):
    with pytest.raises((ValueError, TypeError), match=r"group"):
        regressor(client=pool, risk=GroupRisk()).fit(*lazy(X, Y))


def test_plain_estimators_name_the_class_to_use():
    points, targets = lazy(X, Y)
    for model in (colk.COLKRegressor(), colk.COLKClassifier(), colk.COLKQuantileRegressor()):
        name = f"colk.distributed.Dask{type(model).__name__}"
        with pytest.raises(TypeError, match=name):
            model.fit(points, targets)


@pytest.mark.parametrize("progress", [None, print], ids=["quiet", "progress"])
def test_a_cluster_whose_workers_are_all_gone(monkeypatch, progress):
    """Dask would wait for ever, also if the workers end before a task begins."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(engines, "_PATIENCE", 1.0)
    monkeypatch.setattr(engines, "_LOOK", 0.2)
    with (
        distributed.LocalCluster(processes=False, n_workers=1, dashboard_address=":0") as here,
        distributed.Client(here) as client,
    ):
        parts = DaskParts(client, client.map(time.sleep, [0.0, 0.1]), progress)
        assert parts.fetch(parts.each(str)) == ["None", "None"]
        here.scale(0)
        with pytest.raises(ConnectionError, match="no worker for 1 seconds"):
            parts.total(float)


def test_workers_may_begin_later(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(engines, "_PATIENCE", 0.5)
    monkeypatch.setattr(engines, "_LOOK", 0.2)
    with (
        distributed.LocalCluster(processes=False, n_workers=0, dashboard_address=":0") as here,
        distributed.Client(here) as client,
    ):
        threading.Timer(2.0, here.scale, [1]).start()
        parts = DaskParts(client, client.map(abs, [1.0, -2.0], pure=False))
        assert parts.fetch(parts.each(abs)) == [1.0, 2.0]
