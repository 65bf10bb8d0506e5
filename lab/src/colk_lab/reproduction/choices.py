"""Choices that a reader of the report should know about."""

__all__ = ["ASSUMPTIONS", "CHOSEN_AFTER"]

ASSUMPTIONS = (
    "Assumption 5 bounds the gradient by a constant that the paper does not print. This bound C "
    "decides the result of the printed settings: from C = 1 to C = 100 COLK's test error grows by "
    "more than three orders of magnitude. Claims with printed settings are judged at C = 1, 3, 10, "
    "30 and 100; those on heavy tails and on lidar's functions at 10, the default of colk, which "
    "the other figures show too. Without a bound the run diverges.",
    "The paper does not state the distribution of the noise and the outliers, the range of x, or λ "
    "in Section V. The report states the values in use. If the paper gives no step size for a "
    "comparator, the printed protocol uses COLK's.",
    "The paper states g₀ = 0 and δ₋₁ = 0 (Appendix C). With them the first g is the first inner "
    "value, which is what colk uses.",
    "The paper draws 60,000 samples, takes 20 % for the test and 50 % of “the remaining 4800” for "
    "a training set. 80 % of 60,000 are 48,000, so training sets have 24,000 samples.",
    "“Test error” is the mean squared distance to the noiseless function on the test points, and "
    "not the error on noisy targets.",
    "The caption of Figure 2 says ε = α², the text ε = 5α². The printed settings use 5α².",
    "The general update of the paper has one kernel, κ(ξ, ·); the update of Section V has two, and "
    "colk uses two.",
    "The objective of Figure 1a is the mean plus 0.1 times the variance of the loss, as the text "
    "says. The risk that COLK minimises also has the moments 3 and 4, as in the update.",
    "“Holds in 2 of 6” means that two of six parts of the claim hold. What a part is, the rule of "
    "the claim says.",
    "Standard deviations of test errors are compared as those of lognormal errors, because test "
    "errors are skewed. The tests simulate the coverage of the intervals.",
    "Tuning uses one training set, a validation split and sixteen trials for every method. The "
    "trials are the same in every chapter. They include the bound on the gradient; with the bounds "
    "that win, from 0.3 to 1, the squared loss acts like a Huber loss, which the paper does not "
    "compare with.",
    "Theorem 2 is judged inside its hypothesis, λ = 2.6. With λ = 0.1, outside it, the exponents "
    "are shown.",
    "Theorem 3 is judged on an objective that is not convex on the way of the iterates: Welsch's "
    "loss and its variance, without regularization and without a bound on the gradient.",
    "Exponents of the model order are judged with a Laplacian kernel. With a Gaussian kernel the "
    "order hardly grows, so that no bound could be violated.",
    "Table I of the paper is measured for COLK and POLK only. For COLK and strongly convex "
    "objectives the paper's Table I contradicts its Theorem 2; both are judged.",
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
    "The objective of Theorem 3, with its amplitude, step size and budget, after short runs with "
    "other seeds: with a smaller amplitude the iterates left the non-convex region sooner.",
    "The range of the budgets in the trade of ε, after a short run with another seed: up to 0.02 "
    "the distance to the optimum did not depend on ε.",
    "That exponents of the order with a Gaussian kernel are shown and not judged. In earlier runs "
    "they were at most 0.4, where the theorems allow 1 to 6.",
    "The growth of the order at a fixed ratio α/ε is shown and not judged. In a short run with "
    "another seed it was 0.4 for the Laplacian kernel, which a bound does not exclude.",
)
