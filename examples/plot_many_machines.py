"""Learners of different machines
==============================

Four machines see different regions. The mean of their functions is wrong almost everywhere. If the
learners are merged instead, each one counts in the region in which it has seen samples.
"""

import matplotlib.pyplot as plt
import numpy as np

import colk
from colk.kernels import Gaussian
from colk.learners import NewtonCOLK

rng = np.random.default_rng(0)
X = rng.uniform(0, 4, size=(2000, 1))
y = np.sin(4 * X[:, 0]) + 0.3 * rng.normal(size=2000)
machine = X[:, 0].astype(int)
learners = [NewtonCOLK(Gaussian(0.3)).learn(X[machine == k], y[machine == k]) for k in range(4)]

grid = np.linspace(0, 4, 400)[:, None]
mean = colk.merge([learner.function for learner in learners])
merged = colk.merge(learners, eps=0.05)

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.scatter(X[:, 0], y, c=machine, cmap="Set2", s=4)
ax.plot(grid, np.sin(4 * grid[:, 0]), color="0.6", label="truth")
ax.plot(grid, mean.model(grid), ls="--", label="mean of the functions")
label = f"merged learners: {merged.model.n_atoms} atoms, ‖f − f~‖ ≤ {merged.error:.2f}"
ax.plot(grid, merged.model.predict(grid), label=label)
ax.set(xlabel="x, the colour is the machine", ylabel="y")
ax.legend()
plt.show()
