"""Mutants of the formulas of the engine, for `mutations.py`.

A mutant replaces one piece of text, which occurs once in its file. If no test can notice a mutant
because the results are the same, `equivalent` says why.
"""

from typing import NamedTuple

__all__ = ["MUTANTS", "TESTS", "Mutant"]


class Mutant(NamedTuple):
    """A change of one file of `src/colk`."""

    file: str
    original: str
    changed: str
    equivalent: str = ""


def _of(file: str, *changes: tuple[str, ...]) -> list[Mutant]:
    return [Mutant(file, *change) for change in changes]


MUTANTS = [
    *_of(
        "_engine/gradient_step.py",
        ("factor: float = 1.0 - shrinkage", "factor: float = 1.0 + shrinkage"),
        ("factor = 1.0 / (1.0 + shrinkage)", "factor = 1.0 - shrinkage"),
        ("            step *= factor\n", ""),
        ("= factor * factor * self.squared_norm", "= factor * self.squared_norm"),
        ("for a in range(b):", "for a in range(0):"),
        ("(1.0 if a == b else 2.0)", "(1.0 if a == b else 1.0)"),
        ("min(self.steps + 1, LATEST)", "min(self.steps + 2, LATEST)"),
        ("self.squared_norm - lost * lost", "self.squared_norm - lost"),
        ("self.norm_bound / math.sqrt(self.squared_norm)", "self.norm_bound / self.squared_norm"),
        ("d.columns[staged, j] = d.columns[b, j]", "d.columns[staged, j] = d.columns[staged, j]"),
        ("d.gram[staged, a] = d.gram[b, d.order[a]]", "d.gram[staged, a] = d.gram[b, a]"),
        ("d.carry[j] -= entry * d.factor[i, j]", "d.carry[j] += entry * d.factor[i, j]"),
    ),
    *_of(
        "_engine/quasigradient.py",
        (
            "self.window.g_mean[i] += self.window.g[i] * self.pair_share",
            "self.window.g_mean[i] = self.window.g[i]",
        ),
        ("self.window.g[i] = self.window.g_before[i]", "self.window.g[i] = self.window.g[i]"),
        ("for j in range(self.dictionary.n_ghosts):", "for j in range(0):"),
        ("min(1.0, rate * self.window.weights[xi])", "min(1.0, rate)"),
        ("by_xi = by_theta * self.window.weights[xi]", "by_xi = by_theta"),
        ("if self.window.factors[1] != 0.0:", "if self.window.factors[1] > 0.0:"),
        (
            "if squares <= self.gradient_bound * self.gradient_bound:",
            "if squares <= self.gradient_bound:",
        ),
        ("self.gradient_bound / math.sqrt(squares)", "self.gradient_bound / squares"),
        ("new = b + self.shift if self.stride == 1", "new = b if self.stride == 1"),
        (
            "self.remembered + c, c, factor, self.dictionary.size",
            "self.remembered + c, c, 1.0, self.dictionary.size",
        ),
        (
            "self.mean_loss += self.window.losses[new] * self.share",
            "self.mean_loss += self.window.losses[new]",
        ),
    ),
    *_of(
        "_engine/implicit_slopes.py",
        ("= factor * self.window.predictions[b, c]", "= self.window.predictions[b, c]"),
        (
            "value -= move * self.window.coefficients[a, c] * shared",
            "value += move * self.window.coefficients[a, c] * shared",
        ),
        ("sweeps = SWEEPS if self.window.size > 1 else 1", "sweeps = 1"),
        (
            "self.window.coefficients[b, c] = share * self.explicit[b, c]",
            "self.window.coefficients[b, c] *= share",
        ),
        ("= move * share * self.dictionary.gram[b, b]", "= move * share"),
        ("return share - total / product", "return share - total"),
        (
            "largest = max(largest, self.solve_point(b, c, c + 1, move))",
            "largest = self.solve_point(b, c, c + 1, move)",
        ),
    ),
    *_of(
        "_engine/newton_step.py",
        ("left_out + self.compress(self.eps - left_out)", "left_out + self.compress(self.eps)"),
        (
            "self.watcher.has_alarm = self.restarts + 1, False",
            "self.watcher.has_alarm = self.restarts + 1, True",
        ),
        ("self.move_by(b, self.eps - left_out)", "self.move_by(b, self.eps)"),
        (
            "if moved + math.sqrt(spent + self.iterate.price(j)) > eps:",
            "if moved + math.sqrt(self.iterate.price(j)) > eps:",
        ),
        ("self.share * self.window.weights[xi] * counted", "self.share * counted"),
        ("reach = self.trust * (1.0 + self.largest_target)", "reach = self.trust"),
        ("by_xi = by_theta * self.window.weights[xi]", "by_xi = by_theta"),
        ("extended = variance + beyond / prior", "extended = variance + beyond"),
        ("squares += novelty / (prior * prior)", "squares += novelty / prior"),
        (
            "enters = self.iterate.new_price > self.iterate.price(self.iterate.cheapest())",
            "enters = True",
        ),
        (
            "rate = 1.0 / (min(self.steps + 1, LATEST) * self.window.size)",
            "rate = 1.0 / min(self.steps + 1, LATEST)",
        ),
        ("residual * residual * gain - self.noise[c]", "residual * residual - self.noise[c]"),
        ("= self.dictionary.gram[later, b]", "= 0.0"),
        (
            "self.dictionary.size < self.most_atoms else self.late",
            "self.dictionary.size <= self.most_atoms else self.late",
        ),
    ),
    *_of(
        "_engine/newton_iterate.py",
        ("self.window.curvatures[b] * moved", "moved"),
        ("inside * inside * squares", "inside * squares"),
        ("= self.length * self.wide_gain", "= self.length * self.gain"),
        ("= self.length * (self.gain - self.wide_gain)", "= 0.0"),
        ("            self.gain = self.wide_gain\n", "            pass\n"),
        (
            "self.length * self.length * self.gain * self.gain * squares",
            "self.length * self.length * self.gain * squares",
        ),
    ),
    *_of(
        "_engine/inverse_curvature.py",
        ("= side / length, top / length", "= top / length, side / length"),
        ("        top = length\n", "        top = side\n"),
        ("-self.amounts[r] * shared", "self.amounts[r] * shared"),
        ("self.rows[h, n] = math.sqrt(novelty) / prior", "self.rows[h, n] = math.sqrt(novelty)"),
        ("* min(curvature / usual, 1.0)", "* 1.0"),
        (
            "most: float = min((1.0 - own / (self.prior * variance)) / variance, amount)",
            "most: float = (1.0 - own / (self.prior * variance)) / variance",
            "the variance is at most own/λ, so the first argument is at most 0, not the other",
        ),
        (
            "amount = max(gain * (curvature - lapse / variance), most)",
            "amount = gain * (curvature - lapse / variance)",
        ),
        ("leaving = s * leaving + c * below", "leaving = c * leaving + s * below"),
        ("for row in range(FIRST, FIRST + self.pending):", "for row in range(FIRST, FIRST):"),
        ("axis=1), 0.0) + novelty / prior)", "axis=1), 0.0) + novelty)"),
        (
            "1 + n // ATOMS_PENDING",
            "MOST_PENDING",
            "deferred updates are applied later; only rounding differs",
        ),
    ),
    *_of(
        "_engine/curvature.py",
        ("abs(w.factors[0]) * w.loss_curvatures[theta]", "w.factors[0] * w.loss_curvatures[theta]"),
        ("= abs(w.factors[1])", "= w.factors[1]"),
        ("(outer * xi_squares if through > 0.0 else 0.0)", "outer * xi_squares"),
        ("+ outer * theta_squares", "+ outer"),
        ("curvature * math.sqrt(xi_squares) / length", "curvature"),
        ("w.predictions[theta, c] = w.kept[1, c]", "pass"),
        ("change / (length * DIFFERENCE * size)", "change / (DIFFERENCE * size)"),
    ),
    *_of(
        "_engine/expert_mixture.py",
        ("= RATE * (self.lost[e] - least)", "= self.lost[e] - least"),
        (
            "1.0 - FAST_LAPSE * self.mixture_weights[FAST]",
            "1.0 - FAST_LAPSE * self.mixture_weights[SECOND]",
        ),
        ("= beyond / (prior * prior)", "= beyond / prior"),
        ("(beyond if e == FIRST else wide)", "wide"),
        ("speed / (1.0 + speed * curvature * variance)", "speed / (1.0 + curvature * variance)"),
        (
            "= 1.0 / curvature if self.first_step * curvature > 1.0 else self.first_step",
            "= self.first_step",
        ),
        ("return float(most / self.dictionary.gram[b, b])", "return float(most)"),
        ("own if enters else own - max(novelty, 0.0), 0.0", "own, 0.0"),
        ("squares += self.mixture_weights[e] * w * w", "squares += w * w"),
        ("+= self.curvatures[e, b] * (now", "+= (now"),
    ),
    *_of(
        "_engine/prior_search.py",
        ("self.window.weights[b] * min(loss, loops.LARGEST)", "min(loss, loops.LARGEST)"),
        (
            "shrunk = 1.0 + (chosen - before) * variances",
            "shrunk = 1.0 + (before - chosen) * variances",
        ),
        ("(axes * (variances / shrunk)) @ axes.T", "(axes * variances) @ axes.T"),
        ("self.due = 2 * steps", "self.due = 3 * steps"),
        ("RELUCTANCE * 0.5 * max(MIDDLE - i, 0)", "RELUCTANCE * max(MIDDLE - i, 0)"),
        (
            "-self.dictionary.weights_t[c, j] / variance",
            "self.dictionary.weights_t[c, j] / variance",
        ),
        ("self.P.subtract(1.0 / variance)", "self.P.subtract(0.0)"),
        ("10.0 ** (0.5 * (i - MIDDLE))", "10.0 ** (i - MIDDLE)"),
        (
            "variances = np.clip(variances, 0.0, 1.0 / self.P.prior)\n",
            "pass\n",
            "the eigenvalues of P lie between these bounds but for rounding",
        ),
    ),
    *_of(
        "compressors/pursuit.py",
        ("eps += self.part * math.sqrt(d.squared_move)", "eps += self.part * d.squared_move"),
        ("if settled and d.size <= at_most:", "if settled:"),
        (
            "(price > allowed and atoms <= at_most)\n    if stays and novelty",
            "price > allowed\n    if stays and novelty",
            "the cheapest atom is dropped next, and that is this point; only rounding can differ",
        ),
        ("second = d.gram[1, 1] - s.sums[2] - c * mixed", "second = d.gram[1, 1] - s.sums[2]"),
        ("alone = s_p + c * c * s_q", "alone = s_p + c * s_q"),
        ("other_squares * s_q < squares * alone", "other_squares * s_q > squares * alone"),
        ("alone, c * (s_q / alone)", "alone, c * (s_p / alone)"),
        ("c * (2.0 * product + c * squares)", "c * (product + c * squares)"),
        ("if both else -c * a_p", "if both else c * a_p"),
        ("= d.amounts[q, row] + c * a_p", "= d.amounts[q, row] - c * a_p"),
        ("d.spent[row] += moved * moved * s_q", "d.spent[row] += a_q * a_q * s_q"),
        ("d.spent[row] += amount * amount * charged", "d.spent[row] += amount * charged"),
        ("d.gram[1, 0] - s.sums[1]\n        d.append", "d.gram[1, 0]\n        d.append"),
        (
            "if free and spent + d.price(j) > allowed:",
            "if free and d.price(j) > allowed:",
            "`any_within` has compared the same sum before; only rounding can differ",
        ),
    ),
]

