"""Experiments through joblib's Dask backend."""

import numpy as np
import pytest

from colk.cli.main import main
from colk_lab.reproduction.laws import signal_on_grid
from colk_lab.runner import Runner
from colk_lab.tasks import Task


@pytest.fixture
def client():
    """A cluster of two workers in this process."""
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as client:
        yield client


def test_experiments_run_on_a_cluster(client, tmp_path):
    tasks = [Task(signal_on_grid, {"n": n}) for n in (3, 4, 5)]
    alone = Runner(tmp_path / "one")(tasks)
    run = Runner(tmp_path / "many", backend="dask")
    for here, there in zip(alone, run(tasks), strict=True):
        np.testing.assert_array_equal(here["x"], there["x"])
    assert run.computed == 3


def test_reproduce_needs_a_scheduler(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("colk.distributed.connection._PATIENCE", 1)
    address = "tcp://127.0.0.1:9"
    out = str(tmp_path / "out")
    assert main(["reproduce", "theory", "--dask", address, "--out", out]) == 2
    assert f"no Dask scheduler answers at '{address}'" in capsys.readouterr().err


@pytest.mark.slow
def test_reproduce_on_a_cluster(client, tmp_path, capsys):
    """The command on a cluster writes the figures that it writes here."""
    command = ["reproduce", "outliers", "--runs", "2", "--scale", "0.02"]
    here, there = tmp_path / "here", tmp_path / "there"
    assert main([*command, "--out", str(here)]) == 0
    address = client.scheduler.address
    assert main([*command, "--out", str(there), "--dask", address]) == 0, capsys.readouterr().err
    assert "dashboard" in capsys.readouterr().err
    tables = sorted(path.name for path in here.glob("*.csv"))
    assert tables
    for name in tables:
        assert (here / name).read_bytes() == (there / name).read_bytes()
