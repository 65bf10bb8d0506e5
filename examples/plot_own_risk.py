"""Your own risk
=============

Define a risk by five functions: the mean plus the root of the second moment of the loss.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk import COLKRegressor
from colk.estimators import LossDistributionDisplay
from colk.risks import CustomRisk, Mean
from colk.testing import check_risk

# E ℓ + 2·√E ℓ²: inner is ℓ², and outer is the loss plus twice the root of the tracked value.
risk = CustomRisk(
    inner=lambda loss: loss**2,
    inner_slope=lambda loss: 2.0 * loss,
    outer=lambda loss, g: loss + 2.0 * np.sqrt(max(g, 0.0) + 1e-3),
    outer_slope_loss=lambda loss, g: 1.0,
    outer_slope_inner=lambda loss, g: 1.0 / np.sqrt(g + 1e-3) if g > 0.0 else 0.0,
)
check_risk(risk)

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(6000, 1))
y = np.sin(3 * X[:, 0]) + rng.exponential(size=6000)

figure, axes = plt.subplots(2, 1, figsize=(7, 6), sharex=True, layout="constrained")
for ax, choice, name in zip(axes, (Mean(), risk), ("mean", "mean + 2·root"), strict=True):
    model = COLKRegressor(
        kernel="gaussian", step_size=0.01, gradient_bound=1e3, risk=choice, random_state=0
    )
    LossDistributionDisplay.from_estimator(model.fit(X, y), X, y, ax=ax)
    ax.set_title(name)
plt.show()
