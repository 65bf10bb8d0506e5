"""The JavaScript of a page predicts what the model predicts."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from colk.export.javascript import to_javascript, written
from colk.kernels import Laplacian, Linear
from colk.losses import Hinge, Logistic
from colk.tabular import TableModel

NODE = shutil.which("node")
N = 300


def columns():
    rng = np.random.default_rng(0)
    size, when = rng.normal(size=N), 1.7e9 + rng.uniform(0.0, 1e8, N)
    city = np.array(["A", "B</script>", "C"], dtype=object)[rng.integers(0, 3, N)]
    shop = np.array([f"shop {k}" for k in range(60)], dtype=object)[rng.integers(0, 60, N)]
    y = np.sin(2.0 * size) + (city == "A") + (when - 1.7e9) / 1e8
    size[::7], city[::11], when[::13] = np.nan, None, np.nan
    return {"size": size, "city": city, "when": when, "shop": shop}, y


def run(source, rows):
    script = f"const predict = {source}; console.log(JSON.stringify({written(rows)}.map(predict)))"
    done = subprocess.run([NODE], input=script, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


CASES = {
    "numbers": (lambda y: y, {}),
    "a linear model": (lambda y: y, {"kernel": Linear(), "max_atoms": 30}),
    "a kernel of one scale": (lambda y: y, {"kernel": Laplacian(2.0)}),
    "three labels": (lambda y: np.array(["a", "b", "c"])[np.digitize(y, [0.2, 0.9])], {}),
    "two labels": (lambda y: np.where(y > 0.5, "yes", "no"), {"loss": Logistic()}),
    "a margin": (lambda y: np.where(y > 0.5, "yes", "no"), {"loss": Hinge()}),
}


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("case", CASES)
def test_the_script_predicts_as_the_model(case):
    table, y = columns()
    make, options = CASES[case]
    targets = make(y)
    task = "regression" if targets.dtype == np.float64 else "classification"
    model = TableModel("y", list(table), ["city", "shop"], task, dates=["when"], **options)
    model.fit([(table, targets)])
    some = {name: values[:40] for name, values in table.items()}
    rows = [dict(zip(some, row, strict=True)) for row in zip(*some.values(), strict=True)]
    rows = [{k: None if v is None or v != v else v for k, v in row.items()} for row in rows]
    rows[0]["city"] = some["city"][0] = "never seen"
    found = run(to_javascript(model), rows)
    values, wanted = [each["value"] for each in found], model.predict(some)
    if task == "regression":
        np.testing.assert_allclose(values, wanted, rtol=1e-9, atol=1e-9)
    else:
        assert values == wanted.tolist()
    if found[0]["shares"] is not None:
        shares = [each["shares"] for each in found]
        np.testing.assert_allclose(shares, model.predict_proba(some), atol=1e-9)


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_a_date_may_be_a_text():
    when = np.arange(200.0) * 86400.0
    model = TableModel("y", ["when"], dates=["when"]).fit([({"when": when}, np.sin(when / 2e6))])
    texts = ["1970-01-02", "1970-01-02T00:00", "1970-01-02T02:00+02:00", 86400.0]
    values = [each["value"] for each in run(to_javascript(model), [{"when": t} for t in texts])]
    np.testing.assert_allclose(values, model.predict({"when": [86400.0]})[0], rtol=1e-12)


def test_only_tables_are_written():
    model = TableModel("y", ["x"]).fit([({"x": np.arange(9.0)}, np.arange(9.0))])
    with pytest.raises(TypeError, match="models of tables, got KernelExpansion"):
        to_javascript(model.function)
