"""Weights fitted to all rows, on the atoms and with the λ that were found on a sample."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array
from colk.rkhs.polishing.blocks import Blocks
from colk.rkhs.polishing.final import FinalPolish
from colk.rkhs.polishing.stages import Report, SearchState, solve_by_sums
from colk.rkhs.polishing.weights import Polished

__all__ = ["MANY_ROWS", "SAMPLE_SIZE", "polish_all_rows", "stratified_rows"]

# With more rows than this, `fit` finds kernel, atoms and λ on a sample of SAMPLE_SIZE rows.
MANY_ROWS = 20_000
SAMPLE_SIZE = 10_000


def stratified_rows(
    targets: Array, weight: Array, size: int, random: np.random.RandomState
) -> NDArray[np.intp]:
    """Return `size` rows, one from each of as many strata of equal size, in increasing order.

    Rows are sorted by their targets, so that quantiles and classes have the same shares in the
    sample as in all rows. Rows of weight 0 are left out.

    Parameters
    ----------
    targets : array of shape (n,) or (n, r)
        Targets. With several columns, rows are sorted by the index of their largest entry, then by
        the first column.
    weight : array of shape (n,)
        Weights of the rows.
    size : int
        Number of rows.
    random : RandomState
        Draws one row of each stratum.

    Examples
    --------
    >>> rows = stratified_rows(np.arange(10.0), np.ones(10), 5, np.random.RandomState(0))
    >>> rows // 2
    array([0, 1, 2, 3, 4])
    """
    columns = targets.reshape(len(targets), -1)
    counted = np.flatnonzero(weight > 0.0)
    if columns.shape[1] == 1:
        order = counted[_sorted_places(columns[counted, 0])]
    else:
        order = counted[np.lexsort((columns[counted, 0], columns[counted].argmax(axis=1)))]
    if len(order) <= size:
        return np.sort(order)
    edges = np.arange(size + 1) * len(order) // size
    chosen = order[edges[:-1] + (random.uniform(size=size) * np.diff(edges)).astype(np.intp)]
    return np.sort(np.concatenate([chosen, _of_rare_classes(columns, order, chosen)]))


def _sorted_places(values: Array) -> NDArray[np.intp]:
    """Return a stable sort order; without ties, the faster unstable sort gives the same."""
    order = np.argsort(values)
    ordered = values[order]
    if (ordered[1:] == ordered[:-1]).any():
        return np.argsort(values, kind="stable")
    return order


def _of_rare_classes(
    columns: Array, order: NDArray[np.intp], chosen: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return one row of each class that no chosen row has; none for real targets."""
    labels = columns[:, 0] if columns.shape[1] == 1 else columns.argmax(axis=1)
    ordered = labels[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    if len(first) > np.sqrt(len(chosen)):
        return np.zeros(0, np.intp)
    return np.asarray(order[first[~np.isin(ordered[first], labels[chosen])]])


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
