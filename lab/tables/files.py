"""Time of saving and loading beyond the time of the disk, and the size of the files.

    python lab/tables/files.py

Times are processor times, the minimum of several repetitions. "Disk" is the time to write and read
the same bytes. The files are in memory if the system has such a folder.
"""

import argparse
import os
import pathlib
import pickle
import tempfile
import time

import numpy as np
from tables import table

import colk
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK

# Limits: milliseconds of saving, which reads the file back, and loading together, and the size of a
# function's file relative to its arrays.
MOST_MILLISECONDS = 30.0
MOST_BYTES = 1.2


def models(n_atoms, n_features):
    """Return a function and learners with the given number of atoms."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_atoms, n_features)), rng.normal(size=n_atoms)
    kernel = Gaussian(2.0)
    learner = COLK(kernel, compressor=KOMP(eps=0.0)).learn(X, y)
    regressor = colk.COLKRegressor(kernel=kernel, eps=0.0, max_atoms=None, epochs=1).fit(X, y)
    return {
        "function": colk.KernelExpansion(kernel, X, y),
        "learner, with its factor": learner,
        "COLKRegressor": regressor,
    }


def milliseconds(work, repetitions):
    times = []
    for _ in range(repetitions):
        begin = time.process_time()
        work()
        times.append(1e3 * (time.process_time() - begin))
    return min(times)


def raw_bytes(model):
    """Return the bytes of the arrays that a model needs."""
    if isinstance(model, colk.KernelExpansion):
        return model.atoms.nbytes + model.weights.nbytes
    return len(pickle.dumps(model))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--atoms", type=int, default=1000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--repetitions", type=int, default=31)
    given = parser.parse_args()
    os.fsync = lambda _: None
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else None
    rows = []
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        path = pathlib.Path(folder) / "model.colk"
        for name, model in models(given.atoms, given.features).items():
            saving = milliseconds(lambda m=model: colk.save(m, path), given.repetitions)
            loading = milliseconds(lambda: colk.load(path), given.repetitions)
            size, raw = path.stat().st_size, raw_bytes(model)
            data, plain = path.read_bytes(), path.with_suffix(".plain")
            disk = milliseconds(lambda d=data, p=plain: p.write_bytes(d), given.repetitions)
            disk += milliseconds(plain.read_bytes, given.repetitions)
            times = [f"{value:.1f}" for value in (saving, loading, disk)]
            rows.append([name, *times, f"{size:,}", f"{size / raw:.3f}"])
            within = saving + loading - disk < MOST_MILLISECONDS
            small = size <= MOST_BYTES * raw or name != "function"
            rows[-1].append("yes" if within and small else "no")
    head = [
        "model",
        "save ms",
        "load ms",
        "disk ms",
        "bytes",
        "relative to its arrays or pickle",
        "within limits",
    ]
    print(table(head, rows))


if __name__ == "__main__":
    main()
