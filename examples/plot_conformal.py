"""Intervals on a stream that jumps
================================

Intervals keep their coverage when a stream jumps. They rely on many errors while nothing changes,
and on few errors after a jump.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk import COLK, ConformalRegressor
from colk.compressors import KOMP
from colk.estimators import IntervalDisplay
from colk.kernels import Gaussian

rng = np.random.default_rng(0)
n = 6000
X = rng.uniform(-1.0, 1.0, (n, 2))
f = np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2
y = f + 0.2 * rng.exponential(size=n)
between = slice(n // 3, 2 * n // 3)
y[between] = 1.0 - 2.0 * f[between] + 0.5 * rng.normal(size=n // 3)

learner = COLK(Gaussian(0.4), step_size=0.3, compressor=KOMP(eps=0.03), averaging=None)
model = ConformalRegressor(learner, coverage=0.9)
IntervalDisplay.from_stream(model, X, y, coverage=0.9)
plt.show()
