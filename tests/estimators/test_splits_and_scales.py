"""The samples that early stopping holds out, and the scale of targets that come in parts."""

import numpy as np
import pytest

from colk._engine.running_scale import RunningScale
from colk.estimators.fitting import Passes


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


def test_parts_with_different_means_have_the_scale_of_the_whole():
    """The distance between the means of the parts is a part of the deviation."""
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
