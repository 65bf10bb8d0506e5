"""Fits over partitions: the same weights as on one machine, and the same bits everywhere."""

import ast
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import colk
from colk import COLKClassifier
from colk.distributed import (
    DaskCOLKClassifier,
    DaskCOLKQuantileRegressor,
    DaskCOLKRegressor,
    engines,
)
from colk.distributed.engines import ExecutorParts
from colk.distributed.files import file_ranges
from colk.kernels import Gaussian
from colk.losses import Huber, Logistic, Squared
from colk.model.parts import Part
from colk.model.quantile_sums import quantile_of_blocks
from colk.risks import CVaR, Entropic, Mean, Variance
from colk.rkhs import KernelExpansion
from colk.rkhs.polishing import Block, RowBlocks, solve_by_sums
from colk.rkhs.polishing.blocks import weight_block

dask_array = pytest.importorskip("dask.array")
dask_frame = pytest.importorskip("dask.dataframe")

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(1200, 2))
Y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=1200)
SMALL = {"kernel": Gaussian(0.5), "max_atoms": 20, "sample_size": 300, "random_state": 0}


def regressor(**settings):
    return DaskCOLKRegressor(**{**SMALL, **settings})


def as_block(rows):
    return Block(rows.source, rows.y, rows.weight)


class Stored:
    """A partition that is loaded by a call."""

    def __init__(self, *rows):
        self.rows = Part(*rows, 0)

    def __call__(self):
        return self.rows


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("loss", "risk", "bound"),
    [
        (Squared(), Mean(), 1e-8),
        (Huber(1.0), Variance(0.5), 1e-8),
        (Squared(), CVaR(0.2, smoothing=0.1), 1e-8),
        (Squared(), Entropic(0.5), 1e-8),
        (Logistic(), Mean(), 1e-8),
    ],
)
@pytest.mark.parametrize("n_parts", [1, 8, 32])
def test_weights_do_not_depend_on_the_partitions(pool, loss, risk, bound, n_parts):
    y = np.sign(Y) if isinstance(loss, Logistic) else Y
    order = np.argsort(X[:, 0])  # partitions see different regions
    share = np.full(len(X), 1.0 / len(X))
    sources = [Stored(X[rows], y[rows], share[rows]) for rows in np.array_split(order, n_parts)]
    blocks = ExecutorParts(pool, sources).derive(as_block)
    f = KernelExpansion(Gaussian(0.5), X[:15], np.zeros(15))
    terms = {"regularization": 1e-3, "tolerance": 1e-9}
    here = solve_by_sums(RowBlocks.of(X, y, share), f, loss, risk, **terms)[0]
    there = solve_by_sums(blocks, f, loss, risk, **terms)[0]
    assert here.distance(there) <= bound * max(here.norm(), 1.0)


def test_bits_do_not_depend_on_engines(client, pool):
    """One thread, two threads, a cluster: the same bits."""
    lazy = [dask_array.from_array(a, chunks=(150, *a.shape[1:])) for a in (X, Y)]
    found = [regressor(client=pool).fit(*lazy), regressor(client=client).fit(*lazy)]
    with ThreadPoolExecutor(2) as two:
        found.append(regressor(client=two).fit(*lazy))
    functions = [model.local_.function_ for model in found]
    assert all(f == functions[0] for f in functions)
    assert found[0].local_.polished_.converged
    assert found[0].score(X, Y) > 0.9


def test_partitions_stay_in_memory_while_there_is_room(pool, monkeypatch):
    loaded = []

    class Counted(Stored):
        def __call__(self):
            loaded.append(self)
            return super().__call__()

    def passes():
        loaded.clear()
        sources = [Counted(X[k::40], Y[k::40], np.ones(30)) for k in range(40)]
        blocks = ExecutorParts(pool, sources).derive(as_block)
        totals = [blocks.total(weight_block) for _ in range(3)]
        assert totals == [(1200.0, 0)] * 3
        return len(loaded)

    assert passes() == 40
    monkeypatch.setattr("colk.distributed.engines._KEPT", 8000)
    assert passes() > 40
    assert len(engines._in_memory) < 40


