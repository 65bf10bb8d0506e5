"""`colk fit --dask` killed with all workers: the model is the old one or a complete new one."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import colk
from colk.cli.main import main
from colk.kernels import Gaussian
from colk.rkhs import KernelExpansion

pytestmark = pytest.mark.slow
distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")

N_FILES, N_ROWS = 6, 4000  # more rows than the sample has
PATIENCE = 120.0  # seconds
OLD = KernelExpansion(Gaussian(0.5), np.zeros((1, 2)), np.ones(1))
# The command kills itself as soon as the draft of the model is written.
DIES_WHILE_IT_WRITES = """
import os, signal, sys
from colk.cli.main import main
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder, rng, found = tmp_path_factory.mktemp("rows"), np.random.default_rng(0), []
    for k in range(N_FILES):
        X = rng.uniform(-2, 2, size=(N_ROWS, 2))
        y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=N_ROWS)
        found.append(str(folder / f"{k}.csv"))
        rows = np.column_stack([X, y])
        np.savetxt(found[-1], rows, delimiter=",", header="a,b,y", comments="")
    return found


def command(paths, model, address=None):
    settings = ["--target", "y", "--model", str(model), "--kernel", "gaussian", "--max-atoms", "30"]
    return ["fit", *paths, *settings, "--overwrite", "--dask", *([address] if address else [])]


def start(arguments, program=("-m", "colk")):
    """A process with its own session, to which all its workers belong."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, *program, *arguments],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip


def living(session):
    """Return the processes of a session that still run."""
    found = []
    for process in psutil.process_iter(["status"]):
        try:
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def assert_all_end(session):
    until = time.monotonic() + PATIENCE
    while left := living(session):
        assert time.monotonic() < until, f"processes stay alive: {left}"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def unbroken(paths, tmp_path_factory):
    """The bytes of a model that was never interrupted, and the seconds that it took."""
    model = tmp_path_factory.mktemp("unbroken") / "m.colk"
    began = time.monotonic()
    process = start(command(paths, model))
    assert process.wait() == 0
    assert_all_end(process.pid)
    return model.read_bytes(), time.monotonic() - began


@pytest.mark.parametrize("moment", range(5))
def test_killed_at_a_random_moment(paths, unbroken, tmp_path, moment):
    whole, seconds = unbroken
    model, has_model = tmp_path / "m.colk", moment % 2 == 1
    if has_model:
        colk.save(OLD, model)
    before = model.read_bytes() if has_model else None
    process = start(command(paths, model))
    time.sleep(np.random.default_rng(moment).uniform(0.2, 1.0) * seconds)
    process.kill()
    assert process.wait() in (-signal.SIGKILL, 0)
    assert_all_end(process.pid)
    found = model.read_bytes() if model.exists() else None
    assert found in (before, whole)


def test_killed_while_the_model_is_written(paths, tmp_path):
    model = tmp_path / "m.colk"
    colk.save(OLD, model)
    script = tmp_path / "dies.py"
    script.write_text(DIES_WHILE_IT_WRITES)
    process = start(command(paths, model), [str(script)])
    assert process.wait() == -signal.SIGKILL
    assert_all_end(process.pid)
    assert colk.load(model) == OLD
    drafts = [path for path in tmp_path.iterdir() if path.suffix == ".tmp"]
    assert len(drafts) == 1  # only a draft is left


def test_a_cluster_outlives_its_client(paths, unbroken, tmp_path):
    """The next client of the same scheduler finds free workers."""
    whole, seconds = unbroken
    model = tmp_path / "m.colk"
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        address = cluster.scheduler_address
        for share in (0.5, 0.8):
            process = start(command(paths, model, address))
            time.sleep(share * seconds)
            process.kill()
            assert process.wait() in (-signal.SIGKILL, 0)
            assert not model.exists() or model.read_bytes() == whole
            model.unlink(missing_ok=True)
        assert main(command(paths, model, address)) == 0
    assert model.read_bytes() == whole


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_the_workers_too(paths, unbroken, tmp_path, name):
    _, seconds = unbroken
    model = tmp_path / "m.colk"
    process = start(command(paths, model))
    time.sleep(0.6 * seconds)
    process.send_signal(getattr(signal, name))
    assert process.wait() != 0
    assert_all_end(process.pid)
    assert not model.exists()
