"""Several classes
===============

Classify three spirals with functions that share their atoms.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk import COLKClassifier
from colk.estimators import LearnedFunctionDisplay

rng = np.random.default_rng(0)
arm = rng.integers(0, 3, size=3000)
turn = 4 * np.sqrt(rng.random(3000))
angle = turn + 2 * np.pi * arm / 3
X = turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
X += 0.15 * rng.normal(size=X.shape)
y = np.array(["red", "green", "blue"])[arm]

model = COLKClassifier(kernel="gaussian", bandwidth=0.7, random_state=0).fit(X[:2000], y[:2000])

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
LearnedFunctionDisplay.from_estimator(model, X[2000:], y[2000:], ax=ax)
ax.set_title(f"accuracy {model.score(X[2000:], y[2000:]):.3f} on new points")
plt.show()
