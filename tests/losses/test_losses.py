"""Every loss: its slope is its derivative, its values are finite, its flags are right."""

import copy
import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colk import losses
from colk.losses import (
    LOSSES,
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    LogCosh,
    Logistic,
    Loss,
    Pinball,
    SmoothHinge,
    Softmax,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    Tukey,
    Welsch,
)
from colk.losses.regression import AdaptiveTube
from colk.testing import check_loss

ALL = [
    *(loss() for loss in LOSSES.values()),
    Huber(0.01),
    LogCosh(30.0),
    EpsilonInsensitive(0.0),
    EpsilonInsensitive(2.0),
    SquaredEpsilonInsensitive(2.0),
    Pinball(0.9),
    Expectile(0.05),
    SmoothHinge(0.1),
    Welsch(0.1),
    Tukey(0.5),
]
REGRESSION = [loss for loss in ALL if loss.kind == "regression"]
numbers = st.floats(-1e6, 1e6)


@pytest.mark.parametrize("magnitude", [1.0, 1e3, 1e100])
@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_obeys_the_laws(loss, magnitude):
    check_loss(loss, magnitude=magnitude)


def test_formulas_by_hand():
    f, y = np.array([3.0, 0.5, -1.0]), np.zeros(3)
    assert Squared().value(f, y).tolist() == [9.0, 0.25, 1.0]
    assert Huber(1.0).value(f, y).tolist() == [2.5, 0.125, 0.5]
    assert EpsilonInsensitive(0.5).value(f, y).tolist() == [2.5, 0.0, 0.5]
    assert SquaredEpsilonInsensitive(0.5).value(f, y).tolist() == [6.25, 0.0, 0.25]
    assert Pinball(0.75).value(f, y).tolist() == [0.75, 0.125, 0.75]
    assert Expectile(0.75).value(f, y).tolist() == [2.25, 0.0625, 0.75]
    margin, plus = np.array([2.0, 0.5, -1.0]), np.ones(3)
    assert Hinge().value(margin, plus).tolist() == [0.0, 0.5, 2.0]
    assert SquaredHinge().value(margin, plus).tolist() == [0.0, 0.25, 4.0]
    assert SmoothHinge(1.0).value(margin, plus).tolist() == [0.0, 0.125, 1.5]


@pytest.mark.parametrize("f", [0.0, 1e-9, 0.3, -2.0, 36.0, -36.0, 300.0, -700.0])
def test_transcendental_losses_to_the_last_digits(f):
    with mpmath.workdps(400):
        exact = {
            Logistic(): mpmath.log(1 + mpmath.exp(-mpmath.mpf(f))),
            LogCosh(2.0): 4 * mpmath.log(mpmath.cosh(mpmath.mpf(f) / 2)),
        }
    for loss, value in exact.items():
        target = [1.0] if loss.kind == "binary" else [0.0]
        assert loss.value([f], target)[0] == pytest.approx(float(value), rel=1e-14, abs=0.0)


def test_softmax_of_two_classes_is_logistic():
    f = np.linspace(-700.0, 700.0, 71)
    scores = np.column_stack([np.zeros_like(f), f])
    for label, sign in ((1, 1.0), (0, -1.0)):
        labels, signs = np.full(len(f), label), np.full(len(f), sign)
        np.testing.assert_allclose(
            Softmax().value(scores, labels), Logistic().value(f, signs), rtol=1e-14
        )
        np.testing.assert_allclose(
            Softmax().slope(scores, labels)[:, 1], Logistic().slope(f, signs), rtol=1e-14
        )
    np.testing.assert_allclose(Softmax().probability(scores)[:, 1], Logistic().probability(f))


def test_softmax_slopes_sum_to_zero_and_probabilities_to_one():
    scores = np.random.default_rng(0).normal(scale=20.0, size=(50, 5))
    labels = np.arange(50) % 5
    np.testing.assert_allclose(Softmax().slope(scores, labels).sum(axis=1), 0.0, atol=1e-15)
    probability = Softmax().probability(scores)
    assert (probability >= 0.0).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-14)