_COLK = "tests/oracle/test_colk.py::"
_BATCHES = "tests/oracle/test_batches.py::"
_IMPLICIT = "tests/oracle/test_implicit.py::"
_NEWTON = "tests/oracle/test_newton.py::"
_COMPRESSION = "tests/oracle/test_newton_compression.py::"
_PRIOR = "tests/oracle/test_prior_search.py::"

_IMPLICIT_STEP = (
    _IMPLICIT + "test_squares_have_a_closed_form",
    _IMPLICIT + "test_points_that_share_a_step_share_it",
    _IMPLICIT + "test_equals_its_twin_for_a_kernel_of_another_height",
    _IMPLICIT + "test_equals_its_twin_under_a_risk",
    _IMPLICIT + "test_equals_its_twin_where_a_loss_couples_outputs",
)
_STEP = (
    *_IMPLICIT_STEP[:2],
    "tests/oracle/test_trace.py",
    _BATCHES + "test_samples_that_do_not_move_f_leave_the_batch",
    _BATCHES + "test_bounds_that_bite",
    _COLK + "test_bounds_that_bite",
    _COLK + "test_sample_weights",
    "tests/laws/test_colk_laws.py::test_the_previous_function_is_exact",
)
_CURVED = (
    _NEWTON + "test_noise_is_the_mean_of_residuals_of_an_exact_f",
    _NEWTON + "test_the_mean_step_of_a_batch_is_that_of_its_samples",
    _NEWTON + "test_batches_of_weighted_samples_are_gauss_newton",
    _NEWTON + "test_trust_bounds_how_far_a_sample_moves_its_prediction",
    _NEWTON + "test_forgetting_raises_the_variance_at_the_sample_alone",
    _COMPRESSION + "test_a_batch_is_compressed_by_komp",
    _COMPRESSION + "test_a_step_is_compressed_by_komp",
    _COMPRESSION + "test_an_atom_too_many_leaves_the_best_fit_on_the_others",
    _COMPRESSION + "test_an_atom_that_leaves_keeps_the_posterior",
    _NEWTON + "test_it_forgets_under_a_risk",
    _COMPRESSION + "test_restarts_follow_alarms",
    "tests/learners/test_newton_learner.py::test_intervals_are_wide_where_there_was_no_data",
)

