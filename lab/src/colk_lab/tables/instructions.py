"""Instructions per sample of fixed workloads, counted by callgrind.

    python -m colk_lab.tables instructions [--other CHECKOUT]

Counts do not depend on the load of the machine, so small changes of a step are visible that times
hide. The workloads are cases of `cases.py`. Every case is warmed up and then learns one chunk;
`callgrind` counts that chunk alone. The table has the counts of this checkout, and with `--other`
those of another one, whose modules must be compiled in place, and the ratio. Without `--other` the
table is written to docs/tables/instructions.md. A count says nothing about the layout of code and
data, which `engines.py` measures. Counts depend on the compiler: compare a change with the checkout
before it.

Valgrind must be installed. One checkout takes about 50 seconds of processor time.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from colk_lab.tables.output import ROOT, publish, table

WORKLOADS = (
    "M = 24, mean, Squared",
    "M = 24, mean, Squared, no averaging",
    "M = 24, variance, pairs, Squared",
    "M = 24, variance, pairs, Squared, no averaging",
    "8 features, M = 200, mean",
    "3 outputs, M = 50, variance, pairs",
    "softmax of 5 classes, M = 50, variance, pairs",
    "kernel polynomial",
    "NORMA, M = 50",
    "NPBSGD, projection, M = 50",
    "POLK, M = 50",
    "predict 10⁵ points, 1 feature, M = 24",
    "learner.learn_one, M = 24",
)

# Functions of the C library that nothing else calls here: callgrind sets its counters to 0 before
# the first, and writes them to a file before the second.
START, STOP = "getpgid", "getsid"


def work() -> None:
    """Run every workload once between the two marks, and print its number of samples."""
    from colk_lab.tables.cases import (
        kernels,
        large,
        methods,
        one_sample,
        outputs,
        predictions,
        small,
    )

    families = (small, large, outputs, kernels, methods, predictions, one_sample)
    cases = (case for family in families for case in family())
    ready = {case.name: case.prepare() for case in cases if case.name in WORKLOADS}
    for name in WORKLOADS:
        ready[name].job()  # so that nothing of the workload before is left to do
        os.getpgid(0)
        ready[name].job()
        os.getsid(0)
    print(*(ready[name].samples for name in WORKLOADS))


def count(checkout: Path) -> list[float]:
    """Return the instructions per sample of each workload with the package of a checkout."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    path = os.pathsep.join([str(checkout / "src"), str(ROOT / "lab" / "src")])
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts",
             f"--zero-before={START}", f"--dump-before={STOP}",
             sys.executable, "-m", "colk_lab.tables.instructions", "--worker"],
            check=True,
            env={**os.environ, **one_thread, "PYTHONPATH": path, "PYTHONHASHSEED": "0"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )  # fmt: skip
        samples = run.stdout.splitlines()[-1].split()
        return [
            _total(Path(folder, f"counts.{i}")) / int(n) for i, n in enumerate(samples, start=1)
        ]


def _total(dump: Path) -> int:
    """Return the instructions that a file of callgrind sums up."""
    found = re.search(r"^summary: (\d+)", dump.read_text(), re.MULTILINE)
    if found is None:
        raise SystemExit(f"{dump.name} of callgrind has no summary")
    return int(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--other", type=Path, help="another checkout, compiled in place")
    options = parser.parse_args()
    if options.worker:
        return work()
    these = count(ROOT)
    columns, rows = ["case", "instructions"], [[name] for name in WORKLOADS]
    for row, this in zip(rows, these, strict=True):
        row.append(f"{this:,.0f}")
    if options.other is None:
        return publish("instructions", columns, rows)
    columns += ["other", "ratio"]
    for row, this, other in zip(rows, these, count(options.other.resolve()), strict=True):
        row += [f"{other:,.0f}", f"{this / other:.3f}"]
    print(table(columns, rows))
    return None


if __name__ == "__main__":
    main()
