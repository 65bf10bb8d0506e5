"""`colk evaluate`: metrics equal those of scikit-learn, and baselines are correct."""

import csv
import re

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression

import colk as package
from colk.cli.metrics import ClassMetrics, NumberMetrics
from colk.model.baselines import Baselines, LinearBaseline

FIT = ("--features", "size,age,city", "--seed", "3")


def good_rows(path):
    """Columns of the rows that can be used."""
    rows = [row for row in csv.DictReader(path.read_text().splitlines()) if row["kind"]]
    rows = [row for row in rows if row["size"] not in ("wide", "x", None)]
    numbers = {name: np.array([float(row[name]) for row in rows]) for name in ("size", "age")}
    texts = {name: np.array([row[name] for row in rows], dtype=object) for name in ("city", "kind")}
    return {**numbers, **texts, "price": np.array([float(row["price"]) for row in rows])}


def printed(out):
    """The printed table of metrics: name of the row → metric → number."""
    lines = out.split("\n\n")[1].splitlines()
    names = re.split(r"  +", lines[0].strip())
    rows = [re.split(r"  +", line) for line in lines[1:]]
    return {
        row[0]: {
            name: float("nan" if cell == "–" else cell)
            for name, cell in zip(names, row[1:], strict=True)
        }
        for row in rows
    }


def test_numbers(colk, houses, tmp_path):
    model, page = tmp_path / "m.colk", tmp_path / "page.html"
    options = ("--target", "price", *FIT, "--intervals", "0.8", "--model", model)
    assert colk("fit", houses, *options)[0] == 0
    code, out, _ = colk("evaluate", model, houses, "--report", page)
    assert code == 0
    assert "1,197 evaluated, 3 rejected" in out
    found, columns = printed(out), good_rows(houses)
    y, predicted = columns["price"], package.load(model).predict(columns)
    told = found["model"]
    assert told["MAE"] == pytest.approx(sk.mean_absolute_error(y, predicted), rel=1e-3)
    assert told["RMSE"] == pytest.approx(sk.root_mean_squared_error(y, predicted), rel=1e-3)
    assert told["R²"] == pytest.approx(sk.r2_score(y, predicted), rel=1e-3)
    low, high = package.load(model).predict_interval(columns, 0.8)
    assert told["coverage"] == pytest.approx(((low <= y) & (y <= high)).mean(), rel=1e-3)
    no_change = np.abs(np.diff(y)).mean()
    assert found["no change"]["MAE"] == pytest.approx(no_change, rel=5e-3)
    assert found["constant"]["R²"] == pytest.approx(0.0, abs=0.01)
    X = np.column_stack([columns["size"], columns["age"], columns["city"] == "Rome"])
    r2 = LinearRegression().fit(X, y).score(X, y)  # from all rows; the command learned nine tenths
    assert found["linear"]["R²"] == pytest.approx(r2, abs=2e-3)
    text = page.read_text()
    assert "<h2>Rejected rows</h2>" in text
    assert "size is …, not a number" in text
    assert "interval score" in text


def test_labels(colk, houses, tmp_path):
    model = tmp_path / "m.colk"
    assert colk("fit", houses, "--target", "kind", *FIT, "--model", model)[0] == 0
    code, out, _ = colk("evaluate", model, houses, "--report", tmp_path / "page.html")
    assert code == 0
    found, columns = printed(out), good_rows(houses)
    loaded = package.load(model)
    shares, predicted = loaded.predict_proba(columns), loaded.predict(columns)
    places = np.argsort(loaded.labels)
    log_loss = sk.log_loss(columns["kind"], shares[:, places])
    assert found["model"]["log loss"] == pytest.approx(log_loss, abs=1e-4)
    accuracy = sk.accuracy_score(columns["kind"], predicted)
    assert found["model"]["accuracy"] == pytest.approx(accuracy, rel=1e-3)
    matrix = sk.confusion_matrix(columns["kind"], predicted, labels=["cheap", "dear"])
    for label, row in zip(("cheap", "dear"), matrix, strict=True):
        cells = re.search(rf"^{label} +(.*)$", out.split("\n\n")[2], re.M)[1].split()
        assert sorted(int(cell.replace(",", "")) for cell in cells) == sorted(row)
    X = np.column_stack([columns["size"], columns["age"], columns["city"] == "Rome"])
    baseline = LinearDiscriminantAnalysis().fit(X, columns["kind"]).score(X, columns["kind"])
    assert found["linear"]["accuracy"] == pytest.approx(baseline, abs=1e-3)
    assert np.isnan(found["no change"]["log loss"])
    assert "<h2>Calibration</h2>" in (tmp_path / "page.html").read_text()


