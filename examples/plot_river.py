"""A River pipeline
================

Predict each poll of presidential approval before the model learns it.
"""

import matplotlib.pyplot as plt
from river import datasets, evaluate, linear_model, metrics, preprocessing, tree

from colk.river import COLKRegressor

models = {
    "COLKRegressor": COLKRegressor(),
    "LinearRegression": linear_model.LinearRegression(),
    "HoeffdingAdaptiveTree": tree.HoeffdingAdaptiveTreeRegressor(seed=1),
}
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, model in models.items():
    steps = evaluate.iter_progressive_val_score(
        datasets.TrumpApproval(),
        preprocessing.StandardScaler() | model,
        metrics.MAE(),
        step=20,
    )
    path = [(step["Step"], step["MAE"].get()) for step in steps]
    print(f"{name}: MAE {path[-1][1]:.3f}")
    ax.plot(*zip(*path, strict=True), label=f"{name}: {path[-1][1]:.2f}")
ax.set(xlabel="polls", ylabel="prequential MAE, in points", yscale="log")
ax.legend()
plt.show()
