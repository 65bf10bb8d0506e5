"""A model that continues to learn, its rows, and a server in a process."""

import os
import signal
import subprocess
import sys
import time

import numpy as np

from colk.tabular import TableModel


def rows(n, seed=0):
    """Rows of a table with some missing cells, as JSON."""
    rng = np.random.default_rng(seed)
    x, city = rng.uniform(-3.0, 3.0, n), rng.choice(["Bonn", "Rome"], n)
    y = np.sin(x) + (city == "Rome") + 0.1 * rng.normal(size=n)
    found = [
        {"x": float(a), "city": str(b), "y": float(c)} for a, b, c in zip(x, city, y, strict=True)
    ]
    for row in found[::10]:
        row["x"] = None
    return found


def stream_model(n=300):
    """A model that has learned rows, and can continue."""
    model = TableModel(
        "y", ["x", "city"], categorical=["city"], solver="newton", polish=False, kernel="gaussian"
    )
    table = rows(n)
    columns = {
        "x": np.array([np.nan if row["x"] is None else row["x"] for row in table]),
        "city": np.array([row["city"] for row in table], dtype=object),
    }
    return model.learn(columns, np.array([row["y"] for row in table]))


class Process:
    """A server that the command started."""

    def __init__(self, *arguments, folder=None, **variables):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "colk", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=folder,
            text=True,
        )
        line = self.process.stderr.readline()
        assert "http://" in line, line + self.process.stderr.read()
        self.url = line.split()[1]

    def stop(self, number=signal.SIGINT):
        """Ask it to stop; return exit code and output."""
        self.process.send_signal(number)
        out, error = self.process.communicate(timeout=60)
        return self.process.returncode, out, error


def wait_for(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
