"""Memory and time of fits to sparse matrices, each in its own process.

    python -m colk_lab.tables sparse_rows

The default is 10⁵ rows of 10⁴ features, of which 0.1 % are not 0; a dense copy would take 8 GB. The
peak is that of the whole process, with the libraries and the matrix. All settings are the defaults,
but for the kernel, and in the last row for the limit of 400 atoms. "File" is the size of the saved
model, whose atoms are sparse.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from colk_lab.tables.output import publish

# Kernels, and the settings of max_atoms.
RUNS = [(name, "auto") for name in ("linear", "polynomial", "gaussian", "laplacian", "auto")]
RUNS.append(("auto", "400"))


def peak():
    """Return the largest memory so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def sample(n_rows, n_columns, density, seed):
    """Return a sparse matrix, and targets that are a nonlinear function of half of the columns."""
    from scipy.sparse import csr_matrix

    random = np.random.default_rng(seed)
    n_entries = round(n_rows * n_columns * density)
    places = random.integers(n_rows, size=n_entries), random.integers(n_columns, size=n_entries)
    X = csr_matrix((random.uniform(size=n_entries), places), shape=(n_rows, n_columns))
    effects = np.zeros(n_columns)
    effects[: n_columns // 2] = np.random.default_rng(0).normal(size=n_columns // 2)
    return X, np.tanh(X @ effects) + 0.1 * random.normal(size=n_rows)


def measure(kernel, limit, n_rows, n_columns, density):
    """Fit, predict, and print what it took."""
    from colk import COLKRegressor, save

    X, y = sample(n_rows, n_columns, density, 1)
    unseen, truth = sample(n_rows // 10, n_columns, density, 2)
    before, began = peak(), time.process_time()
    max_atoms = limit if limit == "auto" else int(limit)
    model = COLKRegressor(kernel=kernel, max_atoms=max_atoms, random_state=0).fit(X, y)
    fitted, done = peak(), time.process_time()
    score = model.score(unseen, truth)
    predicted, ended = peak(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "model.colk")
        size = (Path(folder) / "model.colk").stat().st_size / 1e6
    found = {
        "before": before,
        "fit": fitted,
        "predict": predicted,
        "seconds": done - began,
        "predict_seconds": ended - done,
        "file": size,
        "atoms": model.n_atoms_,
        "score": score,
    }
    print(json.dumps(found))


def main():
    """Run each kernel in its own process, and write docs/tables/sparse_rows.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=10_000)
    parser.add_argument("--density", type=float, default=0.001)
    parser.add_argument("--kernel", help="measure this kernel in this process")
    parser.add_argument("--max-atoms", default="auto", help="with --kernel: the most atoms")
    given = parser.parse_args()
    size = given.rows, given.columns, given.density
    if given.kernel:
        measure(given.kernel, given.max_atoms, *size)
        return
    rows = []
    names = ("rows", "columns", "density")
    flags = [f"--{name}={value}" for name, value in zip(names, size, strict=True)]
    for kernel, limit in RUNS:
        options = [f"--kernel={kernel}", f"--max-atoms={limit}"]
        command = [sys.executable, "-m", "colk_lab.tables.sparse_rows", *flags, *options]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        sizes = [f"{found[name]:.0f}" for name in ("before", "fit", "predict", "seconds")]
        of_model = [f"{found['predict_seconds']:.1f}", f"{found['file']:.1f}"]
        name = kernel if limit == "auto" else f"{kernel}, max_atoms={limit}"
        rows.append([name, *sizes, *of_model, f"{found['score']:.3f}", str(found["atoms"])])
        print(rows[-1], flush=True)
    columns = (
        "kernel", "MB before", "MB after fit", "MB after predict", "fit, s", "predict, s",
        "file, MB", "R²", "atoms",
    )  # fmt: skip
    publish("sparse_rows", columns, rows)


if __name__ == "__main__":
    main()
