"""Each verdict can hold, fail and stay open."""

import numpy as np
import pytest

from colk_lab.reproduction.chapter import RunPlan
from colk_lab.reproduction.laws import LAWS
from colk_lab.reproduction.methods import CLIPS, COMPARED, column
from colk_lab.reproduction.outliers.runs import SIZES, OutlierRuns
from colk_lab.reproduction.outliers.verdicts import outlier_verdicts
from colk_lab.reproduction.theory.convergence import HORIZONS
from colk_lab.reproduction.theory.stationarity import RATIOS, stationarity_verdict
from colk_lab.reproduction.verdict import Check, Verdict, VerdictPart
from colk_lab.statistics import Interval


def results(mean, spread, seed, runs):
    """Runs whose last error has this mean and this standard deviation."""
    noise = np.random.default_rng(seed).normal(size=runs)
    errors = mean + spread * (noise - noise.mean()) / noise.std(ddof=1)
    return [
        {
            "error": np.array([20.0, 15.0, error, error]),
            "moments": np.ones((4, 4)) * np.array([[9.0], [5.0], [1.0], [1.0]]),
            "order": np.array([10.0, 20.0, 20.0, 20.0]),
            "samples": np.array([4.0, 20.0, 26.0, 40.0]),
            "function": np.array([error, 1.0]),
            "diverged": np.array(-1),
        }
        for error in errors
    ]


def judged(claim, plan=None, clips=None, **changed):
    """A verdict where every method has error 10 and spread 0.1, but for some."""
    plan = plan or RunPlan()
    group = {
        name: results(*changed.get(name, (10.0, 0.1)), place, plan.runs)
        for place, name in enumerate(COMPARED)
    }
    runs = OutlierRuns(
        plan=plan,
        order=20,
        printed=group,
        tuned=group,
        chosen={},
        laws=dict.fromkeys(LAWS, group),
        networks={
            (p, size): group["scgd"] for p in (*map(column, CLIPS), "tuned") for size in SIZES
        },
        clips=clips or dict.fromkeys(CLIPS, group),
        literal=group["colk"],
    )
    (verdict,) = [v for v in outlier_verdicts(runs) if v.claim.startswith(claim)]
    return verdict


@pytest.mark.parametrize(
    ("error", "outcome"), [(8.0, "holds"), (10.0, "does not hold"), (12.0, "does not hold")]
)
def test_budgeted_methods_yield_lower_accuracy(error, outcome):
    assert judged("BSGD and other budgeted", colk=(error, 0.1)).outcome == outcome


def test_one_budgeted_method_that_is_better_is_a_claim_that_holds_in_part():
    found = judged("BSGD and other budgeted", colk=(8.0, 0.1), bsgd=(6.0, 0.1))
    assert found.outcome == "holds in part"
    assert found.told == "holds in 12 of 18"
    assert "1 of 3 at C = 1," not in found.found[2]
    assert "2 of 3 at C = 1, " in found.found[2]
    assert "33\xa0% above BSGD's" in found.found[0]
    assert "20\xa0% below NPBSGD's" in found.found[0]


def test_a_difference_within_the_noise_is_said_to_be_one():
    found = judged("BSGD and other budgeted", colk=(10.1, 2.0), bsgd=(10.0, 2.0))
    assert "(within the noise)" in found.found[0]
    assert found.checks[0].state == "open"


@pytest.mark.parametrize(
    ("error", "spread", "outcome"),
    [
        (8.0, 0.005, "holds"),
        (8.0, 1.0, "holds in part"),
        (12.0, 0.005, "holds in part"),
        (12.0, 1.0, "does not hold"),
    ],
)
def test_lowest_error_and_lowest_spread(error, spread, outcome):
    """The two halves of the claim are judged one by one."""
    assert judged("COLK yields the lowest", colk=(error, spread)).outcome == outcome


def group_of(plan, seed=0, **changed):
    return {
        name: results(*changed.get(name, (10.0, 0.1)), place + seed, plan.runs)
        for place, name in enumerate(COMPARED)
    }


def test_a_claim_is_judged_at_every_bound_on_the_gradient():
    """COLK is better with one bound and worse with the others: one part of six supports."""
    plan = RunPlan()
    clips = {clip: group_of(plan, colk=(12.0, 0.1)) for clip in CLIPS}
    clips[30.0] = group_of(plan, colk=(8.0, 0.1))
    found = judged("POLK varies", clips=clips)
    assert {part.checks[0].column for part in found.parts} == {*map(column, CLIPS), "tuned"}
    found = judged("BSGD and other budgeted", clips=clips)
    assert found.told == "holds in 3 of 18"
    assert "3 of 3 at C = 30" in found.found[-1]
    assert "0 of 3 at C = 10" in found.found[-1]


