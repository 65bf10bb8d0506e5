"""The fastest loops in vectorised C, BLAS products, and their NumPy versions."""