def test_weights_are_those_of_all_rows(pool):
    """The weights of the sample alone are worse on all rows."""
    lazy = [dask_array.from_array(a, chunks=(400, *a.shape[1:])) for a in (X, Y)]
    model = regressor(client=pool, loss="squared").fit(*lazy).local_
    rows = np.full(len(X), 1.0 / len(X))
    f = model.polished_.function
    targets = model.encode_targets(Y)
    best = solve_by_sums(
        RowBlocks.of(X, targets, rows), f, model.loss_, None, model.polished_.regularization
    )[0]
    assert best.distance(f) < 1e-2 * f.norm()
    assert model.n_atoms_ <= 20


def test_dataframes_keep_names(client):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "w": np.ones(1200), "y": Y})
    lazy = dask_frame.from_pandas(frame, npartitions=4)
    model = regressor(client=client).fit(lazy[["a", "b"]], lazy["y"], lazy["w"])
    assert model.local_.feature_names_in_.tolist() == ["a", "b"]
    values = model.predict(lazy[["a", "b"]])
    assert dask_array.Array in type(values).__mro__
    np.testing.assert_array_equal(values.compute(), model.local_.predict(frame[["a", "b"]]))
    arrays = regressor(client=client).fit(
        *(dask_array.from_array(a, chunks=(300, *a.shape[1:])) for a in (X, Y))
    )
    assert arrays.local_.function_ == model.local_.function_


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files(pool, tmp_path, kind, monkeypatch):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "y": Y, "b": X[:, 1]})
    paths = [tmp_path / f"{k}.{kind}" for k in range(2)]
    for k, path in enumerate(paths):
        half = frame.iloc[600 * k : 600 * (k + 1)]
        if kind == "csv":
            half.to_csv(path, index=False)
        else:
            half.to_parquet(path, row_group_size=250)
    for n_bytes in (777, 10**6):
        parts = [part.read() for path in paths for part in file_ranges(path, n_bytes)]
        for name in ("a", "b", "y"):
            column = np.concatenate([np.asarray(part[name], dtype=float) for part in parts])
            np.testing.assert_array_equal(column, frame[name])
    model = regressor(client=pool).fit(paths, "y")
    assert model.local_.feature_names_in_.tolist() == ["a", "b"]
    assert model.score(frame[["a", "b"]], Y) > 0.9
    with pytest.raises(ValueError, match="no column 'z', only a, y, b"):
        regressor(client=pool).fit(paths, "z")
    with pytest.raises(TypeError, match="names of columns"):
        regressor(client=pool).fit(paths, Y)