@pytest.mark.parametrize("loss", [loss for loss in ALL if loss.kinks], ids=repr)
def test_the_least_slope_wins_at_a_kink(loss):
    for kink in loss.kinks:
        target = 1.0 if loss.kind == "binary" else 0.0
        beside = [loss.slope([kink + h], [target])[0] for h in (-1e-9, 1e-9)]
        assert beside[0] != beside[1] or loss == EpsilonInsensitive(0.0)
        assert loss.slope([kink], [target])[0] == 0.0


@pytest.mark.parametrize("loss", REGRESSION, ids=repr)
@given(f=numbers, y=numbers, shift=numbers)
@settings(max_examples=30, deadline=None)
def test_regression_losses_depend_on_the_residual(loss, f, y, shift):
    residual = (f + shift) - (y + shift)  # as rounded
    assert loss.value([f + shift], [y + shift])[0] == loss.value([residual], [0.0])[0]


@pytest.mark.parametrize("loss", [loss for loss in ALL if loss.is_convex], ids=repr)
@given(ends=st.tuples(numbers, numbers), share=st.floats(0.0, 1.0))
@settings(max_examples=30, deadline=None)
def test_convex(loss, ends, share):
    width = 3 if loss.kind == "multiclass" else 1
    rows = np.array([ends[0], (1 - share) * ends[0] + share * ends[1], ends[1]])
    f = np.zeros((3, width))
    f[:, 0] = rows
    low, middle, high = loss.value(f, np.ones(3))
    assert middle <= ((1 - share) * low + share * high) * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("kind", [Welsch, Tukey])
def test_redescending_losses_are_quadratic_near_0_and_flat_far_away(kind):
    loss, c = kind(2.0), 2.0
    assert loss.value([1e-6], [0.0])[0] == pytest.approx(0.5e-12, rel=1e-11)
    assert loss.slope([1e-6], [0.0])[0] == pytest.approx(1e-6, rel=1e-11)
    assert loss.value([1e160], [0.0])[0] == pytest.approx(c**2 / (6.0 if kind is Tukey else 2.0))
    assert loss.slope([1e160], [0.0])[0] == 0.0
    low, middle, high = loss.value([0.0, 4.0, 8.0], np.zeros(3))
    assert middle > (low + high) / 2.0, "not convex, as the flag says"
    assert not loss.is_convex


@pytest.mark.parametrize("loss", [Welsch(), Tukey()], ids=repr)
def test_default_of_a_redescending_loss_has_95_percent_of_the_efficiency(loss):
    """(E ψ')²/E ψ² of the slope ψ for normal errors; E ψ' = E rψ by Stein's identity."""
    r, share = np.polynomial.hermite_e.hermegauss(200)
    share = share / share.sum()
    slope = loss.slope(r, np.zeros_like(r))
    efficiency = (share @ (r * slope)) ** 2 / (share @ slope**2)
    assert efficiency == pytest.approx(0.95, abs=1e-3)


@given(f=numbers, factor=st.floats(1e-3, 1e3))
@settings(max_examples=50, deadline=None)
def test_homogeneity(f, factor):
    for loss, power in ((Squared(), 2), (Pinball(0.3), 1), (Expectile(0.3), 2)):
        scaled = loss.value([factor * f], [0.0])[0]
        assert scaled == pytest.approx(factor**power * loss.value([f], [0.0])[0], rel=1e-12)


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_terms_are_frozen(loss):
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss
    assert hash(again) == hash(loss)
    assert repr(again) == repr(loss)
    assert copy.deepcopy(loss) == loss
    assert loss.replace() == loss
    assert eval(repr(loss), dict(vars(losses))) == loss
    assert isinstance(loss, Loss)
    for name in loss._fields:
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(loss, name, 2.0)


