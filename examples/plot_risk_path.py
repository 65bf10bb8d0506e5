"""How far a fit follows a risk
============================

`fit` follows a path from the mean to CVaR, and left-out samples decide how far. With skewed noise
CVaR pays. With normal noise there is nothing to gain, and `fit` keeps the model of the mean.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk import COLKRegressor
from colk.estimators import RiskPathDisplay
from colk.risks import CVaR

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(1500, 1))
noises = {"skewed noise": rng.exponential(size=1500), "normal noise": rng.normal(size=1500)}

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for ax, (name, noise) in zip(axes, noises.items(), strict=True):
    model = COLKRegressor(kernel="gaussian", risk=CVaR(0.1), random_state=0)
    model.fit(X, np.sin(3 * X[:, 0]) + noise)
    RiskPathDisplay.from_estimator(model, ax=ax)
    ax.set_title(name)
axes[0].get_legend().remove()
plt.show()
