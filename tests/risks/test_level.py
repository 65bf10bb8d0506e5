"""A level of CVaR, as finance counts, and the tail fraction that is taken for one."""

import pickle
import warnings

import pytest

from colk import objective
from colk.cli.terms import term
from colk.losses import Squared
from colk.risks import RISKS, CVaR, Spectral


def test_a_level_is_one_minus_the_tail_fraction():
    risk = CVaR(level=0.95, weight=0.5)
    assert risk == CVaR(0.05, weight=0.5)
    assert risk.get_params() == {"tail_fraction": 0.05, "weight": 0.5, "smoothing": 0.0}
    assert repr(risk) == "CVaR(tail_fraction=0.05, weight=0.5, smoothing=0.0)"
    assert pickle.loads(pickle.dumps(risk)) == risk
    assert CVaR(level=0.0).tail_fraction == 1.0
    assert term("cvar(level=0.95)", RISKS, "--risk") == CVaR(0.05)


def test_a_tail_fraction_like_a_level_warns():
    with pytest.warns(UserWarning, match=r"mean of the worst 95 % .* write CVaR\(level=0.95\)"):
        risk = CVaR(0.95)
    assert risk.tail_fraction == 0.95
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pickle.loads(pickle.dumps(risk)) == risk
        Spectral((0.9, 0.1), (0.5, 0.5)).value([1.0, 2.0, 3.0])
        objective(lambda X: X[:, 0], [[0.0], [1.0]], [1.0, 4.0], Squared(), tail_fraction=0.9)
        for fraction in (0.01, 0.5, 1.0):
            CVaR(fraction)
        CVaR(level=0.95)


@pytest.mark.parametrize("level", [-0.1, 1.0, 1.5, float("nan")])
def test_a_level_out_of_range(level):
    with pytest.raises(ValueError, match="level must be"):
        CVaR(level=level)


def test_a_level_and_a_tail_fraction():
    with pytest.raises(ValueError, match="a tail_fraction or a level, not both"):
        CVaR(0.2, level=0.95)
