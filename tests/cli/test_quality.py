"""`colk fit` says how good the finished model is on rows that it has not learned."""

import re

import numpy as np
import pytest

import colk as package
from colk.cli.quality import Quality
from colk.model import sample
from colk.model.rows import LocalRows
from colk.rkhs.polishing import polish
from colk.tabular import TableModel
from colk.tabular.left_out import LeftOutRows


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-3.0, 3.0, size=(2, n))
    return x, z, np.sin(2.0 * x) + 0.2 * z + 0.2 * rng.normal(size=n)


def write(path, n, seed=0, labels=False):
    cells = zip(*rows(n, seed), strict=True)
    lines = [f"{x:.4f},{z:.4f},{('up' if y > 0 else 'down') if labels else y}" for x, z, y in cells]
    path.write_text("\n".join(["x,z,y", *lines]) + "\n")
    return path


def fit(colk, path, *options):
    code, out, error = colk(
        "fit", path, "--target", "y", "--model", path.with_name("m"), "--overwrite", *options
    )
    assert code == 0, error
    return out.partition("\n\n")[2]


def r2(text):
    return float(re.search(r"R² (-?[\d.]+)", text)[1])


@pytest.mark.parametrize("most", [20_000, 1000], ids=["whole", "sample"])
def test_the_error_is_that_of_new_rows(colk, tmp_path, monkeypatch, most):
    """Also if there are more rows than the sample holds."""
    monkeypatch.setattr(sample, "MOST_ROWS", most)
    told = fit(colk, write(tmp_path / "t.csv", 2000), "--intervals", "0.8")
    model = package.load(tmp_path / "m")
    x, z, y = rows(4000, seed=1)
    residuals = y - model.predict({"x": x, "z": z})
    error, others, covered, *_ = told.splitlines()
    assert re.match(r"error +mean \|residual\|", error)
    found = Quality.of_notes(model.notes)
    assert found.score.rows == min(most, model.rows)
    assert found.score.root_mean_square == pytest.approx(residuals.std(), rel=0.1)
    assert r2(error) == pytest.approx(1.0 - residuals.var() / y.var(), abs=0.03)
    assert r2(error) > r2(others) + 0.3
    told = r"others +root mean square of a linear model [\d.]+, R² [\d.]+; of a constant [\d.]+$"
    assert re.match(told, others)
    low, high = model.predict_interval({"x": x, "z": z}, 0.8)
    share = 100.0 * np.mean((low <= y) & (y <= high))
    assert float(re.match(r"covered +([\d.]+) %", covered)[1]) == pytest.approx(share, abs=9.0)
    assert "before" not in told
    shown = colk("show", tmp_path / "m")[1]
    assert [line.split(None, 1) for line in shown.splitlines()[:3]] == [
        line.split(None, 1) for line in (error, others, covered)
    ]


def test_held_out_rows_come_first(colk, tmp_path):
    path = write(tmp_path / "t.csv", 600)
    told = fit(colk, path, "--holdout", "0.2", "--intervals", "0.8", "--report", tmp_path / "p")
    error, others, covered, *_ = told.splitlines()
    assert re.search(r"R² 0\.\d+, on 1\d\d rows never learned", error)
    assert "linear model" in others
    assert "covered" in covered
    page = (tmp_path / "p").read_text()
    assert page.index("rows never learned") < page.index("learned,")
    assert "left out" not in told


def test_labels(colk, tmp_path):
    told = fit(colk, write(tmp_path / "t.csv", 600, labels=True))
    error, others, *_ = told.splitlines()
    found = float(re.match(r"error +([\d.]+) % wrong, each of 600 rows left out in turn", error)[1])
    linear, constant = map(float, re.findall(r"([\d.]+) % wrong", others))
    assert found < linear < constant
    model = package.load(tmp_path / "m")
    x, z, y = rows(4000, seed=1)
    right = model.predict({"x": x, "z": z}) == np.where(y > 0.0, "up", "down")
    assert found == pytest.approx(100.0 * (1.0 - right.mean()), abs=4.0)


