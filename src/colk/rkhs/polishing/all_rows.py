"""Weights fitted to all rows, on the atoms and with the λ that were found on a sample."""

from dataclasses import replace

from colk.rkhs.polishing.blocks import Blocks
from colk.rkhs.polishing.final import FinalPolish
from colk.rkhs.polishing.stages import Report, SearchState, solve_by_sums
from colk.rkhs.polishing.weights import Polished

__all__ = ["polish_all_rows"]


def polish_all_rows(
    final: FinalPolish,
    blocks: Blocks,
    sample: Blocks,
    fraction: float,
    *,
    tolerance: float = 1e-3,
    state: SearchState | None = None,
    report: Report | None = None,
) -> Polished:
    """Return the optimal weights for all rows, on the atoms and with the λ of a sample.

    λ is measured in rows, so with n rows instead of m it is m/n times as large. The risks `AUC` and
    `GroupRisk` keep the weights of the sample.

    Parameters
    ----------
    final : FinalPolish
        The polish on the sample.
    blocks : Blocks
        All rows.
    sample : Blocks
        The rows of the sample.
    fraction : float
        The weight of the sample divided by that of all rows.
    tolerance : float
        As in `polish`.
    state, report
        As in `solve_by_sums`: a search whose process was killed goes on from the last state that
        was reported.
    """
    found = final.polished
    if final.risk.keeps_weights_of_sample:
        return found
    decay = found.regularization * fraction
    # A risk depends on few rows, and a sample contains too few of these.
    helper = sample if final.risk.is_sum and not final.loss.kinks else None
    function, solution = solve_by_sums(
        blocks,
        found.function,
        final.loss,
        final.risk,
        decay,
        sample=helper,
        tolerance=tolerance,
        state=state,
        report=report,
    )
    return replace(
        found,
        function=function,
        value=solution.value,
        regularization=decay,
        gap=solution.gap,
        n_steps=found.n_steps + solution.n_steps,
        converged=solution.converged,
        candidates=tuple((fraction * each, risk) for each, risk in found.candidates),
    )
