"""Estimators for rows on many machines: Dask clusters, or any executor of `concurrent.futures`.

A sample of the rows chooses kernel, atoms and λ on the machine of the caller. The weights are those
that minimise the objective over all rows: workers send sums, and no row leaves its worker.
"""

from colk.distributed.estimators import (
    DaskCOLKClassifier,
    DaskCOLKQuantileRegressor,
    DaskCOLKRegressor,
)

__all__ = ["DaskCOLKClassifier", "DaskCOLKQuantileRegressor", "DaskCOLKRegressor"]
