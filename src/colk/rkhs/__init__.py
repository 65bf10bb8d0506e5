"""Functions in a reproducing kernel Hilbert space, and what is done with them after learning.

`expansion` holds the function, `compression` makes it smaller with a certificate, `polish` refits
its weights, `objectives` evaluates it, `batch` finds the exact optimum, `interop` converts
models of scikit-learn, `features` maps points to features.
"""
