"""Tables that workers read: `fit_table`, and `colk fit --dask`."""

import numpy as np
import pytest

import colk
from colk.cli.main import main
from colk.distributed.tables import TableFile, fit_table
from colk.tabular import TableModel

pandas = pytest.importorskip("pandas")
RNG = np.random.default_rng(0)
N = 900
FRAME = pandas.DataFrame({"a": RNG.uniform(-2, 2, N), "city": RNG.choice(["x", "y", "z"], N)})
FRAME["price"] = np.sin(2 * FRAME["a"]) + 2.0 * (FRAME["city"] == "y") + 0.1 * RNG.normal(size=N)
FRAME["kind"] = np.where(FRAME["price"] > 1.0, "dear", "cheap")
FRAME = FRAME.sort_values("a")  # the files have different rows


def write(folder, target):
    paths = []
    for k in range(3):
        part = FRAME.iloc[300 * k : 300 * (k + 1)][["a", "city", target]]
        paths.append(str(folder / f"{k}.csv"))
        part.to_csv(paths[-1], index=False)
    return paths


@pytest.mark.parametrize("target", ["price", "kind"])
def test_weights_are_those_of_all_files(pool, tmp_path, target):
    task = "regression" if target == "price" else "classification"
    model = TableModel(target, ["a", "city"], ["city"], task, max_atoms=25, kernel="gaussian")
    files = [TableFile(path, model.wanted) for path in write(tmp_path, target)]
    assert fit_table(model, files, pool, sample_size=200) == N
    columns = {"a": FRAME["a"].to_numpy(), "city": FRAME["city"].to_numpy()}
    found = model.predict(columns)
    if task == "regression":
        assert np.mean((found - FRAME["price"]) ** 2) < 0.05
    else:
        assert np.mean(found == FRAME["kind"]) > 0.9


def test_the_command(client, tmp_path, capsys):
    paths, model = write(tmp_path, "price"), tmp_path / "m.colk"
    command = ["fit", *paths, "--target", "price", "--model", str(model), "--kernel", "gaussian"]
    address = client.scheduler.address
    assert main([*command, "--max-atoms", "20", "--dask", address]) == 0, capsys.readouterr().err
    out = capsys.readouterr()
    assert "dashboard" in out.err
    assert "900 in 3 files" in out.out
    assert 0 < colk.load(model).n_atoms <= 20
    predictions = tmp_path / "p.csv"
    assert main(["predict", str(model), paths[0], "--out", str(predictions)]) == 0
    assert len(predictions.read_text().splitlines()) == 301


def test_what_the_command_refuses(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("colk.distributed.connection._PATIENCE", 1)
    paths, model = write(tmp_path, "price"), tmp_path / "m.colk"
    command = ["fit", *paths, "--target", "price", "--model", str(model)]
    assert main([*command, "--dask", "--holdout", "0.1"]) == 2
    assert "--holdout does not work together with --dask" in capsys.readouterr().err
    assert main([*command, "--dask", "tcp://127.0.0.1:9"]) == 2
    assert "no Dask scheduler answers" in capsys.readouterr().err
    assert not model.exists()
