"""Results that a notebook shows: short in a line, a table in HTML."""

import numpy as np
import pytest

from colk import COLKRegressor, objective
from colk.losses import Squared
from colk.risks import CVaR, Mean
from colk.rkhs.polishing import PathPoint, RiskPath
from colk.tabular import TableModel

MEAN = PathPoint(0.0, 1.0, 1.5, 0.5, 0.0, 0.0, 0.0)
SOME = PathPoint(0.5, 1.0, 1.2, 0.6, 0.3, 0.05, 40.0)


def path(chosen):
    risk = Mean() if chosen is MEAN else CVaR(0.1, weight=0.5)
    return RiskPath(CVaR(0.1), (MEAN, SOME), chosen, risk, 1e-4, 1000)


def test_a_path_says_what_was_chosen_and_why():
    kept, moved = path(MEAN), path(SOME)
    assert "kept the mean" in repr(kept)
    assert "50 % of the way, 2 points" in repr(moved)
    assert kept.told == (
        "the model of the mean stays, because the best of 1 other models lowers CVaR on left-out "
        "rows by only 0.3 ± 0.05 of 1.5"
    )
    assert moved.told == (
        "CVaR on left-out rows is 20 % lower than with the model of the mean (by 0.3 ± 0.05), and "
        "the mean loss is 20 % higher"
    )
    assert moved.told in moved._repr_html_()


@pytest.mark.parametrize("verbose", [False, True])
def test_fit_says_what_the_path_chose(verbose, capsys):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 1))
    y = np.sin(6.0 * X[:, 0]) + rng.exponential(size=300)
    settings = {"kernel": "gaussian", "random_state": 0, "verbose": verbose}
    model = COLKRegressor(risk=CVaR(0.1), **settings).fit(X, y)
    assert (model.risk_path_.told in capsys.readouterr().out) == verbose


def test_an_objective():
    found = objective(lambda X: X[:, 0], [[0.0], [1.0]], [1.0, 4.0], Squared())
    assert repr(found) == "Objective(total=5, mean=5, cvar=9, n_samples=2)"
    assert "<th>total</th><td>5</td>" in found._repr_html_()


def test_a_table_model():
    x = np.linspace(0.0, 1.0, 60)
    model = TableModel("y", ["a <b>"])
    assert repr(model) == "TableModel('y', 1 feature, regression, no rows yet)"
    model._repr_html_()
    model.fit([({"a <b>": x}, np.sin(6.0 * x))])
    assert repr(model) == f"TableModel('y', 1 feature, regression, 60 rows, {model.n_atoms} atoms)"
    assert "a &lt;b&gt;" in model._repr_html_()
