"""Model selection over terms
==========================

A grid search can set whole terms or their parameters. This one chooses the kernel and its bandwidth
for a curve with a step.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV

from colk import COLKRegressor
from colk.kernels import Gaussian, Laplacian, Matern

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(600, 1))
y = np.sin(4 * X[:, 0]) + 1.5 * (X[:, 0] > 0.3) + 0.3 * rng.normal(size=600)

widths = [0.03, 0.1, 0.3, 1.0, 3.0]
kernels = [Laplacian(1.0), Matern(1.0, nu=1.5), Gaussian(1.0)]
search = GridSearchCV(
    COLKRegressor(epochs=2, random_state=0),
    [{"kernel": [kernel], "kernel__bandwidth": widths} for kernel in kernels],
    cv=4,
).fit(X, y)
print(search.best_params_)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
scores = search.cv_results_["mean_test_score"].reshape(len(kernels), len(widths))
errors = search.cv_results_["std_test_score"].reshape(scores.shape)
for kernel, row, error in zip(kernels, scores, errors, strict=True):
    left.errorbar(widths, row, error / 2, marker="o", capsize=2, label=type(kernel).__name__)
left.set(xscale="log", xlabel="bandwidth", ylabel="R², mean of 4 folds", ylim=(0.5, 1))
left.legend()
grid = np.linspace(-2, 2, 600)[:, None]
right.plot(X, y, ".", ms=3, color="0.75")
right.plot(grid, search.predict(grid), color="tab:red", label=str(search.best_estimator_.kernel))
right.set(xlabel="x", ylabel="y", title=f"best model: R² {search.best_score_:.3f}")
right.legend()
plt.show()
