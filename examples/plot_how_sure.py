"""Standard deviations of predictions
==================================

With more samples the standard deviation shrinks. In a gap without samples it stays large.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk import COLKRegressor

rng = np.random.default_rng(0)
x = rng.uniform(-3.0, 3.0, size=4500)
x = x[(x < 0.3) | (x > 1.8)][:3000]
y = np.sin(2.0 * x) + 0.3 * rng.normal(size=3000)
grid = np.linspace(-4.5, 4.5, 400)

model = COLKRegressor(kernel="gaussian", bandwidth=0.5, solver="newton")
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained", sharey=True)
start = 0
for axis, seen in zip(axes, (30, 300, 3000), strict=True):
    model.partial_fit(x[start:seen, None], y[start:seen])
    values, deviations = model.predict(grid[:, None], return_std=True)
    edges = values - 1.645 * deviations, values + 1.645 * deviations
    axis.plot(x[:seen][-600:], y[:seen][-600:], ".", ms=3, color="0.75")
    axis.plot(grid, np.sin(2.0 * grid), "k:", lw=1, label="truth")
    axis.plot(grid, values, label="prediction")
    axis.fill_between(grid, *edges, alpha=0.25, label="± 1.645 std")
    axis.set(title=f"{seen} samples, {model.n_atoms_} atoms", xlabel="x", ylim=(-2.5, 2.5))
    start = seen
axes[0].legend(loc="lower left")
plt.show()
