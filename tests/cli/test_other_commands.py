"""`colk predict`, `show`, `compress`, `merge`, `export`, and the check of paths."""

import csv
import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import orders_table
import pyarrow.parquet
import pytest
from houses_table import write_houses

import colk as package
from colk.cli import main
from colk.cli.summary import kernel_of
from colk.kernels import Gaussian
from colk.learners import NewtonCOLK
from colk.rkhs.expansion import KernelExpansion

OPTIONS = {
    "price": ("--target", "price", "--features", "size,age,city", "--categorical", "city"),
    "kind": ("--target", "kind", "--features", "size,age"),
}


@pytest.fixture(scope="module", params=["price", "kind"])
def fitted(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("fitted")
    path, rows = folder / "m.colk", write_houses(folder)
    assert main(["fit", str(rows), *OPTIONS[request.param], "--model", str(path)]) == 0
    return path


@pytest.fixture
def model(fitted, tmp_path):
    """A copy of the model of the houses, which a test may change."""
    return Path(shutil.copy(fitted, tmp_path))


def test_a_prediction_for_each_row(colk, houses, tmp_path, model):
    """Predictions are the same in each format, and empty if a row cannot be used."""
    found = {}
    for kind in ("csv", "jsonl", "parquet"):
        out = tmp_path / f"out.{kind}"
        code, _, error = colk("predict", model, houses, "--out", out)
        assert code == 0
        assert "3 rows have no prediction" in error
        if kind == "csv":
            rows = csv.DictReader(out.read_text().splitlines())
            found[kind] = [row["prediction"] or None for row in rows]
        elif kind == "jsonl":
            found[kind] = [json.loads(line)["prediction"] for line in out.read_text().splitlines()]
        else:
            found[kind] = pyarrow.parquet.read_table(out)["prediction"].to_pylist()
    expected = found["jsonl"]
    assert len(expected) == 1200
    assert [row for row, value in enumerate(expected) if value is None] == [10, 700, 900]
    assert found["parquet"] == expected
    kind = str if package.load(model).task == "classification" else float
    assert [value if value is None else kind(value) for value in found["csv"]] == expected
    rows = [line.split(",") for line in houses.read_text().splitlines()[1:4]]
    columns = {
        "size": [float(row[0]) for row in rows],
        "age": [float(row[1]) for row in rows],
        "city": [row[2] for row in rows],
    }
    assert list(package.load(model).predict(columns)) == expected[:3]


def test_standard_input_to_standard_output_line_by_line(model):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "colk", "predict", str(model), "-", "--to", "jsonl"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
    )  # fmt: skip
    process.stdin.write(b"size,age,city\n100,10,Bonn\n")
    process.stdin.flush()
    first = json.loads(process.stdout.readline())  # while the pipe is open
    process.stdin.write(b"100,wide,Rome\n100,10,Bonn\n")
    process.stdin.flush()
    second, third = (json.loads(process.stdout.readline()) for _ in range(2))
    process.communicate()
    assert process.returncode == 0
    assert second["prediction"] is None
    assert third == first


@pytest.mark.slow
def test_predictions_that_nobody_reads(houses, model):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "colk", "predict", str(model), *[str(houses)] * 30],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
    )  # fmt: skip
    process.stdout.readline()
    process.stdout.close()
    error = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait() == 141
    assert error == ""


def test_show(colk, tmp_path, model):
    code, out, _ = colk("show", model, "--plot", tmp_path / "m.png")
    told = {line[:11].strip(): line[11:] for line in out.splitlines()}
    loaded = package.load(model)
    assert code == 0
    assert told["atoms"] == str(loaded.n_atoms)
    assert float(told["norm"]) == pytest.approx(loaded.function.norm(), rel=1e-5)
    assert told["kernel"] == kernel_of(loaded)
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")


def test_show_speaks_of_columns_by_name(colk, tmp_path):
    orders_table.write(tmp_path / "orders.csv", orders_table.columns(2500, 2))
    given = ("--target", "amount", "--id", "order", "--risk", "cvar(0.2)", "--seed", "1")
    assert colk("fit", tmp_path / "orders.csv", *given, "--model", tmp_path / "m.colk")[0] == 0
    told = {
        line[:11].strip(): line[11:] for line in colk("show", tmp_path / "m.colk")[1].splitlines()
    }
    model = package.load(tmp_path / "m.colk")
    places = model.kernel.categorical
    names = [name for k, name in enumerate(model.columns) if k not in places]
    scales = dict(zip(names, model.kernel.kernel.bandwidth, strict=True))
    assert all(f"{name} {scale:.3g}" in told["scales"] for name, scale in scales.items())
    assert f"shop {model.kernel.weights[0]:.3g}" in told["scales"]
    assert told["path"] == model.path.told


