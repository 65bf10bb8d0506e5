"""The command and the estimator make equally good models of the same rows."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score

import colk as package


@pytest.fixture(scope="module")
def friedman():
    X, y = make_friedman1(6000, noise=1.0, random_state=0)
    return X[:3000], y[:3000], X[3000:], y[3000:]


def test_r2_through_both_doors(colk, friedman, tmp_path):
    X, y, X_test, y_test = friedman
    names = [f"x{i}" for i in range(X.shape[1])]
    for name, table in (("train", (X, y)), ("test", (X_test, y_test))):
        header = ",".join([*names, "y"])
        rows = np.column_stack(table)
        np.savetxt(tmp_path / f"{name}.csv", rows, delimiter=",", header=header, comments="")
    model, out = tmp_path / "m.colk", tmp_path / "predicted.csv"
    assert colk("fit", tmp_path / "train.csv", "--target", "y", "--model", model)[0] == 0
    assert colk("predict", model, tmp_path / "test.csv", "--out", out)[0] == 0
    command = r2_score(y_test, np.loadtxt(out, skiprows=1))
    estimator = package.COLKRegressor(random_state=0).fit(X, y).score(X_test, y_test)
    assert command > estimator - 0.003
