"""Time of the imports and of the first fit in a new process.

    python lab/tables/startup.py

Every line is the median over separate processes, which run in turns. Each process times its own
stages one after the other, so the start of the process is not included.
"""

import argparse
import json
import statistics
import subprocess
import sys

from tables import table

TIMER = """
import json, sys, time
names, times = {}, []
for stage in json.loads(sys.argv[1]):
    begin = time.perf_counter()
    exec(stage, names)
    times.append(time.perf_counter() - begin)
print(json.dumps(times))
"""

LEARNER = """
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import Huber
from colk.risks import Variance
"""
DATA = "X, y = numpy.linspace(0.0, 1.0, 100).reshape(-1, 1), numpy.zeros(100)"
FIT = """
learner = COLK(Gaussian(0.1), Huber(1.0), Variance(0.1), compressor=KOMP(eps=1e-3))
learner.learn(X, y)
"""
COMPRESSION = """
from colk.rkhs.compression import compress
from colk.rkhs.expansion import KernelExpansion
from colk.kernels import Gaussian
"""
COMPRESS = "compress(KernelExpansion(Gaussian(1.0), [[0.0], [0.1]], [1.0, 1.0]), eps=0.1)"
ESTIMATOR = "from colk.estimators import COLKRegressor"

# Name, limit in seconds, and code; a stage with None is not reported.
Stage = tuple[str | None, float | None, str]

PROCESSES: tuple[tuple[Stage, ...], ...] = (
    (("import numpy", None, "import numpy"), ("import colk, after NumPy", None, "import colk")),
    (
        (None, None, "import numpy\n" + DATA),
        ("imports of a learner and its terms, after NumPy", None, LEARNER),
        ("first fit after the imports", 0.3, FIT),
        ("second fit", None, FIT),
    ),
    (
        (None, None, "import numpy"),
        ("imports of compress, after NumPy", None, COMPRESSION),
        ("first compression after the imports", None, COMPRESS),
    ),
    (
        ("import sklearn", None, "import sklearn"),
        ("import colk.estimators beyond it", 0.1, ESTIMATOR),
        (None, None, "import numpy\n" + DATA),
        ("first COLKRegressor().fit after the imports", 0.3, "COLKRegressor().fit(X, y)"),
    ),
)


def seconds(stages: tuple[Stage, ...]) -> list[float]:
    """Return the time of every stage in a new process."""
    command = [sys.executable, "-c", TIMER, json.dumps([code for *_, code in stages])]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(result.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=9, help="processes per kind")
    count = parser.parse_args().processes
    for stages in PROCESSES:
        # Warm up bytecode and other caches.
        seconds(stages)
    rounds = [[seconds(stages) for stages in PROCESSES] for _ in range(count)]
    rows = []
    for which, stages in enumerate(PROCESSES):
        for position, (name, asked, _) in enumerate(stages):
            if name is not None:
                middle = statistics.median(times[which][position] for times in rounds)
                rows.append([name, f"{middle:.3f}", "–" if asked is None else f"≤ {asked}"])
    print(table(("stage", "seconds, median", "limit"), rows))


if __name__ == "__main__":
    main()