def test_two_classes_by_their_margin(colk, tmp_path):
    told = fit(colk, write(tmp_path / "t.csv", 300, labels=True), "--loss", "logistic")
    assert re.match(r"error +[\d.]+ % wrong, each of 300 rows", told)


def test_without_a_polish_the_error_is_that_of_learned_rows(colk, tmp_path):
    """A narrow kernel follows noise: the small error must not be taken for that of new rows."""
    path = tmp_path / "t.csv"
    x, y = np.random.default_rng(0).normal(size=(2, 400))
    path.write_text("x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(x, y, strict=True)))
    told = fit(colk, path, "--no-polish", "--kernel", "gaussian", "--bandwidth", "0.001")
    assert r2(told) > 0.3
    assert "on the rows that it has learned, so it is too small; --holdout 0.1" in told
    assert "that it has learned" in colk("show", tmp_path / "m")[1]
    assert "before learning" not in told


@pytest.mark.parametrize(
    ("column", "said"), [("y", "order +sorted by y,"), ("when", "order +by when: later rows")]
)
def test_sorted_rows_are_recognised(colk, tmp_path, column, said):
    path = tmp_path / "t.csv"
    x = np.random.default_rng(0).normal(size=400)
    when = np.datetime64("2024-01-01") + np.arange(400)
    rows = [(float(a), str(day), float(a + 0.1)) for a, day in zip(x, when, strict=True)]
    rows.sort(key=lambda row: row[2 if column == "y" else 1])
    path.write_text("x,when,y\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    assert re.search(said, fit(colk, path))
    assert re.search(said, colk("show", tmp_path / "m")[1])
    np.random.default_rng(1).shuffle(rows)
    path.write_text("x,when,y\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    assert "\norder" not in fit(colk, path)


def test_a_model_that_learned_more_has_another_error(colk, tmp_path):
    fit(colk, write(tmp_path / "t.csv", 300))
    model = package.load(tmp_path / "m")
    x, z, y = rows(50, seed=2)
    package.save(model.learn({"x": x, "z": z}, y), tmp_path / "m")
    assert "left out in turn" not in colk("show", tmp_path / "m")[1]


def test_a_row_is_left_out_of_the_weights():
    """Against a polish on the other rows."""
    x, z, y = rows(60)
    model = TableModel("y", ["x", "z"], kernel="gaussian", loss="squared")
    fit_ = model.new_fit()
    model.fit_rows(LocalRows(lambda: [model.checked_rows({"x": x, "z": z}, y)]), fit_)
    final, (X, targets, _) = fit_.final, fit_.judged
    left_out = LeftOutRows(model, final, fit_.judged)
    assert final.outliers is None
    unit, decay = model.target_unit, final.polished.regularization
    np.testing.assert_allclose(left_out.y, y, rtol=1e-9)
    for row in (0, 17, 59):
        others = np.arange(60) != row
        # λ of the mean over n − 1 rows.
        again = polish(
            final.polished.function,
            X[others],
            targets[others],
            model.loss,
            regularization=decay * 60 / 59,
            tolerance=1e-10,
        )
        value = model.target_center + unit * again.function(X[row : row + 1])[0]
        assert left_out.predicted.values[row] == pytest.approx(value, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize(
    "state", [5, {}, {"score": "x"}, {"score": [1, 2], "baselines": {}, "coverage": None}]
)
def test_a_note_of_another_form_says_nothing(colk, tmp_path, state):
    fit(colk, write(tmp_path / "t.csv", 100))
    model = package.load(tmp_path / "m")
    model.notes["quality"] = state
    package.save(model, tmp_path / "m")
    code, out, _ = colk("show", tmp_path / "m")
    assert (code, "left out in turn" in out) == (0, False)
