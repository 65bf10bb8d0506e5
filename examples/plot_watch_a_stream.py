"""A stream with drift, in one picture
===================================

The relationship changes twice. `StreamDisplay` shows the error before each block is learned, the
number of atoms, and the samples at which a detector raised an alarm.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk import COLKRegressor
from colk.estimators import StreamDisplay

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(9000, 2))
sign = np.repeat([1, -1, 1], 3000)
y = sign * np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=9000)

model = COLKRegressor(kernel="gaussian", solver="newton", forgetting="auto", random_state=0)
display = StreamDisplay.from_estimator(model, X, y, n_points=90)
print("drift at samples", display.drifts)
plt.show()
