"""The compiled twin of `colk.reference`: the only place where speed is bought.

Every function here is module-level Numba code over plain float64 arrays. Kernels, losses and
risks reach it as *programs*: one float64 vector each, a small code followed by its constants, so
that a single compiled specialisation serves them all.
"""