def test_show_the_state_of_a_risk(colk, houses, tmp_path):
    colk("fit", houses, *OPTIONS["price"], "--risk", "variance", "--model", tmp_path / "m.colk")
    _, out, _ = colk("show", tmp_path / "m.colk")
    g = package.load(tmp_path / "m.colk").inner_estimate
    assert f"risk state {g[0]:.6g}" in out


def test_fit_tells_the_risk_of_the_latest_losses(colk, houses, tmp_path):
    page, options = tmp_path / "m.html", (*OPTIONS["price"], "--model", tmp_path / "m.colk")
    _, out, _ = colk("fit", houses, *options, "--risk", "cvar", "--no-polish", "--report", page)
    risk = package.load(tmp_path / "m.colk").prequential_risk
    line = f"{risk:.4g}, CVaR(tail_fraction=0.1, weight=1.0, smoothing=0.0) of the latest 1,000"
    assert line in out
    assert line in page.read_text(encoding="utf-8")
    _, out, _ = colk("fit", houses, *options, "--overwrite")
    assert "of the latest 1,000" not in out


def test_show_other_models(colk, tmp_path):
    f = KernelExpansion(Gaussian(0.5), [[0.0], [1.0]], [1.0, 2.0])
    package.save(f, tmp_path / "f.colk")
    code, out, _ = colk("show", tmp_path / "f.colk")
    assert code == 0
    assert f"norm       {f.norm():.6g}" in out
    code, _, error = colk("predict", tmp_path / "f.colk", tmp_path / "f.colk", "--format", "csv")
    assert code == 2
    assert "takes models of colk fit" in error


def test_compress_says_its_certificate(colk, tmp_path, model):
    small = tmp_path / "small.colk"
    code, out, _ = colk("compress", model, "--max-atoms", 5, "--out", small)
    one, other = package.load(model).function, package.load(small).function
    bound = float(out.split("≤")[1].split()[0])
    assert code == 0
    assert other.n_atoms == 5
    assert one.distance(other) <= bound * (1.0 + 1e-5)
    code, _, error = colk("compress", model, "--out", small)
    assert code == 2
    assert "eps, max_atoms or both" in error


def test_compress_keeps_intervals_identifier_and_baselines(colk, tmp_path):
    table, small = orders_table.columns(1500, 3), tmp_path / "small.colk"
    orders_table.write(tmp_path / "orders.csv", table)
    given = ("--target", "amount", "--id", "order", "--intervals", "0.9")
    assert colk("fit", tmp_path / "orders.csv", *given, "--model", tmp_path / "m.colk")[0] == 0
    model = package.load(tmp_path / "m.colk")
    code, out, _ = colk(
        "compress", tmp_path / "m.colk", "--max-atoms", model.n_atoms // 2, "--out", small
    )
    smaller = package.load(small)
    told = {line.split(":")[0]: float(line.split()[-1]) for line in out.splitlines()[2:]}
    assert code == 0
    assert {"id", "intervals", "baselines"} <= set(smaller.notes)
    columns = {
        name: np.where(table[name] == "", None, table[name]) for name in ("when", "shop", "product")
    }
    for name in ("price", "temperature"):
        columns[name] = np.where(table[name] == "", "nan", table[name]).astype(float)
    change = np.abs(model.predict(columns) - smaller.predict(columns)).max()
    assert 0.5 * change <= told["measured"] <= told["bound"]
    assert change <= 1.5 * told["measured"]  # the rows change about as much as the atoms
    assert change <= told["bound"]
    low, high = smaller.predict_interval(columns, 0.9)
    y = table["amount"].astype(float)
    assert np.mean((y >= low) & (y <= high)) >= 0.9
    narrow = np.subtract(*model.predict_interval(columns, 0.9)[::-1])
    assert np.allclose(high - low - narrow, 2.0 * told["measured"], rtol=1e-3)
    assert colk("predict", small, tmp_path / "orders.csv", "--out", tmp_path / "p.csv")[0] == 0
    assert (tmp_path / "p.csv").read_text().startswith("order,")


