"""Memory and time of fits to sparse matrices, each in a process of its own.

    python benchmarks/sparse_rows.py

The default is 10⁵ rows of 10⁴ features, of which 0.1 % are not 0; a dense copy would take 8 GB. The
peak is that of the whole process, with the libraries and the matrix. There are at most 400 atoms;
more of them take much longer.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
from tables import publish

KERNELS = ("linear", "polynomial", "gaussian", "laplacian", "auto")


def peak():
    """Return the largest memory so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def sample(n_rows, n_columns, density, seed):
    """Return a sparse matrix, and targets that are a bent function of half of the columns."""
    from scipy.sparse import csr_matrix

    random = np.random.default_rng(seed)
    n_entries = round(n_rows * n_columns * density)
    places = random.integers(n_rows, size=n_entries), random.integers(n_columns, size=n_entries)
    X = csr_matrix((random.uniform(size=n_entries), places), shape=(n_rows, n_columns))
    effects = np.zeros(n_columns)
    effects[: n_columns // 2] = np.random.default_rng(0).normal(size=n_columns // 2)
    return X, np.tanh(X @ effects) + 0.1 * random.normal(size=n_rows)


def measure(kernel, n_rows, n_columns, density):
    """Fit, predict, and print what it took."""
    from colk import COLKRegressor

    X, y = sample(n_rows, n_columns, density, 1)
    unseen, truth = sample(n_rows // 10, n_columns, density, 2)
    before, began = peak(), time.process_time()
    model = COLKRegressor(kernel=kernel, max_atoms=400, random_state=0).fit(X, y)
    fitted, done = peak(), time.process_time()
    score = model.score(unseen, truth)
    found = {
        "before": before,
        "fit": fitted,
        "predict": peak(),
        "seconds": done - began,
        "predict_seconds": time.process_time() - done,
        "atoms": model.n_atoms_,
        "score": score,
    }
    print(json.dumps(found))


def main():
    """Run each kernel in a process of its own, and write docs/tables/sparse_rows.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=10_000)
    parser.add_argument("--density", type=float, default=0.001)
    parser.add_argument("--kernel", help="measure this kernel in this process")
    given = parser.parse_args()
    size = given.rows, given.columns, given.density
    if given.kernel:
        measure(given.kernel, *size)
        return
    rows = []
    names = ("rows", "columns", "density")
    flags = [f"--{name}={value}" for name, value in zip(names, size, strict=True)]
    for kernel in KERNELS:
        command = [sys.executable, __file__, *flags, f"--kernel={kernel}"]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        sizes = [f"{found[name]:.0f}" for name in ("before", "fit", "predict", "seconds")]
        rows.append([kernel, *sizes, f"{found['score']:.3f}", str(found["atoms"])])
        print(rows[-1], flush=True)
    columns = ("kernel", "MB before", "MB after fit", "MB after predict", "fit, s", "R²", "atoms")
    publish("sparse_rows", columns, rows)


if __name__ == "__main__":
    main()
