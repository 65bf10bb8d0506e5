"""Exported tables take raw rows: texts, dates, numbers and gaps, as `predict` does."""

import json
import math
import subprocess
import sys

import numpy as np
import onnxruntime
import pytest

from colk.export import to_onnx, to_python
from colk.tabular import TableModel

pytestmark = pytest.mark.slow  # interpreters and runtimes are started

RNG = np.random.default_rng(4)


def orders(n, n_products=12, gaps=0.1):
    """Columns with dates, texts and gaps, and the numbers to predict."""
    start = np.datetime64("2021-01-01T00:00:00")
    when = start + np.sort(RNG.integers(0, 3 * 365 * 24, n)) * np.timedelta64(3600, "s")
    hour = (when - start).astype(float) / 3600.0
    shop, product = RNG.choice(["Bonn", "Rome", "Oslo"], n), RNG.integers(0, n_products, n)
    price, heat = RNG.lognormal(2.0, 0.5, n), RNG.normal(12.0, 8.0, n)
    of_product = np.random.default_rng(1).normal(0.0, 3.0, n_products)
    y = np.sin(hour / 24 * 2 * np.pi) + 3.0 * (shop == "Rome") - np.log(price) + 0.1 * heat
    y += of_product[product] * (1.0 + 0.1 * (price - 7.0))
    columns = {
        "when": np.datetime_as_string(when, unit="s").astype(object),
        "shop": shop.astype(object),
        "product": np.char.add("p", product.astype(str)).astype(object),
        "price": price,
        "heat": heat + 0.2 * price,
        "same": np.full(n, 5.0),
    }
    for name, values in columns.items():
        is_gap = RNG.uniform(size=n) < (gaps if name != "same" else 0.0)
        columns[name] = np.where(is_gap, math.nan if values.dtype == float else None, values)
    return columns, y + 0.1 * RNG.normal(size=n)


NAMES = ["when", "shop", "product", "price", "heat", "same"]
ROWS = {"categorical": ["shop", "product"], "dates": ["when"]}


def fitted(columns, y, **settings):
    return TableModel("y", NAMES, **ROWS, **settings).fit([(columns, y)])


def labels(y):
    return np.where(y > 1.0, "much", np.where(y > -1.0, "some", "little")).astype(object)


def several():
    table, y = orders(700)
    yield "gaps filled from other cells", fitted(table, y)
    yield "labels", fitted(table, labels(y), task="classification")
    yield "two labels", fitted(table, (y > 0.0).astype(str), task="classification")
    yield "many products", fitted(*orders(1500, 200))
    yield "no gaps", fitted(*orders(300, gaps=0.0))
    yield "a stream", TableModel("y", NAMES, **ROWS).learn(table, y)


@pytest.fixture(scope="module")
def models():
    with pytest.warns(UserWarning, match="one value in all rows"):
        return dict(several())


CASES = [
    "gaps filled from other cells", "labels", "two labels", "many products", "no gaps", "a stream",
]  # fmt: skip


def new_rows():
    """New rows: gaps, values that are unknown, and other values of a constant column."""
    columns, _ = orders(150, 250, gaps=0.25)
    columns["shop"][3], columns["same"][5], columns["same"][6] = "Paris", 7.0, math.nan
    for name in NAMES:
        columns[name][8] = None if columns[name].dtype == object else math.nan
    return columns


def by_python(model, columns, folder):
    """Predictions of the module for dictionaries, in an interpreter without packages."""
    (folder / "exported.py").write_text(to_python(model), encoding="utf-8")
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    code = (
        f"import json, sys\nsys.path.insert(0, {str(folder)!r})\nimport exported\n"
        "rows = json.load(sys.stdin)\n"
        "chances = exported.predict_proba(rows) if hasattr(exported, 'predict_proba') else None\n"
        "print(json.dumps([exported.predict(rows), chances]))\nassert 'numpy' not in sys.modules\n"
    )
    found = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        input=json.dumps(rows), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def by_onnx(model, columns):
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    moments = np.array([value or "NaT" for value in columns["when"]], dtype="datetime64[s]")
    seconds = np.where(np.isnat(moments), math.nan, moments.astype(float))
    texts = {name: [value or "" for value in columns[name]] for name in ROWS["categorical"]}
    given = {**columns, **texts, "when": seconds}
    given = {
        name: np.array(values, object if name in texts else float)[:, None]
        for name, values in given.items()
    }
    return session.run(None, {each.name: given[each.name] for each in session.get_inputs()})


@pytest.mark.parametrize("case", CASES)
def test_raw_rows(case, models, tmp_path):
    model, columns = models[case], new_rows()
    expected = model.predict(columns)
    predicted, chances = by_python(model, columns, tmp_path)
    graph = by_onnx(model, columns)
    module = {}
    exec(to_python(model, numpy=True), module)
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    if model.task == "regression":
        for found in (predicted, graph[0], module["predict"](rows)):
            assert np.abs(found - expected).max() <= 1e-10 * np.abs(expected).max()
        return
    assert predicted == list(graph[0]) == list(module["predict"](rows)) == list(expected)
    for found in (chances, graph[1], module["predict_proba"](rows)):
        assert np.abs(found - model.predict_proba(columns)).max() <= 1e-10


def test_the_cases_are_what_they_say(models):
    assert models["gaps filled from other cells"].encoder.filler is not None
    assert models["many products"].encoder.effects
    assert models["no gaps"].encoder.filler is None
    assert models["no gaps"].constant_columns == ["same"]


def test_python_dates_and_a_missing_column(models):
    from datetime import datetime

    import pandas as pd

    model, module = models["no gaps"], {}
    exec(to_python(model), module)
    row = {name: values[0] for name, values in orders(1, gaps=0.0)[0].items()}
    text = {**row, "when": "2022-03-04T05:00:00"}
    found = module["predict"](
        [
            text,
            {**row, "when": datetime(2022, 3, 4, 5)},
            {**row, "when": pd.Timestamp(text["when"])},
        ]
    )
    assert found[0] == found[1] == found[2]
    with pytest.raises(ValueError, match="a row must have the column 'shop'"):
        module["predict"]([{"when": None}])


def test_a_column_with_the_name_of_an_output():
    x = RNG.normal(size=100)
    model = TableModel("y", ["values"]).fit([({"values": x}, x)])
    with pytest.raises(ValueError, match="'values' has the name of an output"):
        to_onnx(model)
    model = TableModel("y", ["c0", "v1"]).fit([({"c0": x, "v1": x**2}, x)])
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    (found,) = session.run(None, {"c0": x[:, None], "v1": x[:, None] ** 2})
    assert np.allclose(found, model.predict({"c0": x, "v1": x**2}), rtol=1e-10)
