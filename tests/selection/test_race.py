"""The race computes the stated ridge regression, and a winner is significantly better."""

import numpy as np
import pytest

from colk.kernels import Gaussian, Laplacian, Mahalanobis, Matern, Mixed
from colk.losses import Huber, Logistic, Softmax
from colk.selection import (
    CONTENDERS,
    LARGEST,
    choose,
    contenders_for,
    race,
    rows_to_race,
)
from colk.selection.leave_one_out import ridge_of_all
from colk.selection.pairs import sizes_by_pairs
from colk.selection.samples import RaceSamples

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 6))
WAVE = np.sin(2.0 * X[:, :1])
NOISE = RNG.normal(size=(400, 1))


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(3.0), Matern(2.0, nu=2.5)])
def test_leaving_out_is_fitting_to_the_others(kernel):
    K, targets = kernel.gram(X[:40]), np.column_stack([WAVE[:40], NOISE[:40]])
    weight = RNG.uniform(0.5, 2.0, size=40)
    found = ridge_of_all(K, targets, weight, 0.3)
    for i in range(0, 40, 7):
        rest = np.arange(40) != i
        A = K[np.ix_(rest, rest)] + 0.3 * np.diag(1.0 / weight[rest])
        expected = targets[i] - K[i, rest] @ np.linalg.solve(A, targets[rest])
        np.testing.assert_allclose(found.residuals[i], expected, rtol=1e-7, atol=1e-10)
    every = np.linalg.solve(K + 0.3 * np.diag(1.0 / weight), targets)
    np.testing.assert_allclose(found.weights, every, rtol=1e-7, atol=1e-10)
    assert ridge_of_all(-np.eye(2), np.ones((2, 1)), np.ones(2), 0.5) is None


@pytest.mark.parametrize("are_labels", [False, True])
def test_noise_does_not_tell_features_apart(are_labels):
    targets = np.sign(NOISE) if are_labels else NOISE
    result = race(X, targets, CONTENDERS, are_labels=are_labels)
    assert result.default_won
    np.testing.assert_array_equal(result.scales, 1.0)


def test_features_that_matter_are_found():
    assert race(X, WAVE, CONTENDERS).scales.argmax() == 0
    result = race(X, WAVE, CONTENDERS[:1])
    assert result.winner.metric == "diagonal"
    assert result.scales[0] > 10.0 * result.scales[1:].max()
    assert result.kernel.bandwidth[0] == pytest.approx(result.winner.bandwidth / result.scales[0])
    assert result.scales.argmax() == 0
    assert result.winner.loss < result.default.loss


def test_directions_that_matter_are_found():
    direction = np.array([1.0, -1.0, 1.0, 0.0, 0.0, 0.0]) / np.sqrt(3.0)
    result = race(X, np.sin(2.0 * X @ direction)[:, None], CONTENDERS)
    assert result.winner.metric == "matrix"
    assert isinstance(result.kernel, Mahalanobis)
    metric = result.kernel.metric
    first = np.linalg.svd(metric)[0][:, 0]
    assert abs(first @ direction) > 0.98
    assert result.scales[:3].min() > 5.0 * result.scales[3:].max()
    grown = result.kernel_for(8)
    assert grown.metric.shape == (8, metric.shape[1] + 2)
    np.testing.assert_array_equal(grown.metric[:6, :-2], metric)


def test_features_that_act_only_together_are_found():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(1600, 16))
    targets = np.sin(2.5 * points[:, 3]) * points[:, 11]
    targets = (targets / targets.std())[:, None]
    result = race(points, targets, CONTENDERS)
    assert set(np.argsort(-result.scales)[:2]) == {3, 11}
    assert result.winner.loss < 0.1 * result.default.loss


@pytest.mark.parametrize("seed", range(4))
def test_every_draw_finds_features_that_act_only_together(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(2400, 32))
    targets = np.sin(2.5 * points[:, 3]) * points[:, 17] + 0.8 * np.cos(3.0 * points[:, 22])
    result = race(points, (targets / targets.std())[:, None], CONTENDERS)
    assert set(np.argsort(-result.scales)[:3]) == {3, 17, 22}
    assert result.winner.loss < 0.1 * result.default.loss