def test_export(colk, tmp_path, model):
    onnxruntime = pytest.importorskip("onnxruntime")
    for kind in ("onnx", "python"):
        assert colk("export", model, "--to", kind, "--out", tmp_path / f"m.{kind}")[0] == 0
    loaded = package.load(model)
    rows = {"size": [90.0, 120.0], "age": [3.0, 30.0], "city": ["Rome", "Bonn"]}
    expected = loaded.predict(rows)
    raw = [dict(zip(rows, cells, strict=True)) for cells in zip(*rows.values(), strict=True)]
    plain = runpy.run_path(str(tmp_path / "m.python"))["predict"](raw)
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"))
    given = {each.name: np.array(rows[each.name])[:, None] for each in session.get_inputs()}
    given |= {name: values.astype(object) for name, values in given.items() if name == "city"}
    graph = session.run(None, given)[0]
    if loaded.task == "regression":
        assert np.allclose(plain, expected, rtol=1e-12)
        assert np.allclose(np.ravel(graph), expected, rtol=1e-12)
    else:
        assert list(plain) == list(graph) == list(expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "MODEL", "DATA", "--out", "no/such/p.csv"], "there is no folder no/such"),
        (["predict", "MODEL", "DATA", "--out", "p.xyz"], "choose the format with --to"),
        (["predict", "MODEL", "DATA", "--to", "parquet"], "name a file with --out"),
        (["predict", "MODEL", "DATA", "--out", "DATA"], "is an input"),
        (["predict", "MODEL", "-", "--format", "parquet"], "cannot be read from standard input"),
        (["predict", "none.colk", "DATA"], "there is no file none.colk"),
        (["predict", "DATA", "DATA"], "not a model"),
        (["show", "MODEL", "--plot", "m.txt"], "name a .png, .svg or .pdf file"),
        (["export", "MODEL", "--to", "onnx", "--out", "no/m.onnx"], "there is no folder no"),
        (["compress", "MODEL", "--eps", "-1", "--out", "OUT"], "eps must be"),
    ],
)
def test_errors_are_one_line(colk, houses, model, arguments, message):
    names = {"MODEL": model, "DATA": houses, "OUT": houses.with_name("o.colk")}
    code, _, error = colk(*(names.get(argument, argument) for argument in arguments))
    assert code == 2
    assert len(error.splitlines()) == 1
    assert message in error


def test_merge_says_its_certificate(colk, tmp_path):
    X = np.random.default_rng(0).random((60, 2))
    paths = [tmp_path / "a.colk", tmp_path / "b.colk"]
    for k, path in enumerate(paths):
        package.save(NewtonCOLK(Gaussian(0.5)).learn(X[k::2], X[k::2, 0]), path)
    merged = tmp_path / "c.colk"
    options = ("--weights", 1, 2, "--max-atoms", 4)
    code, out, _ = colk("merge", *paths, *options, "--out", merged)
    assert code == 0
    assert out.startswith("2 models, ")
    assert " → 4 atoms\n" in out
    found = package.merge([package.load(path) for path in paths], [1, 2], max_atoms=4)
    assert f"≤ {found.error:.6g}\n" in out
    assert package.load(merged).function == found.model.function
    code, _, error = colk("merge", paths[0], "--base", paths[1], "--out", paths[1])
    assert code == 2
    assert "is an input" in error


def test_tables_are_not_merged_and_the_message_says_what_to_do(colk, houses, tmp_path):
    lines, models = houses.read_text().splitlines(), []
    for k in range(2):
        part = tmp_path / f"part{k}.csv"
        part.write_text("\n".join([lines[0], *lines[1 + 600 * k : 601 + 600 * k]]) + "\n")
        models.append(tmp_path / f"{k}.colk")
        assert colk("fit", part, *OPTIONS["price"], "--model", models[k])[0] == 0
    code, _, error = colk("merge", *models, "--out", tmp_path / "both.colk")
    assert code == 2
    assert "differ in: categories, scales, kernel)" in error
    said = f"colk fit {tmp_path / 'part0.csv'} {tmp_path / 'part1.csv'} --target price"
    assert said in error
    assert not (tmp_path / "both.colk").exists()


def test_an_unknown_option_names_the_help_of_its_command(capsys):
    with pytest.raises(SystemExit):
        main(["show", "--weather"])
    assert "colk show --help" in capsys.readouterr().err