def test_terms_with_other_parameters_are_others():
    assert Huber(1.0).replace(threshold=2.0) == Huber(2.0)
    assert Huber(1.0) != Huber(2.0)
    assert SquaredEpsilonInsensitive(0.5) != EpsilonInsensitive(0.5)
    assert len({loss() for loss in LOSSES.values()}) == len(LOSSES)
    with pytest.raises(ValueError, match="threshold must be"):
        Huber(1.0).replace(threshold=-1.0)
    with pytest.raises(TypeError, match="tube"):
        Huber(1.0).replace(tube=1.0)


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_a_loss_alone_is_the_loss_among_others(loss):
    rng = np.random.default_rng(5)
    f = rng.normal(scale=3.0, size=(30, 3))
    y = np.ones((30, 1)) if loss.kind == "multiclass" else rng.choice([-1.0, 1.0], (30, 3))
    together = loss.value(f, y), loss.slope(f, y)
    for row in range(30):
        alone = loss.value(f[[row]], y[[row]]), loss.slope(f[[row]], y[[row]])
        assert alone[0][0] == together[0][row]
        assert np.array_equal(alone[1][0], together[1][row])


def test_nothing_is_written_to_the_arguments():
    f, y = np.arange(3.0), np.ones(3)
    f.flags.writeable = y.flags.writeable = False
    for loss in (Squared(), Logistic()):
        loss.value(f, y)
        loss.slope(f, y)
    assert f.tolist() == [0.0, 1.0, 2.0]


def test_an_adaptive_tube_is_the_same_loss():
    rng = np.random.default_rng(6)
    f, y = rng.normal(size=(2, 40))
    tube = AdaptiveTube(0.3, nu=0.2)
    assert np.array_equal(tube.value(f, y), EpsilonInsensitive(0.3).value(f, y))
    assert np.array_equal(tube.slope(f, y), EpsilonInsensitive(0.3).slope(f, y))
    for again in (pickle.loads(pickle.dumps(tube)), copy.copy(tube), copy.deepcopy(tube)):
        assert again == tube
        assert again is not tube  # it changes as its learner learns
    assert "AdaptiveTube" not in losses.__all__
    with pytest.raises(ValueError, match="nu must lie in"):
        AdaptiveTube(0.3, nu=0.0)


def test_read_only_and_strided_arrays_are_taken():
    f = np.arange(12.0).reshape(6, 2)[:, 0]
    y = np.zeros(6)
    y.flags.writeable = False
    assert Squared().value(f, y).tolist() == [0.0, 4.0, 16.0, 36.0, 64.0, 100.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Huber(0.0), "threshold must be finite and greater than 0"),
        (lambda: LogCosh(-1.0), "scale must be"),
        (lambda: EpsilonInsensitive(-0.1), "tube must be finite and at least 0"),
        (lambda: Pinball(1.0), "quantile must lie strictly between 0 and 1"),
        (lambda: Expectile(0.0), "level must lie strictly between 0 and 1"),
        (lambda: SmoothHinge(0.0), "smoothing must be"),
        (lambda: Hinge().value([0.5], [0.0]), "must be -1 or \\+1, got 0"),
        (lambda: Softmax().value([[0.0, 1.0]], [2]), "class indices 0, ..., 1, got 2"),
        (lambda: Softmax().value([[0.0, 1.0]], [0.5]), "class indices"),
        (lambda: Softmax().value([0.0], [0]), "C >= 2"),
        (lambda: Squared().value([0.0, 1.0], [1.0]), "y has 1 rows, expected 2"),
        (lambda: Squared().value([[0.0, 1.0]], [1.0]), "y has 1 outputs, the predictions have 2"),
        (lambda: Squared().value(1.0, 2.0), "f must have shape"),
        (lambda: Squared().value([np.nan], [2.0]), "f contains NaN"),
    ],
)
def test_bad_input_meets_one_clear_error(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_only_likelihoods_give_probabilities():
    assert [name for name, loss in LOSSES.items() if loss.is_likelihood] == ["logistic", "softmax"]
    with pytest.raises(TypeError, match="Hinge is not a likelihood"):
        Hinge().probability([0.0])