def test_a_first_look_finds_pairs_and_nothing_in_noise():
    rng = np.random.default_rng(5)
    points, weight = rng.normal(size=(600, 20)), rng.uniform(0.5, 1.5, size=600)
    weight /= weight.mean()
    pair = points[:, 4:5] * points[:, 9:10] + 0.5 * rng.normal(size=(600, 1))
    assert set(np.argsort(-sizes_by_pairs(points, pair, weight))[:2]) == {4, 9}
    assert set(np.argsort(-sizes_by_pairs(points, np.sign(pair), weight))[:2]) == {4, 9}
    assert sizes_by_pairs(points, rng.normal(size=(600, 1)), weight) is None
    assert sizes_by_pairs(points, points[:, :1] ** 2, weight) is None  # a feature alone
    assert sizes_by_pairs(points[:100], pair[:100], weight[:100]) is None
    assert sizes_by_pairs(points, 0.0 * pair, weight) is None


def test_categories_that_matter_are_found():
    codes = RNG.integers(3, size=(400, 2)).astype(float)
    points = np.column_stack([X[:, :2], codes])
    targets = WAVE + np.array([-1.0, 0.0, 2.0])[codes[:, 1].astype(int)][:, None]
    result = race(points, targets / targets.std(), contenders_for("auto", (2, 3)))
    assert result.winner.metric == "diagonal"
    assert isinstance(result.kernel, Mixed)
    assert result.scales[[0, 3]].min() > 4.0 * result.scales[[1, 2]].max()


def test_the_table_has_the_default_and_every_kind_of_metric():
    result = race(X[:100], WAVE[:100], CONTENDERS)
    assert result.entries[0] is result.default
    assert {entry.metric for entry in result.entries} == {"none", "diagonal", "matrix"}
    assert result.default.lead == 0.0
    for entry in result.entries:
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
    assert first.n_samples <= LARGEST
    assert first.winner == again.winner
    np.testing.assert_array_equal(first.scales, again.scales)


def test_samples_without_weight_are_not_there():
    weight = np.ones(400)
    weight[::4] = 0.0
    spoiled = WAVE.copy()
    spoiled[::4] = 1e3
    kept = weight > 0.0
    ours = race(X, spoiled, CONTENDERS, weight=weight)
    alone = race(X[kept], WAVE[kept], CONTENDERS)
    assert ours.winner.loss == pytest.approx(alone.winner.loss, rel=1e-6)


def test_weights_are_copies():
    twice = np.ones(200)
    twice[:50] = 2.0
    samples = RaceSamples(X[:200], WAVE[:200], twice, False)
    assert np.average(samples.losses(WAVE[:200]), weights=samples.weight) == pytest.approx(
        samples.losses(WAVE[:200])[np.repeat(np.arange(200), twice.astype(int))].mean()
    )


def test_few_samples_and_equal_samples_choose_nothing():
    assert race(X[:20], WAVE[:20], CONTENDERS).default_won
    assert race(np.ones((100, 2)), NOISE[:100], CONTENDERS).default_won
    half = np.column_stack([X[:, 0], np.ones(400)])
    result = race(half, WAVE, CONTENDERS)
    assert np.isfinite(result.scales).all()
    assert race(X, np.zeros((400, 1)), CONTENDERS).winner.loss == 0.0


def test_a_constant_feature_is_never_relevant():
    constant = np.column_stack([np.full(400, 7.0), X[:, :3]])
    result = race(constant, WAVE, CONTENDERS)
    assert result.scales[0] < 1e-9
    assert result.scales.argmax() == 1


def test_a_bandwidth_that_is_given_stays():
    result = race(X, WAVE, CONTENDERS, bandwidth=2.0)
    assert [e.bandwidth for e in result.entries] == pytest.approx([2.0] * 4)
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


def test_losses_of_margins():
    samples = RaceSamples(X, np.sign(WAVE), np.ones(400), are_labels=True)
    residuals = RNG.normal(scale=2.0, size=(400, 1))
    lacking = np.maximum(residuals * samples.Y, 0.0)[:, 0]
    expected = np.where(lacking < 2.0, 0.5 * lacking**2, 2.0 * (lacking - 1.0))
    np.testing.assert_allclose(samples.losses(residuals), expected, atol=1e-12)


def test_rows_are_the_first_or_any():
    assert rows_to_race(9000, None) == slice(None, LARGEST)
    any_rows = rows_to_race(9000, np.random.RandomState(0))
    assert len(np.unique(any_rows)) == LARGEST
    assert any_rows.max() > LARGEST
