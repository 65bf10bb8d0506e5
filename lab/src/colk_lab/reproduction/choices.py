"""Choices that a reader of the report should know about."""

__all__ = ["ASSUMPTIONS", "CHOSEN_AFTER"]

ASSUMPTIONS = (
    "The paper does not state the distribution of the noise and the outliers, the range of x, λ "
    "or g₀. The report states the values in use. If the paper gives no step size for a "
    "comparator, the printed protocol uses COLK's.",
    "“Holds in part” means that some parts of the claim hold and others do not.",
    "Tuning uses one training set, a validation split and sixteen trials for every method. The "
    "trials are the same in every chapter.",
    "Table I of the paper is measured for COLK and POLK only.",
    "Policy evaluation uses five seeds for any number of runs. On Mountain Car the discount is "
    "0.95. At 0.99, every setting that was tried had more than 1.5 times the error of the batch "
    "solution at the best bandwidth.",
)

CHOSEN_AFTER = (
    "The step size and pairing of the risk frontiers: 0.01 and independent pairs. At 0.05 with "
    "overlapping pairs the dispersion did not fall at high weights.",
    "The size of the transient in the test of Lemma 1.",
    "The rule by which the RBF network's step size falls with its number of features.",
    "The search range of NASA and the horizon of NPBSGD.",
    "The thresholds of the verdicts: 0.15 for an exponent, 5 % for comparable, 2 % for lower, "
    "50 % for robust.",
)