@pytest.mark.parametrize(
    ("errors", "moments", "told"),
    [
        ([20.0, 15.0, 10.0, 10.0], [9.0, 5.0, 1.0, 1.0], "holds"),
        # The error still falls in the second half, by a quarter: it has not converged.
        ([20.0, 15.0, 10.0, 7.5], [9.0, 5.0, 1.0, 1.0], "holds in 15 of 20"),
        # The objective falls at once and not after a tenth of the samples.
        ([20.0, 15.0, 10.0, 10.0], [1.0, 1.0, 1.0, 1.0], "holds in 15 of 20"),
        ([10.0, 15.0, 20.0, 30.0], [1.0, 5.0, 9.0, 12.0], "does not hold"),
    ],
)
def test_falling_and_converging(errors, moments, told):
    plan = RunPlan()
    group = group_of(plan)
    for i, result in enumerate(group["colk"]):
        factor = 1.0 + 1e-3 * (i % 3)
        result["error"] = factor * np.array(errors)
        result["moments"] = factor * np.ones((4, 4)) * np.array(moments)[:, None]
    assert judged("Mean plus variance", clips=dict.fromkeys(CLIPS, group)).told == told


def stationarity(power, noise, plan):
    rng = np.random.default_rng(0)
    runs = [
        {
            "gradient": np.array([plan.size(full) ** power * np.exp(noise * rng.normal())]),
            "curvature": np.array([-0.01]),
            "steps": np.array([plan.size(full)]),
            "order": np.array([9.0]),
        }
        for _ in RATIOS
        for full in HORIZONS
        for _ in range(plan.runs)
    ]
    return stationarity_verdict(runs, plan)


@pytest.mark.parametrize(
    ("power", "outcome"),
    [(-1.0, "holds"), (-0.5, "holds"), (-0.4, "holds"), (-0.3, "does not hold")],
)
def test_the_tolerance_of_theorem_3(power, outcome):
    """The least gradient has to fall like T^(−1/2), or slower by no more than 0.15."""
    assert stationarity(power, 0.0, RunPlan()).outcome == outcome


def test_noise_makes_a_theorem_harder_to_confirm():
    """A wide interval reaches out of the region, where it used to reach into it."""
    assert stationarity(-0.5, 0.05, RunPlan(runs=20)).outcome == "holds"
    assert stationarity(-0.5, 5.0, RunPlan(runs=5)).outcome == "not enough runs"


def test_a_run_that_is_too_small_counts_the_estimates():
    found = verdict([GOOD, BAD, WIDE], RunPlan(runs=4))
    assert found.told == "open: 2 of 3 agree"
    assert verdict([GOOD, BAD, WIDE], RunPlan()).told == "holds in 1 of 3"
    assert verdict([GOOD, GOOD], RunPlan()).told == "holds"


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (RunPlan(runs=4), "no claim is judged: this needs at least 5 runs"),
        (RunPlan(scale=0.4), "no claim is judged"),
        (RunPlan(runs=6), "20 runs and all samples judge every claim"),
        (RunPlan(), ""),
    ],
)
def test_a_small_run_is_warned_of_before_it_starts(plan, said):
    assert said in plan.warning
    assert bool(plan.warning) == bool(said)


def verdict(intervals, plan, needs="all"):
    parts = [
        VerdictPart("", [Check("a", Interval(*found), high=0.0)], needs) for found in intervals
    ]
    return Verdict("", "", "", "", [], "", parts, plan)


GOOD, BAD, WIDE = (-5.0, -6.0, -4.0), (5.0, 4.0, 6.0), (0.0, -9.0, 9.0)


@pytest.mark.parametrize(
    ("intervals", "full", "reduced"),
    [
        ([GOOD, GOOD], "holds", "holds"),
        ([GOOD, BAD], "holds in part", "holds in part"),
        ([BAD, BAD], "does not hold", "does not hold"),
        ([GOOD, WIDE], "holds in part", "not enough runs"),
        ([BAD, WIDE], "does not hold", "not enough runs"),
        ([WIDE, WIDE], "not enough runs", "not enough runs"),
        ([GOOD, BAD, WIDE], "holds in part", "holds in part"),
    ],
)
def test_open_intervals_leave_a_reduced_run_undecided(intervals, full, reduced):
    assert verdict(intervals, RunPlan()).outcome == full
    assert verdict(intervals, RunPlan(runs=10)).outcome == reduced
    assert verdict(intervals, RunPlan(runs=2, scale=0.05)).outcome == "not enough runs"
    assert verdict(intervals, RunPlan(scale=0.05)).outcome == "not enough samples"
