"""Searches and experiments through joblib's Dask backend."""

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from colk import COLKRegressor
from colk.cli.main import main
from colk.experiments.laws import signal_on_grid
from colk.experiments.runner import Runner, Task


def test_a_search_finds_the_same(client):
    X = np.random.default_rng(0).uniform(-1, 1, size=(120, 1))
    model = COLKRegressor(kernel="gaussian", max_atoms=10, random_state=0)
    search = GridSearchCV(model, {"loss": ["huber", "squared"]}, cv=2)
    here = search.fit(X, np.sin(3 * X[:, 0])).cv_results_["mean_test_score"]
    with joblib.parallel_config("dask"):
        there = search.fit(X, np.sin(3 * X[:, 0])).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(here, there)


def test_experiments_run_on_a_cluster(client, tmp_path):
    tasks = [Task(signal_on_grid, {"n": n}) for n in (3, 4, 5)]
    alone = Runner(tmp_path / "one")(tasks)
    run = Runner(tmp_path / "many", backend="dask")
    for here, there in zip(alone, run(tasks), strict=True):
        np.testing.assert_array_equal(here["x"], there["x"])
    assert run.computed == 3


def test_reproduce_needs_a_scheduler(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("colk.distributed.connection._PATIENCE", 1)
    address = "tcp://127.0.0.1:9"
    out = str(tmp_path / "out")
    assert main(["reproduce", "theory", "--dask", address, "--out", out]) == 2
    assert f"no Dask scheduler answers at '{address}'" in capsys.readouterr().err


@pytest.mark.slow
def test_reproduce_on_a_cluster(client, tmp_path, capsys):
    """The command on a cluster writes the figures that it writes here."""
    pytest.importorskip("matplotlib")
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
