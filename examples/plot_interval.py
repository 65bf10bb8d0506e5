"""An online interval
==================

Learn two quantiles at the same time, and measure the coverage of the interval between them.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk.losses import Pinball
from colk.river import COLKRegressor

rng = np.random.default_rng(0)
x = rng.uniform(-1.7, 1.7, size=12000)
spread = 0.15 + 0.5 * (x > 0) * x
y = np.sin(2 * x) + spread * rng.normal(size=12000)

low, high = (
    COLKRegressor(kernel="gaussian", loss=Pinball(level), step_size=0.2, averaging=True)
    for level in (0.05, 0.95)
)
inside = np.empty(12000)
for t in range(12000):
    sample, target = {"x": float(x[t])}, float(y[t])
    inside[t] = low.predict_one(sample) <= target <= high.predict_one(sample)
    low.learn_one(sample, target)
    high.learn_one(sample, target)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
grid = np.linspace(-1.7, 1.7, 200)
edges = [[model.predict_one({"x": float(u)}) for u in grid] for model in (low, high)]
left.plot(x[::6], y[::6], ".", ms=3, color="0.75")
left.fill_between(grid, *edges, alpha=0.3, label="90 % interval")
left.legend()
coverage = np.cumsum(inside) / np.arange(1, 12001)
right.plot(coverage)
right.axhline(0.9, color="k", ls=":")
right.set(xlabel="samples", ylabel="coverage so far, before learning", ylim=(0.5, 1))
right.set_title(f"coverage of the last 6000 samples: {100 * inside[6000:].mean():.1f} %")
plt.show()
