"""The engine: the state of a learner, the steps that update it, and the loops of these steps.

Nothing in this package is public. The public names are in `colk.learners` and in the modules of the
terms.
"""
