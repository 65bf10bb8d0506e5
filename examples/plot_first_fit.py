"""First fit
=========

Learn a noisy curve in one pass, with a few atoms.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk import COLKRegressor
from colk.estimators import LearnedFunctionDisplay, ModelOrderDisplay

rng = np.random.default_rng(0)
X = rng.uniform(0, 1, size=(3000, 1))
y = 2 * X[:, 0] + 3 * np.sin(6 * X[:, 0]) + 0.5 * rng.normal(size=3000)

# For one feature and a smooth curve, the Gaussian kernel needs fewer atoms than the default.
model = COLKRegressor(kernel="gaussian", epochs=1, random_state=0)
model.fit(X, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
LearnedFunctionDisplay.from_estimator(model, X, y, ax=left)
ModelOrderDisplay.from_estimator(model, X, y, ax=right)
left.set_title(f"R² = {model.score(X, y):.3f}")
right.set_title("the model order settles")
plt.show()
