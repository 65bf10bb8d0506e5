"""Verdicts say which way a comparison went: each is seen to hold, and to fail."""

import numpy as np
import pytest

from colk.experiments.chapter import Plan
from colk.experiments.laws import LAWS
from colk.experiments.methods import COMPARED
from colk.experiments.outliers.runs import SIZES, OutlierRuns
from colk.experiments.outliers.verdicts import outlier_verdicts
from colk.experiments.theory.convergence import HORIZONS
from colk.experiments.theory.stationarity import stationarity_verdict

RUNS = 12


def results(mean, spread, seed):
    """Runs whose last error has this mean and this standard deviation."""
    noise = np.random.default_rng(seed).normal(size=RUNS)
    errors = mean + spread * (noise - noise.mean()) / noise.std(ddof=1)
    return [
        {
            "error": np.array([20.0, 15.0, error]),
            "moments": np.ones((3, 4)),
            "order": np.array([10.0, 20.0, 20.0]),
            "samples": np.array([10.0, 20.0, 40.0]),
            "function": np.array([error, 1.0]),
            "diverged": np.array(-1),
        }
        for error in errors
    ]


def judged(claim, **changed):
    """Outcome of a claim where every method has error 10 and spread 0.1, but for some."""
    group = {
        name: results(*changed.get(name, (10.0, 0.1)), seed=place)
        for place, name in enumerate(COMPARED)
    }
    runs = OutlierRuns(
        plan=Plan(runs=RUNS),
        order=20,
        printed=group,
        tuned=group,
        chosen={},
        laws=dict.fromkeys(LAWS, group),
        networks={(p, size): group["scgd"] for p in ("printed", "tuned") for size in SIZES},
        literal=group["colk"],
    )
    (verdict,) = [v for v in outlier_verdicts(runs) if v.claim.startswith(claim)]
    return verdict.outcome


@pytest.mark.parametrize(
    ("error", "outcome"), [(8.0, "holds"), (10.0, "does not hold"), (12.0, "does not hold")]
)
def test_budgeted_methods_yield_lower_accuracy(error, outcome):
    assert judged("BSGD and other budgeted", colk=(error, 0.1)) == outcome


def test_one_budgeted_method_that_is_better_is_a_claim_that_holds_in_part():
    assert judged("BSGD and other budgeted", colk=(8.0, 0.1), bsgd=(6.0, 0.1)) == "holds in part"


@pytest.mark.parametrize(
    ("error", "spread", "outcome"),
    [
        (8.0, 0.005, "holds"),
        (8.0, 1.0, "holds in part"),
        (8.0, 0.1, "holds in part"),
        (12.0, 0.005, "holds in part"),
        (12.0, 0.1, "does not hold"),
        (12.0, 1.0, "does not hold"),
    ],
)
def test_lowest_error_and_lowest_spread(error, spread, outcome):
    """The two halves of the claim are judged one by one."""
    assert judged("COLK yields the lowest", colk=(error, spread)) == outcome


@pytest.mark.parametrize(
    ("power", "outcome"),
    [(-1.0, "holds"), (-0.6, "holds"), (-0.4, "does not hold"), (0.5, "does not hold")],
)
def test_the_threshold_of_theorem_3(power, outcome):
    """The least gradient has to fall like T^(−1/2), or faster."""
    plan = Plan(runs=2)
    runs = [
        {"gradient": np.array([factor * plan.size(full) ** power])}
        for full in HORIZONS
        for factor in (1.0, 3.0)
    ]
    assert stationarity_verdict(runs, plan).outcome == outcome
