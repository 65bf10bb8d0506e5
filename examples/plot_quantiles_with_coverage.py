"""Quantiles with coverage
=======================

One model learns five quantiles. They do not cross, and on new data the share of samples below each
quantile is close to its level.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk import COLKQuantileRegressor

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(5000, 1))
spread = 0.2 + 0.3 * (X[:, 0] > 0) * X[:, 0]
y = np.sin(2 * X[:, 0]) + spread * (rng.gamma(2.0, size=5000) - 2.0)  # skewed, wider on the right
train, test = slice(0, 2500), slice(2500, None)

levels = (0.05, 0.25, 0.5, 0.75, 0.95)
model = COLKQuantileRegressor(levels, kernel="gaussian", random_state=0).fit(X[train], y[train])
below = (y[test, None] < model.predict(X[test])).mean(axis=0)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
grid = np.linspace(-2, 2, 300)[:, None]
curves = model.predict(grid).T
left.plot(X[test], y[test], ".", ms=2, color="0.8")
left.fill_between(grid[:, 0], curves[0], curves[4], alpha=0.2, color="tab:blue", label="90 %")
left.fill_between(grid[:, 0], curves[1], curves[3], alpha=0.4, color="tab:blue", label="50 %")
left.plot(grid, curves[2], color="k", label="median")
left.set(xlabel="x", ylabel="y", title=f"{model.n_atoms_} atoms for all quantiles")
left.legend()
right.plot([0, 1], [0, 1], ":", color="0.5")
right.plot(levels, below, "o")
for level, share in zip(levels, below, strict=True):
    right.annotate(f"{share:.3f}", (level, share), xytext=(8, -12), textcoords="offset points")
right.set(xlabel="level", ylabel="share of new samples below", title="new data", aspect="equal")
plt.show()
