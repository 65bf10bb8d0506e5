"""The samples of a pass, those held out, and the scale of targets that come in parts."""

import numpy as np
import pytest

from colk import COLKQuantileRegressor, COLKRegressor
from colk._engine.running_scale import RunningScale
from colk.model import passes
from colk.model.passes import Passes


@pytest.mark.parametrize(("size", "held"), [(49, 0), (50, 5), (99, 9), (200, 20), (1000, 100)])
def test_early_stopping_holds_out_a_tenth(size, held):
    learned, held_out = Passes(early_stopping=True).split(size, np.random.RandomState(0))
    assert len(held_out) == held
    np.testing.assert_array_equal(np.sort(np.concatenate([learned, held_out])), np.arange(size))
    if held:
        assert not np.array_equal(held_out, np.arange(held))  # they are drawn


def test_without_early_stopping_nothing_is_held_out():
    learned, held_out = Passes().split(500, np.random.RandomState(0))
    assert (len(learned), len(held_out)) == (500, 0)


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({}, 200),  # ten samples for each of twenty atoms
        ({"bandwidth": 100.0}, 600),  # the atoms are not used up
        ({"max_atoms": 20}, 600),  # no atoms follow: these must be the best
        ({"epochs": 1}, 600),
        ({"shuffle": False}, 600),
        ({"polish": False}, 5 * 600),
        ({"solver": "newton"}, 600),
        ({"early_stopping": True}, 540),
    ],
    ids=str,
)
def test_a_pass_ends_once_it_has_found_the_atoms(settings, steps, monkeypatch):
    monkeypatch.setattr("colk.model.settings.FIRST_ATOMS", 20)
    monkeypatch.setattr(passes, "_SAMPLES_PER_ATOM", 10)
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(600, 2))
    y = np.sin(2.0 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=600)
    model = COLKRegressor(kernel="gaussian", random_state=0, **settings).fit(X, y)
    assert model.n_steps_ == steps
    assert len(model.loss_curve_) == (5 if steps == 3000 else 1)


def test_quantile_levels_get_the_atoms_of_a_whole_pass(monkeypatch):
    parts, expected = Passes.parts, []

    def noted(self, order, weight, first_atoms):
        expected.append(first_atoms)
        return parts(self, order, weight, first_atoms)

    monkeypatch.setattr(Passes, "parts", noted)
    X = np.linspace(-1.0, 1.0, 60)[:, None]
    COLKQuantileRegressor(kernel="gaussian", random_state=0).fit(X, X[:, 0])
    COLKRegressor(kernel="gaussian", random_state=0).fit(X, X[:, 0])
    assert expected == [None, 400]  # no atoms follow those of the levels


@pytest.mark.parametrize(("n_atoms", "sizes"), [(71, [355, 545]), (72, [900])])
def test_all_of_few_samples_find_the_atoms(n_atoms, sizes):
    found = Passes().parts(np.arange(900), np.ones(900), n_atoms)
    assert [len(part) for part in found] == sizes


def test_samples_of_weight_zero_do_not_count(monkeypatch):
    monkeypatch.setattr(passes, "_SAMPLES_PER_ATOM", 10)
    order, weight = np.random.default_rng(0).permutation(900), np.tile([1.0, 2.0, 0.0], 300)
    enough, rest = Passes().parts(order, weight, 20)
    assert np.count_nonzero(weight[enough]) == 200
    np.testing.assert_array_equal(np.concatenate([enough, rest]), order)


def test_parts_with_different_means_have_the_scale_of_the_whole():
    """The distance between the means of the parts counts in the standard deviation."""
    rng = np.random.default_rng(0)
    parts = [rng.normal(mean, 1.0, size=40) for mean in (0.0, 9.0, -30.0)]
    weights = [rng.uniform(0.5, 2.0, size=40) for _ in parts]
    scale = RunningScale(1)
    for y, weight in zip(parts, weights, strict=True):
        scale = scale.merged(y, weight)
    y, weight = np.concatenate(parts), np.concatenate(weights)
    mean = np.average(y, weights=weight)
    deviation = np.sqrt(np.average((y - mean) ** 2, weights=weight))
    np.testing.assert_allclose([scale.means[0], scale.deviations[0]], [mean, deviation])