def test_rows_without_a_target_cannot_be_evaluated(colk, houses, tmp_path):
    model, path = tmp_path / "m.colk", tmp_path / "t.csv"
    colk("fit", houses, "--target", "price", *FIT, "--model", model)
    path.write_text("size,age,city,price\n1,2,Bonn,\n")
    code, _, error = colk("evaluate", model, path)
    assert code == 2
    assert "no row could be evaluated; first reason: " in error
    assert "price is missing" in error
    code, _, error = colk("evaluate", model, houses, "--intervals", "0.9")
    assert code == 2
    assert "the model has no intervals: fit it with colk fit --intervals" in error


def test_batches_do_not_change_the_metrics():
    rng = np.random.default_rng(0)
    y, predicted = rng.normal(1e6, 1.0, 500), rng.normal(1e6, 1.0, 500)
    whole, parts = NumberMetrics(0.5), NumberMetrics(0.5)
    whole.add(y, predicted, (predicted - 1.0, predicted + 1.0))
    for i in range(0, 500, 7):
        piece = slice(i, i + 7)
        ends = predicted[piece] - 1.0, predicted[piece] + 1.0
        parts.add(y[piece], predicted[piece], ends)
    assert parts.values == pytest.approx(whole.values, rel=1e-9)
    assert whole.values["R²"] == pytest.approx(sk.r2_score(y, predicted), rel=1e-9)


def test_a_label_that_the_model_does_not_know():
    found = ClassMetrics()
    found.add(["c"], ["a"], np.array([[0.75, 0.25]]), ["a", "b"])
    assert found.values["accuracy"] == 0.0
    assert found.values["log loss"] == pytest.approx(-np.log(1e-15))
    assert found.values["calibration error"] == 0.75


def test_baselines_grow_with_new_categories_and_labels():
    rng = np.random.default_rng(0)
    n = 600
    columns = {"x": rng.normal(1e5, 1.0, n), "c": np.sort(rng.choice(list("abcd"), n))}
    columns["x"][::9] = np.nan
    y = np.where(columns["c"] < "c", "low", np.where(rng.uniform(size=n) < 0.3, "mid", "high"))
    one, many = (Baselines(["x"], ["c"], is_classification=True) for _ in range(2))
    one.add(columns, y)
    for i in range(0, n, 50):
        many.add({name: values[i : i + 50] for name, values in columns.items()}, y[i : i + 50])
    a, b = one.fitted(), LinearBaseline(many.fitted().state)
    # The first batch chooses the centres, which change no prediction.
    places = [b.labels.index(label) for label in a.labels]
    np.testing.assert_allclose(a.scores(columns), b.scores(columns)[:, places], atol=1e-5)
    assert (np.array(a.labels)[a.scores(columns).argmax(axis=1)] == y).mean() > 0.8


def test_a_wide_table_has_only_a_constant():
    sums = Baselines([f"x{i}" for i in range(300)], [], is_classification=False)
    sums.add({f"x{i}": np.ones(3) for i in range(300)}, [1.0, 2.0, 6.0])
    found = sums.fitted()
    assert not found.is_linear
    assert found.constant.tolist() == [3.0]