def test_several_outputs_weights_and_empty_partitions(pool):
    both = np.stack([Y, -2.0 * Y], axis=1)
    weights = np.where(X[:, 0] > 0.0, 1.0, 0.0)
    chunks = (300, 0, 0, 500, 400)
    lazy = [
        dask_array.from_array(a, chunks=(-1, *a.shape[1:])).rechunk({0: chunks})
        for a in (X, both, weights)
    ]
    model = regressor(client=pool).fit(*lazy)
    right = X[:, 0] > 0.0
    errors = np.abs(model.predict(X) - both).mean(axis=1)
    assert errors[right].mean() < 0.3 < errors[~right].mean()
    values = model.predict(lazy[0])
    assert values.shape == (1200, 2)
    np.testing.assert_array_equal(values.compute(), model.local_.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_that_a_partition_has_not_seen(pool, n_classes):
    edges = np.array([-0.3, 0.4])[: n_classes - 1]
    names = np.array(["left", "middle", "right"])
    y = names[np.searchsorted(edges, X[:, 0])]
    order = np.argsort(X[:, 0])
    lazy = [dask_array.from_array(a[order], chunks=(100, *a.shape[1:])) for a in (X, y)]
    settings = {**SMALL, "max_atoms": 30, "class_weight": "balanced"}
    model = DaskCOLKClassifier(client=pool, **settings).fit(*lazy)
    assert model.classes_.tolist() == names[:n_classes].tolist()
    assert model.score(X, y) > 0.9
    whole = COLKClassifier(class_weight="balanced", kernel=Gaussian(0.5), random_state=0)
    assert np.mean(model.predict(X) == whole.fit(X, y).predict(X)) > 0.9
    lazy_values = model.predict_proba(lazy[0])
    assert lazy_values.shape == (1200, n_classes)
    np.testing.assert_array_equal(lazy_values.compute(), model.local_.predict_proba(X[order]))
    with pytest.raises(ValueError, match="'balanced' needs all data"):
        model.local_.partial_fit(X[:10], y[:10])


def test_quantiles_of_all_rows(pool):
    model = DaskCOLKQuantileRegressor((0.2, 0.8), client=pool, **SMALL).fit(X, Y)
    low, high = model.predict(X).T
    assert np.mean(low > Y) == pytest.approx(0.2, abs=0.03)
    assert np.mean(high > Y) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("level", [0.01, 0.5, 0.83, 1.0])
def test_quantiles_by_counts(pool, level):
    values = np.concatenate([np.repeat(-3.0, 10), RNG.normal(size=200) ** 3, [1e6]])
    share = np.full(len(values), 1.0 / len(values))
    sources = [Stored(values[k::4, None], values[k::4], share[k::4]) for k in range(4)]
    blocks = ExecutorParts(pool, sources).derive(as_block)
    found = quantile_of_blocks(blocks, [values[k::4] for k in range(4)], level)
    expected = np.sort(values)[int(np.ceil(level * len(values) - 1e-9)) - 1]
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("risk", ["cvar", "variance", "entropic"])
def test_risks(pool, risk):
    lazy = [dask_array.from_array(a, chunks=(300, *a.shape[1:])) for a in (X, Y)]
    model = regressor(client=pool, risk=risk, risk_path=False).fit(*lazy).local_
    assert model.score(X, Y) > 0.8
    whole = colk.COLKRegressor(
        kernel=Gaussian(0.5), max_atoms=20, random_state=0, risk=risk, risk_path=False
    ).fit(X, Y)
    losses = [
        m.loss_.value(m.encode_targets(m.predict(X)), m.encode_targets(Y)) for m in (model, whole)
    ]
    values = [model.risk_.value(each) for each in losses]
    assert values[0] < 1.2 * values[1]


def test_settings_are_those_of_the_local_estimator():
    model = regressor(loss="squared")
    assert clone(model).get_params() == model.get_params()
    names = set(colk.COLKRegressor().get_params())
    assert set(model.get_params(deep=False)) == names | {"client", "sample_size", "progress"}
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        DaskCOLKRegressor(losss="squared")
    assert DaskCOLKQuantileRegressor((0.1, 0.9)).quantiles == (0.1, 0.9)


def test_progress_is_shown(pool):
    seen = []
    lazy = [dask_array.from_array(a, chunks=(300, *a.shape[1:])) for a in (X, Y)]
    regressor(client=pool, progress=lambda *step: seen.append(step)).fit(*lazy)
    assert ("summarise_rows", 4, 4) in seen
    assert ("sums_block", 1, 4) in seen


def test_a_fitted_model_is_saved_and_goes_on(pool, tmp_path):
    model = regressor(client=pool).fit(X, Y)
    colk.save(model.local_, tmp_path / "m.colk")
    again = colk.load(tmp_path / "m.colk")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    again.partial_fit(X[:50], Y[:50])


def test_import_loads_no_dask():
    """Neither the package nor a module of `colk.distributed` imports dask before it is used."""
    code = "import sys, colk; assert not {'dask', 'distributed'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    for path in Path(colk.distributed.__file__).parent.glob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [getattr(node, "module", None) or "", *(each.name for each in node.names)]
                tops = {name.partition(".")[0] for name in names}
                assert not tops & {"dask", "distributed", "cloudpickle", "pandas"}, path
