"""The race computes the stated ridge regression, and a winner is significantly better."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from colk.kernels import Gaussian, Laplacian, Linear, Matern
from colk.losses import Huber, Logistic, Softmax
from colk.selection import (
    CONTENDERS,
    LARGEST,
    MOST_ROWS,
    choose,
    contenders_for,
    race,
    rows_to_race,
)
from colk.selection.field import FACTORS
from colk.selection.leave_one_out import leave_one_out, nested_residuals
from colk.selection.left_out_losses import RaceSamples

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 6))
WAVE = np.sin(2.0 * X[:, :1])
NOISE = RNG.normal(size=(400, 1))


def fitted(kernel, points, targets, weight, atoms, ridge):
    columns = kernel.gram(atoms, points)
    A = (columns * weight) @ columns.T + ridge * kernel.gram(atoms)
    return np.linalg.solve(A, (columns * weight) @ targets)


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(3.0), Matern(2.0, nu=2.5)])
def test_leaving_out_is_fitting_to_the_others(kernel):
    points, targets = X[:40], np.column_stack([WAVE[:40], NOISE[:40]])
    weight, atoms = RNG.uniform(0.5, 2.0, size=40), X[:25]
    left_out = leave_one_out(kernel, points, targets, weight, atoms, ridge=0.3)
    for i in range(0, 40, 7):
        rest = np.arange(40) != i
        weights = fitted(kernel, points[rest], targets[rest], weight[rest], atoms, 0.3)
        expected = targets[i] - kernel.gram(points[i : i + 1], atoms)[0] @ weights
        np.testing.assert_allclose(left_out.residuals[i], expected, rtol=1e-5, atol=1e-8)
    every = fitted(kernel, points, targets, weight, atoms, 0.3)
    np.testing.assert_allclose(left_out.weights, every, rtol=1e-5, atol=1e-7)


def test_residuals_on_the_first_atoms_are_those_of_a_fit_on_them():
    targets, weight = np.column_stack([WAVE, NOISE]), RNG.uniform(0.5, 2.0, size=400)
    nested = nested_residuals(Laplacian(3.0), X, targets, weight, X[:90], 30, ridge=0.3)
    for found, count in zip(nested, (30, 90), strict=True):
        alone = leave_one_out(Laplacian(3.0), X, targets, weight, X[:count], ridge=0.3)
        np.testing.assert_allclose(found, alone.residuals, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("are_labels", [False, True])
def test_noise_does_not_tell_features_apart(are_labels):
    targets = np.sign(NOISE) if are_labels else NOISE
    scales = race(X, targets, CONTENDERS, are_labels=are_labels).scales
    assert scales.max() < 8.0 * scales.min()


def test_features_that_matter_are_found():
    result = race(X, WAVE, CONTENDERS)
    assert result.winner.scaled
    assert result.scales[0] > 10.0 * result.scales[1:].max()
    assert result.kernel.bandwidth[0] == pytest.approx(result.winner.bandwidth / result.scales[0])
    mine = [e.loss for e in result.entries if e.name == result.winner.name]
    assert result.winner.loss == min(mine) < result.default.loss


def test_the_table_has_every_kernel_with_bandwidths_on_both_sides_of_its_best():
    result = race(X[:100], WAVE[:100], CONTENDERS)
    runs = {(e.name, e.factor, e.scaled) for e in result.entries}
    assert len(runs) == len(result.entries) <= 4 * 5 * 2
    for name in {e.name for e in result.entries}:
        for scaled in (False, True):
            losses = {e.factor: e.loss for e in result.entries if e[0] == name and e[3] == scaled}
            best = FACTORS.index(min(losses, key=losses.get))
            assert {FACTORS[max(best - 1, 0)], FACTORS[min(best + 1, 4)]} <= losses.keys()
    assert result.default.lead == 0.0
    for entry in (e for e in result.entries if not e.scaled):
        assert entry.lead == pytest.approx(result.default.loss - entry.loss)
    assert str(result).count("\n") == len(result.entries)
    assert str(result).count("<") == 1


def test_it_is_the_same_each_time_and_looks_at_the_first_samples_only():
    many = RNG.normal(size=(LARGEST + 50, 1))
    targets = np.tanh(many[:, :1])
    first = race(many, targets, CONTENDERS)
    changed = targets.copy()
    changed[LARGEST:] = 100.0
    again = race(many, changed, CONTENDERS, bandwidth="auto")
    assert first.n_samples == LARGEST
    assert first.winner == again.winner
    np.testing.assert_array_equal(first.scales, again.scales)


def test_samples_without_weight_are_not_there():
    weight = np.ones(400)
    weight[::4] = 0.0
    spoiled = WAVE.copy()
    spoiled[::4] = 1e3
    kept = weight > 0.0
    assert race(X, spoiled, CONTENDERS, weight=weight).winner.loss == pytest.approx(
        race(X[kept], WAVE[kept], CONTENDERS).winner.loss, rel=0.05
    )


def test_few_samples_and_equal_samples_choose_nothing():
    assert race(X[:20], WAVE[:20], CONTENDERS).default_won
    assert race(np.ones((100, 2)), NOISE[:100], CONTENDERS).default_won
    assert race(X, np.zeros((400, 1)), CONTENDERS).default_won
    half = np.column_stack([X[:, 0], np.ones(400)])
    assert np.isfinite(race(half, WAVE, CONTENDERS).scales).all()


def test_a_bandwidth_that_is_given_stays():
    result = race(X, WAVE, CONTENDERS, bandwidth=2.0)
    assert {e.bandwidth for e in result.entries} == {2.0}
    assert not any(e.scaled for e in result.entries)
    (named,) = contenders_for("matern")
    assert named.with_bandwidth(2.0) == Matern(2.0)


def test_a_kernel_grows_with_its_features():
    result = race(X[:200], WAVE[:200], CONTENDERS[-1:])
    grown = result.kernel_for(8)
    assert grown.bandwidth[:6] == result.kernel.bandwidth
    assert grown.bandwidth[6:] == (result.winner.bandwidth,) * 2


@pytest.mark.parametrize(
    ("loss", "targets"),
    [
        (Huber(), 1e6 * WAVE[:, 0]),
        (Logistic(), np.sign(WAVE[:, 0])),
        (Softmax(), np.digitize(WAVE[:, 0], [-0.5, 0.5]).astype(float)),
    ],
)
def test_targets_of_every_kind_find_the_feature(loss, targets):
    result = choose("auto", "auto", X, targets, np.ones(400), loss, n_classes=3)
    assert result.scales.argmax() == 0
    assert result.winner.scaled


def test_mistakes_and_margins():
    samples = RaceSamples(X, np.sign(WAVE), np.ones(400), are_labels=True)
    left_out = samples.run(Linear())
    found = samples.Y - left_out.residuals
    np.testing.assert_array_equal(samples.mistakes(left_out), (found * samples.Y <= 0.0)[:, 0])
    lacking = np.maximum(1.0 - found * samples.Y, 0.0)[:, 0]
    expected = np.where(lacking < 2.0, 0.5 * lacking**2, 2.0 * (lacking - 1.0))
    np.testing.assert_allclose(samples.losses(left_out), expected, atol=1e-12)


def test_a_narrower_bandwidth_that_is_about_as_good_may_be_preferred():
    points, targets = make_friedman1(400, noise=2.0, random_state=1)
    targets = ((targets - targets.mean()) / targets.std())[:, None]
    best = race(points, targets, CONTENDERS).winner
    narrow = race(points, targets, CONTENDERS, prefers_narrow=True).winner
    assert (narrow.name, narrow.scaled) == (best.name, best.scaled)
    assert narrow.factor < best.factor
    assert best.loss < narrow.loss < best.loss + 2.0 * max(best.error, narrow.error)
    labels = race(points, np.sign(targets), CONTENDERS, are_labels=True)
    narrow_labels = race(points, np.sign(targets), CONTENDERS, are_labels=True, prefers_narrow=True)
    assert narrow_labels.winner == labels.winner


def test_features_that_are_alike_have_no_scales():
    alike = race(X[:, :2], np.sin(X[:, :1] + X[:, 1:2]), CONTENDERS)
    assert not any(entry.scaled for entry in alike.entries)
    unlike = race(X[:, :2], np.sin(2.0 * X[:, :1] + 0.1 * X[:, 1:2]), CONTENDERS)
    assert unlike.winner.scaled


def test_bandwidths_go_on_where_losses_fall():
    few = X[:300]
    wide = race(few, np.sin(0.2 * few.sum(axis=1, keepdims=True)), CONTENDERS)
    factors = {
        name: [e.factor for e in wide.entries if e.name == name and not e.scaled]
        for name in ("laplacian", "gaussian")
    }
    assert factors == {"laplacian": [1.0, 1.7, 2.8], "gaussian": [1.0, 1.7, 2.8]}


def test_kernels_far_behind_drop_out():
    smooth = race(X, np.sin(0.2 * X.sum(axis=1, keepdims=True)), CONTENDERS)
    rough = [e for e in smooth.entries if e.name == "laplacian" and not e.scaled]
    assert [e.factor for e in rough] == [1.0]  # the default is always in the table
    assert smooth.winner.name == "gaussian"


def test_rows_are_the_first_or_any():
    assert rows_to_race(5000, None) == slice(None, MOST_ROWS)
    any_rows = rows_to_race(5000, np.random.RandomState(0))
    assert len(np.unique(any_rows)) == MOST_ROWS
    assert any_rows.max() > MOST_ROWS
