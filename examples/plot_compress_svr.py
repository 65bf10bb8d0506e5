"""Compress a support vector machine
=================================

`compress` reduces the machine to a hundredth of its size and bounds the H-norm of the difference.
The kernel has κ(x, x) = 1, so no prediction changes by more than this bound.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVR

from colk import compress, from_sklearn

rng = np.random.default_rng(0)
X = rng.uniform(size=(8000, 1))
y = 2 * X[:, 0] + 3 * np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=len(X))
outliers = rng.random(len(X)) < 0.1
y[outliers] += 3 * rng.normal(size=outliers.sum())

machine = from_sklearn(SVR(gamma=1 / (2 * 0.06**2), epsilon=0.05).fit(X, y))
small = compress(machine.function, eps=0.01 * machine.function.norm())

grid = np.linspace(0, 1, 1001).reshape(-1, 1)
before, after = machine.function(grid), small.function(grid)
change = np.abs(after - before).max()
print(f"{small}\nlargest change: {change:.1e}, {change / np.ptp(before):.3%} of the range")

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(X[:, 0], y, ",", color="0.7")
label = f"{machine.function.n_atoms} support vectors"
axes.plot(grid, before + machine.intercept, color="0.2", linewidth=3, label=label)
label = f"{small.function.n_atoms} atoms"
axes.plot(grid, after + machine.intercept, "--", color="tab:orange", label=label)
axes.plot(small.function.atoms, np.full(small.function.n_atoms, -4.5), "|", color="tab:orange")
axes.set(xlabel="x", ylabel="y", ylim=(-5, 7))
axes.legend(frameon=False)
plt.show()