# The tests of a file, the most telling ones first.
TESTS = {
    "_engine/gradient_step.py": _STEP,
    "_engine/quasigradient.py": _STEP,
    "_engine/implicit_slopes.py": _IMPLICIT_STEP,
    "_engine/newton_step.py": _CURVED,
    "_engine/newton_iterate.py": _CURVED,
    "_engine/inverse_curvature.py": _CURVED,
    "_engine/curvature.py": (
        _NEWTON + "test_a_step_that_raises_a_loss_has_its_curvature",
        _NEWTON + "test_batches_of_a_composition_are_gauss_newton",
        _NEWTON + "test_steps_are_gauss_newton_under_a_risk",
        _NEWTON + "test_steps_are_gauss_newton_for_a_loss",
    ),
    "_engine/expert_mixture.py": (
        _NEWTON + "test_steps_are_gauss_newton_for_a_kernel_of_another_height",
        _NEWTON + "test_batches_of_weighted_samples_are_gauss_newton",
        _NEWTON + "test_an_expert_loses_at_most_ten_mean_losses_at_a_sample",
        _COMPRESSION + "test_a_batch_is_compressed_by_komp",
        _COMPRESSION + "test_a_step_is_compressed_by_komp",
        _NEWTON + "test_experts_have_the_weights_of_fixed_share_for_a_loss",
    ),
    "_engine/prior_search.py": (
        _COMPRESSION + "test_an_atom_too_many_leaves_the_best_fit_on_the_others",
        _PRIOR + "test_functions_of_other_priors_are_projected_where_an_atom_leaves",
        _PRIOR + "test_the_prior_is_the_best_of_five_for_the_samples_to_come",
    ),
    "compressors/pursuit.py": (
        "tests/oracle/test_still.py::test_errors_of_pairs_equal_the_reference",
        "tests/oracle/test_still.py::test_error_of_single_samples_equals_the_reference",
        "tests/oracle/test_komp.py",
        _BATCHES + "test_every_step_of_other_risks",
        _COLK + "test_bounds_that_bite",
        _BATCHES + "test_a_bound_on_the_atoms",
        _IMPLICIT + "test_equals_its_twin_under_a_risk",
        "tests/laws/test_compression_laws.py",
    ),
}
