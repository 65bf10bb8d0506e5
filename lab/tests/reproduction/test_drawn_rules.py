"""The drawing of a rule: regions that can fail, drawn thresholds, named axes."""

import itertools

import numpy as np
import pytest
from matplotlib.figure import Figure

from colk.cli.pages.log_axes import name_log_axes
from colk_lab.reproduction.chapter import RunPlan
from colk_lab.reproduction.forest import axis
from colk_lab.reproduction.lidar.errors import lidar_verdict
from colk_lab.reproduction.lidar.runs import CONDITIONS, LidarRuns
from colk_lab.reproduction.methods import CLIPS, COMPARED, METHODS, column
from colk_lab.reproduction.page import _believed
from colk_lab.reproduction.verdict import NEGLIGIBLE, Check, Verdict, VerdictPart
from colk_lab.statistics import Interval


def lidar(errors, orders):
    """The verdict if each method has this error with outliers, 1 without, and this order."""
    plan = RunPlan()
    clean, noisy = CONDITIONS

    def runs(name, condition):
        error = errors.get(name, 1.0) if condition == noisy else 1.0
        rng = np.random.default_rng(len(name))
        return [
            {"error": error * np.exp(0.01 * rng.normal()), "order": orders.get(name, 20.0)}
            for _ in range(plan.runs)
        ]

    results = {
        (condition, protocol): {name: runs(name, condition) for name in COMPARED}
        for condition in (clean, noisy)
        for protocol in (*map(column, CLIPS), "tuned")
    }
    return lidar_verdict(LidarRuns(plan, 20, results, {}))


def states(verdict, method):
    label = METHODS[method].label
    return {
        part.state
        for part in verdict.parts
        if any(label in f"{part.title} {check.label}".split() for check in part.checks)
        and "outliers" not in part.title
    }


def test_a_size_that_the_experiment_sets_is_no_evidence():
    """A method with a budget may have more atoms than COLK; only its error counts."""
    found = lidar({"colk": 1.2}, {"bsgd": 60.0, "npbsgd": 60.0})
    assert states(found, "bsgd") == states(found, "npbsgd") == {"contradicts"}


@pytest.mark.parametrize(
    ("error", "order", "state"),
    [(1.2, 60.0, "supports"), (1.2, 20.0, "contradicts"), (0.8, 20.0, "supports")],
)
def test_polk_falls_short_in_its_error_or_in_its_own_size(error, order, state):
    assert states(lidar({"colk": error}, {"polk": order}), "polk") == {state}


@pytest.mark.parametrize("low", np.linspace(-6.0, 4.0, 21))
def test_a_cross_is_never_drawn_inside_its_region(low):
    check = Check("a", Interval(low + 0.5, low, low + 1.0), high=-NEGLIGIBLE)
    inside, outside = check.interval.high <= check.high, check.interval.low > check.high
    assert check.state == ("supports" if inside else "contradicts" if outside else "open")


@pytest.mark.parametrize("unit", ["%", "exponent"])
@pytest.mark.parametrize(
    ("low", "high"), [(-3.0, 1.0), (-0.4, 0.3), (-60.0, 500.0), (0.2, 0.9), (-30.0, -20.0)]
)
def test_an_axis_has_two_ticks_on_every_screen(unit, low, high):
    scale = axis([Check("a", Interval((low + high) / 2, low, high), high=0.0)], unit)
    found, pair = scale.ticks(), scale.pair()
    assert len(pair) == 2 <= len(found)
    assert abs(pair[0].place - pair[1].place) >= 0.5
    places = sorted(tick.place for tick in found)
    assert all(b - a >= 0.2 for a, b in itertools.pairwise(places))
    assert len({tick.text for tick in found}) == len(found)


def test_logarithmic_axes_say_so_and_have_two_labels():
    figure = Figure()
    axes = figure.subplots(1, 2)
    for panel in axes:
        panel.plot([1.0, 2.0], [30.0, 60.0])
        panel.set_xlabel("x")
    axes[0].set_yscale("log")
    name_log_axes(figure)
    assert axes[0].get_ylabel() == "log scale"
    assert axes[0].get_xlabel() == "x"
    assert axes[1].get_ylabel() == ""
    low, high = axes[0].get_ylim()
    figure.draw_without_rendering()
    shown = [
        label.get_text()
        for label in axes[0].get_yticklabels()
        if low <= label.get_position()[1] <= high and label.get_text()
    ]
    assert len(shown) >= 2


def test_the_first_sentences_say_what_to_believe():
    def judged(short, value):
        check = Check("a", Interval(value, value - 1.0, value + 1.0), high=0.0)
        return Verdict(short, "", "", "", [], "", [VerdictPart("", [check])], RunPlan())

    found = _believed(
        [judged("it grows", -5.0), judged("it shrinks", 5.0), judged("it ends", -9.0)]
    )
    assert found == [
        "You can believe that it grows and that it ends.",
        "It is not true that it shrinks.",
    ]
