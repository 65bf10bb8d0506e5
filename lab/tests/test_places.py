"""Places over problems: who differs, and what the diagram shows."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from colk_lab.places import draw_places, holm, places


def table(n, shift, seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n, 4))
    return {f"problem {k}": dict(zip("abcd", noise[k] + shift, strict=True)) for k in range(n)}


def test_clear_differences_have_no_common_group():
    found = places(table(40, np.array([0.0, 3.0, 6.0, 9.0])))
    assert list(found.means) == ["a", "b", "c", "d"]
    assert found.groups == []
    assert found.p_equal < 1e-6


def test_equal_methods_are_one_group():
    found = places(table(40, np.zeros(4)))
    assert [sorted(group) for group in found.groups] == [["a", "b", "c", "d"]]
    assert found.p_equal > 0.05


def test_a_group_ends_where_a_pair_differs():
    found = places(table(60, np.array([0.0, 0.0, 4.0, 4.0])))
    assert [sorted(group) for group in found.groups] == [["a", "b"], ["c", "d"]]


def test_ties_share_a_place_and_identical_methods_do_not_differ():
    errors = {f"{k}": {"a": 1.0, "b": 1.0, "c": 2.0 + k} for k in range(12)}
    found = places(errors)
    assert (found.means["a"], found.means["b"], found.means["c"]) == (1.5, 1.5, 3.0)
    assert found.groups == [("a", "b")]


def test_a_method_that_lacks_a_problem_is_left_out():
    errors = table(10, np.zeros(4))
    del errors["problem 3"]["b"]
    errors["problem 4"]["c"] = float("nan")
    assert places(errors) is None
    errors = table(10, np.zeros(4))
    del errors["problem 3"]["b"]
    assert sorted(places(errors).means) == ["a", "c", "d"]


def test_few_problems_show_nothing():
    assert places(table(4, np.zeros(4))) is None


@pytest.mark.parametrize("n_errors", [0, 1, 2])
def test_holm_rejects_from_the_smallest(n_errors):
    p_values = [0.02, 0.011, 0.012][: n_errors + 1]
    # Levels are 0.05/3, 0.05/2 and 0.05: one failure keeps all larger ones.
    expected = {0: [True], 1: [True, True], 2: [True, True, True]}[n_errors]
    assert holm(p_values) == expected
    assert holm([0.03, 0.001, 0.04]) == [False, True, False]


def test_the_diagram_has_each_name_once():
    figure = Figure()
    draw_places(figure, places(table(60, np.array([0.0, 0.0, 4.0, 4.0]))))
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert sum(text.startswith("a ") for text in texts) == 1
    assert len(figure.axes[0].lines) == 1 + 4 + 4 + 2  # line, ticks, methods, groups


def test_problems_without_a_difference_count_for_both():
    # Six differences of one sign would be significant, but not beside 34 ties.
    errors = {
        str(k): {"a": 1.0, "b": 1.0 + 0.01 * (k + 1) * (k < 6), "c": 9.0 + k} for k in range(40)
    }
    assert places(errors).groups == [("a", "b")]
