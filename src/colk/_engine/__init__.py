"""The engine: the state of a learner, the steps that move it, and the loops they are made of.

Nothing in here is public. The public names are in `colk.learners` and in the modules of the terms.
"""
