"""Diagnosis of a learner
======================

One figure shows whether a learner under a risk is near a stationary point: the curvature of the
objective on the atoms, the objective along the stream, the tracked g and the clipped steps.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk import COLK
from colk.kernels import Gaussian
from colk.losses import Welsch
from colk.risks import Variance
from colk.theory.diagnostics import diagnose

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(6000, 1))
y = np.sin(3 * X[:, 0]) + 0.2 * rng.standard_t(3, size=6000)
y[rng.random(6000) < 0.1] += 2.0

learner = COLK(Gaussian(0.3), Welsch(0.7), Variance(1.0), gradient_bound=0.35, trace=True)
learner.learn(X[:5000], y[:5000])
found = diagnose(learner, X[5000:], y[5000:])
print(found)
found.plot()
plt.show()
