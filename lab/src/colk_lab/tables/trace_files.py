"""The files of the package that one row passes, and those that `colk fit` of 60 rows passes.

A copy of the package without its compiled modules is traced: a file counts if one of its functions
is called. For `partial_fit` the model learns 600 rows first, so that it has all its atoms, and its
kernel is chosen; then 20 more rows are learned one at a time. `colk fit` runs twice, and the second
run is traced, from the command line to the model's file, so that imports do not count.

    python -m colk_lab.tables trace_files
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from colk_lab.tables.output import ROOT

# Without the race and the polish: one kernel, one pass that learns.
PLAIN = ("--kernel", "laplacian", "--no-polish", "--epochs", "1")

PACKAGE = ROOT / "src" / "colk"

_TRACER = """
import sys
from pathlib import Path

seen, home = set(), Path("colk").resolve()

def note(frame, event, argument):
    # The body of a module or of a class runs when it is imported.
    if event == "call" and not frame.f_code.co_name.startswith("<mod") and not _is_class(frame):
        path = Path(frame.f_code.co_filename)
        if home in path.parents:
            seen.add(path.relative_to(home).as_posix())

def _is_class(frame):
    return not frame.f_code.co_flags & 2  # CO_NEWLOCALS: functions have it, bodies of classes not
"""

_PARTIAL_FIT = """
import numpy as np
from colk import COLKRegressor

X = np.random.default_rng(0).normal(size=(620, 2))
model = COLKRegressor(kernel=KERNEL, step_size=0.05, max_atoms=20)
model.partial_fit(X[:600], np.sin(X[:600, 0]))
sys.setprofile(note)
for i in range(600, 620):
    model.partial_fit(X[i : i + 1], np.sin(X[i : i + 1, 0]))
sys.setprofile(None)
print(*sorted(seen))
"""

_FIT = """
import numpy as np

X = np.random.default_rng(0).normal(size=(60, 2))
rows = np.column_stack([X, np.sin(X[:, 0])])
np.savetxt("rows.csv", rows, delimiter=",", header="a,b,y", comments="")
import colk.cli

command = ["fit", "rows.csv", "--target", "y", "--model", "m.colk", "--overwrite", *OPTIONS]
colk.cli.main(command)  # imports what the command needs
sys.setprofile(note)
code = colk.cli.main(command)
sys.setprofile(None)
assert code == 0
print(*sorted(seen))
"""


def files_of_partial_fit(kernel: str = "laplacian") -> list[str]:
    """Files that a row passes in `COLKRegressor.partial_fit`."""
    return _trace(f"KERNEL = {kernel!r}" + _PARTIAL_FIT)


def files_of_fit(*options: str) -> list[str]:
    """Files that `colk fit` of 60 rows passes, with these options."""
    return _trace(f"OPTIONS = {list(options)}" + _FIT)


def _trace(program: str) -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        ignored = shutil.ignore_patterns("*.so", "*.pyd", "*.pyc")
        shutil.copytree(PACKAGE, Path(name, "colk"), ignore=ignored)
        run = subprocess.run(
            [sys.executable, "-c", _TRACER + program],
            check=True,
            env={**os.environ, "PYTHONPATH": name},
            cwd=name,
            stdout=subprocess.PIPE,
            text=True,
        )
    return run.stdout.splitlines()[-1].split()


def main() -> None:
    for title, files in (
        ("partial_fit of one row", files_of_partial_fit()),
        ("partial_fit of one row, the data choose the kernel", files_of_partial_fit("auto")),
        ("colk fit of 60 rows", files_of_fit()),
        (f"colk fit of 60 rows {' '.join(PLAIN)}", files_of_fit(*PLAIN)),
    ):
        rooms = Counter(file.split("/")[0] for file in files)
        print(f"{title}: {len(files)} files,", ", ".join(f"{n} of {r}" for r, n in rooms.items()))
        print(*(f"  {file}" for file in files), sep="\n")


if __name__ == "__main__":
    main()
