"""How long `import colk` takes, and the first compilation, each in processes of their own.

python benchmarks/startup.py
"""

import os
import subprocess
import sys
import tempfile
import time

IMPORT = "import colk"
FIRST_FIT = """
import numpy as np
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners.colk import COLK
from colk.losses import Huber
from colk.risks import Variance
learner = COLK(Gaussian(0.1), Huber(1.0), Variance(0.1), compressor=KOMP(eps=1e-3))
learner.learn(np.linspace(0.0, 1.0, 100).reshape(-1, 1), np.zeros(100))
"""
FIRST_COMPRESSION = """
from colk.compression import compress
from colk.expansion import KernelExpansion
from colk.kernels import Gaussian
compress(KernelExpansion(Gaussian(1.0), [[0.0], [0.1]], [1.0, 1.0]), eps=0.1)
"""


def seconds(code: str, cache: str) -> float:
    """Wall-clock time of a process that runs `code` with this compile cache."""
    begin = time.perf_counter()
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
    return time.perf_counter() - begin


def main() -> None:
    bare = min(seconds("pass", "") for _ in range(5))
    with tempfile.TemporaryDirectory() as cache:
        seconds(IMPORT, cache)
        print(f"import colk:                {min(seconds(IMPORT, cache) for _ in range(5)):.2f} s")
        for name, code in (("fit", FIRST_FIT), ("compression", FIRST_COMPRESSION)):
            first = seconds(code, cache)
            later = min(seconds(code, cache) for _ in range(3))
            print(f"first {name:12} compiles: {first:.1f} s; in a later process: {later:.2f} s")
    print(f"(an empty process takes {bare:.2f} s, and is part of each)")


if __name__ == "__main__":
    main()
