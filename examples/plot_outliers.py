"""Robust to outliers
==================

Outliers change the fit of the squared loss much more than that of the Huber loss, the default.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk import COLKRegressor

rng = np.random.default_rng(0)
X = rng.uniform(0, 1, size=(2000, 1))
clean = np.sin(6 * X[:, 0])
y = clean + 0.1 * rng.normal(size=2000)
hit = rng.random(2000) < 0.1 * (X[:, 0] > 0.4)
y[hit] += rng.uniform(3, 8, size=hit.sum())

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.plot(X, y, ".", ms=3, color="0.75", label="data with outliers")
grid = np.linspace(0, 1, 300)[:, None]
ax.plot(grid, np.sin(6 * grid), "k--", lw=1, label="truth")
for loss, step_size in (("squared", 0.05), ("huber", 0.1), ("epsilon_insensitive", 0.1)):
    model = COLKRegressor(
        kernel="gaussian", bandwidth=0.15, loss=loss, step_size=step_size, random_state=0
    )
    error = np.abs(model.fit(X, y).predict(X) - clean).mean()
    ax.plot(grid, model.predict(grid), lw=2, label=f"{loss}: mean error {error:.2f}")
ax.set_ylim(-1.5, 3)
ax.legend()
plt.show()
