"""The hottest loops: vectorised C, BLAS products, and their NumPy twins."""
