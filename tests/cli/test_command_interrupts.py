"""Ctrl-C at any time: one line, exit code 130, and an older model is untouched."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import colk as package


def start(*arguments, **settings):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "colk", *map(str, arguments)],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **settings,
    )  # fmt: skip


def interrupt(process, delay):
    """Send Ctrl-C after a delay; return exit code and messages."""
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    return process.returncode, error


def is_clean(code, error):
    return code == 130 and error.startswith("colk: ") and len(error.splitlines()) == 1


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "large.csv"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 3))
    rows = np.column_stack([X, np.sin(3.0 * X).sum(axis=1)])
    text = "".join(",".join(f"{value:.4f}" for value in row) + "\n" for row in rows.tolist())
    path.write_text("a,b,c,y\n" + 30 * text)
    return path


@pytest.mark.parametrize("delay", [0.3, 0.6, 1.2, 2.4])
def test_fit(tmp_path, large, delay):
    """During imports, the scan or the learning."""
    model = tmp_path / "m.colk"
    model.write_bytes(b"what was there")
    process = start("fit", large, "--target", "y", "--model", model, "--overwrite")
    code, error = interrupt(process, delay)
    assert is_clean(code, error), (code, error)
    if "the model is saved" in error:
        assert package.load(model).rows > 0
    else:
        assert model.read_bytes() == b"what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large.csv", "m.colk"]


@pytest.mark.parametrize("delay", [0.5, 2.0])
def test_fit_that_waits_for_a_pipe(tmp_path, delay):
    process = start(
        "fit", "-", "--target", "y", "--model", tmp_path / "m.colk", stdin=subprocess.PIPE
    )
    code, error = interrupt(process, delay)
    lines = [line for line in error.splitlines() if "read only once" not in line]
    assert code == 130, (code, error)
    assert len(lines) == 1, error
    assert lines[0].startswith("colk: ")


@pytest.mark.parametrize("delay", [0.5, 1.0, 2.0])
def test_predict(tmp_path, large, houses, colk, delay):
    model, out = tmp_path / "m.colk", tmp_path / "out.csv"
    small = tmp_path / "small.csv"
    small.write_text("".join(large.read_text().splitlines(keepends=True)[:200]))
    assert colk("fit", small, "--target", "y", "--model", model)[0] == 0
    code, error = interrupt(start("predict", model, *[large] * 50, "--out", out), delay)
    assert is_clean(code, error), (code, error)
    assert not list(tmp_path.glob("*out.csv*"))
    assert package.load(model).rows == 199


def test_the_reader_thread_has_ended():
    """It must not outlive the interpreter."""
    from colk.cli.reader_thread import is_reading, read_ahead

    numbers = read_ahead(iter(range(10**9)))
    assert next(numbers) == 0
    assert is_reading()
    numbers.close()
    assert not is_reading()
