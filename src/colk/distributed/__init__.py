"""Estimators for rows on many machines: Dask clusters, or any executor of `concurrent.futures`.

A sample of the rows chooses kernel, atoms and λ on the caller's machine. The weights minimise the
objective over all rows: workers send sums, and no other row leaves its worker.
"""

from colk.distributed.estimators import (
    DaskCOLKClassifier,
    DaskCOLKQuantileRegressor,
    DaskCOLKRegressor,
)

__all__ = ["DaskCOLKClassifier", "DaskCOLKQuantileRegressor", "DaskCOLKRegressor"]
