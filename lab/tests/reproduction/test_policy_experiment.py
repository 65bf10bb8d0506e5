"""The policy evaluation experiment at a small scale: numbers, table, figures."""

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("matplotlib")

from colk_lab.reproduction import policy


@pytest.fixture(scope="module")
def results():
    return policy.run(seed=1, scale=0.005)


def test_errors_are_those_of_the_drawn_values(results):
    for part in results["linear_quadratic"].values():
        values, truth = part["values"], part["truth"]
        relative = np.sqrt(np.mean((values - truth) ** 2) / np.mean(truth**2))
        found = part["methods"]["function tracker"]
        assert found["relative_rms"][0] == pytest.approx(relative)
        assert found["n_atoms"][0] == len(part["atoms"]) == part["orders"][-1]


def test_agreement_is_that_of_the_held_out_values(results):
    for part in results["environments"].values():
        found, truth = part["agreement"], part["monte_carlo"]
        assert found.correlation == pytest.approx(np.corrcoef(part["values"], truth)[0, 1])
        low, high = found.nrmse_interval
        assert low <= found.nrmse <= high
        assert part["steps"][-1] == 2000


def test_the_table_has_a_row_for_every_method_and_process(results):
    head, rows = policy.table(results)
    assert len(rows) == 2 * len(policy.METHODS) + 2 * len(policy.ENVIRONMENTS)
    assert {len(row) for row in rows} == {len(head)}


def test_every_figure_is_drawn(results, tmp_path):
    for name, figure in policy.figures(results).items():
        figure.savefig(tmp_path / f"{name}.png")
        assert all(axes.has_data() for axes in figure.axes)


def test_bad_scales_are_refused():
    with pytest.raises(ValueError, match="scale must lie in"):
        policy.run(scale=0.0)
