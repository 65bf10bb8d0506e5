"""Workers of a stream: killed at any moment, they lose no row and learn none twice."""

import runpy
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import colk

SCRIPT = Path(__file__).parents[2] / "examples" / "stream_worker.py"


def write_inbox(folder, seed, n_files=3, n_rows=150):
    rng = np.random.default_rng(seed)
    folder.mkdir()
    for k in range(n_files):
        X = rng.uniform(seed, seed + 1, size=(n_rows, 1))
        y = np.sin(4 * X[:, 0]) + 0.1 * rng.normal(size=n_rows)
        np.savetxt(folder / f"{k}.csv", np.column_stack([X, y]), delimiter=",", fmt="%.17g")


class KilledError(Exception):
    pass


@pytest.mark.parametrize("at", [0, 1, 4])
def test_a_worker_that_dies_between_learning_and_saving(tmp_path, monkeypatch, at):
    """Rows that were learned but not saved are learned again, by the last saved model."""
    work = runpy.run_path(str(SCRIPT))["work"]
    write_inbox(tmp_path / "in", 0)
    whole = work(tmp_path / "in", tmp_path / "whole.colk", every=60)
    save, calls = colk.save, []

    def dying(model, path):
        calls.append(path)
        if len(calls) == at + 1:
            raise KilledError
        save(model, path)

    monkeypatch.setattr(colk, "save", dying)
    with pytest.raises(KilledError):
        work(tmp_path / "in", tmp_path / "m.colk", every=60)
    resumed = work(tmp_path / "in", tmp_path / "m.colk", every=60)
    assert resumed.steps == whole.steps == 450
    assert resumed.function == whole.function


def test_files_that_appear_later_are_learned_once(tmp_path):
    work = runpy.run_path(str(SCRIPT))["work"]
    write_inbox(tmp_path / "in", 0, n_files=1)
    model = tmp_path / "m.colk"
    assert work(tmp_path / "in", model).steps == 150
    (tmp_path / "in" / "9.csv").write_text("0.5,0.1\n0.6,0.2\n")
    assert work(tmp_path / "in", model).steps == 152
    assert work(tmp_path / "in", model).steps == 152


def test_workers_are_merged(tmp_path):
    work = runpy.run_path(str(SCRIPT))["work"]
    learners = []
    for k in range(3):
        write_inbox(tmp_path / f"in{k}", k)
        learners.append(work(tmp_path / f"in{k}", tmp_path / f"{k}.colk"))
    merged = colk.merge(learners).model
    grid = np.linspace(0.1, 2.9, 50)[:, None]
    assert np.abs(merged.predict(grid) - np.sin(4 * grid[:, 0])).max() < 0.2
    assert merged.steps == 1350


@pytest.mark.slow
def test_a_worker_that_is_killed(tmp_path):
    """SIGKILL at five random moments; each time another process continues."""
    write_inbox(tmp_path / "in", 0, n_files=4, n_rows=400)
    rng, command = np.random.default_rng(0), [sys.executable, str(SCRIPT), str(tmp_path / "in")]
    for _ in range(5):
        process = subprocess.Popen([*command, str(tmp_path / "m.colk"), "--every", "20"])
        time.sleep(float(rng.uniform(1.0, 3.0)))
        process.kill()
        process.wait()
    subprocess.run([*command, str(tmp_path / "m.colk"), "--every", "20"], check=True)
    subprocess.run([*command, str(tmp_path / "whole.colk"), "--every", "20"], check=True)
    killed, whole = (colk.load(tmp_path / name) for name in ("m.colk", "whole.colk"))
    assert killed.steps == whole.steps == 1600
    assert killed.function == whole.function
