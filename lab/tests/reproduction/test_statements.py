"""The statements that are counted: each can be true and false."""

import numpy as np
import pytest

from colk.compressors import KOMP
from colk_lab.reproduction.chapter import RunPlan
from colk_lab.reproduction.theory import schedules, statements
from colk_lab.reproduction.theory.convergence import HORIZONS, STEP_SIZES
from colk_lab.reproduction.theory.stationarity import RATIOS


def test_the_uncompressed_step_is_the_papers():
    """Without a budget nothing is compressed, so the computed step is the learner's."""
    found = statements.step_errors(400, seed=0, run=0)["error"]
    assert found.max() <= 1.0 + 1e-9
    assert found.max() > 0.5


def test_an_error_above_the_budget_contradicts_proposition_1(monkeypatch):
    monkeypatch.setattr(statements, "KOMP", lambda eps: KOMP(eps=2.0 * eps))
    errors = [statements.step_errors(2000, seed=0, run=run) for run in range(20)]
    assert statements._proposition(errors, RunPlan()).outcome == "does not hold"


def test_midpoints_of_a_convex_risk_lie_below_the_chord():
    gaps = statements.midpoint_gaps(1.0, 500, seed=0, run=0)["gap"]
    assert (gaps > 1e-9).mean() > 0.02
    convex = statements.midpoint_gaps(0.0, 500, seed=0, run=0)["gap"]
    assert convex.max() <= 1e-9
    verdicts = [statements._convexity({1.0: [{"gap": g}]}, RunPlan()) for g in (gaps, convex)]
    assert [verdict.outcome for verdict in verdicts] == ["does not hold", "holds"]


@pytest.mark.parametrize(("pair", "outcome"), [(1.2, "holds"), (0.9, "does not hold")])
def test_one_pair_of_close_atoms_contradicts_the_proof(pair, outcome):
    runs = [{"pair": np.array(1.2), "growth": np.array(1.5), "entry": np.array(1.1)}] * 19
    runs.append({**runs[0], "pair": np.array(pair)})
    assert statements._separation(runs, RunPlan()).outcome == outcome


def series(plan, attenuating, far, large, rough=0.5):
    """Results whose distances have these exponents, in the horizon and in the budget.

    `rough` is that of the order over the horizon with a Laplacian kernel.
    """
    runs = []
    for power in (attenuating, 0.0):
        runs += [power_law(plan.size(full), power, 0.0) for full in schedules.HORIZONS]
    runs += [power_law(eps, far, large) for eps in schedules.BUDGETS]
    runs += [power_law(plan.size(full), -1.0, rough) for full in schedules.ROUGH]
    return [run for run in runs for _ in range(plan.runs)]


def power_law(x, distance, order):
    return {"distance": np.full(40, x**distance), "order": np.full(40, x**order)}


@pytest.mark.parametrize(("attenuating", "told"), [(-0.75, "holds"), (-0.05, "holds in 1 of 2")])
def test_attenuating_steps_must_come_nearer(attenuating, told):
    plan = RunPlan()
    assert schedules._attenuating(series(plan, attenuating, 1.0, -1.0), plan).told == told


@pytest.mark.parametrize(
    ("far", "large", "told"),
    [(1.0, -0.3, "holds"), (-0.2, -0.3, "holds in 1 of 2"), (-0.2, 0.3, "does not hold")],
)
def test_the_trade_of_the_budget(far, large, told):
    plan = RunPlan()
    assert schedules._trade(series(plan, -0.75, far, large), plan).told == told


@pytest.mark.parametrize(
    ("power", "told"), [(0.5, "holds"), (1.5, "holds in 1 of 2"), (2.5, "does not hold")]
)
def test_the_order_over_the_accuracy(power, told):
    """With exponent 1.5 the order exceeds what Table I prints, and not what Theorem 2 allows."""
    plan = RunPlan()
    floors = [power_law(step, 1.0, 0.0) for step in STEP_SIZES]
    rates = [power_law(plan.size(full), -1.0, 0.1) for full in HORIZONS]
    convex = [run for run in (floors + rates) * 2 for _ in range(plan.runs)]
    bent = [
        {"gradient": np.full(1, full**-0.5), "order": np.full(1, full**0.2)}
        for _ in RATIOS
        for full in HORIZONS
        for _ in range(plan.runs)
    ]
    rough = series(plan, -0.75, 1.0, -1.0, power)
    found = schedules._rates_of_order(schedules._parts(rough, plan)["rough"], convex, bent, plan)
    assert found.told == told
