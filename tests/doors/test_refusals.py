"""What a door cannot do, it refuses by name; it drops nothing without a word."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from colk import COLKQuantileRegressor, COLKRegressor
from colk.cli import main
from colk.distributed import DaskCOLKRegressor
from colk.losses import Quantiles
from colk.risks import AUC
from colk.tabular import TableModel
from colk.tabular.reading import Source

RNG = np.random.default_rng(0)
N = 300
FRAME = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N)})
CITY, DAY = RNG.choice(["Bonn", "Rome"], N), pd.date_range("2024-01-01", periods=N)
Y = FRAME["a"].to_numpy() + 2.0 * (CITY == "Bonn")
LABELS, GROUPS, WEIGHTS = np.where(Y > 1.0, "p", "q"), np.arange(N) % 3, RNG.uniform(0, 2, N)
X = FRAME.to_numpy()
COLUMNS = {"a": X[:, 0], "b": X[:, 1]}
BATCHES = [(X[:150], Y[:150]), (X[150:], Y[150:])]
QUICK = {"kernel": "gaussian", "max_atoms": 10}


def regressor(**more):
    return COLKRegressor(**QUICK, random_state=0, **more)


def table(task="regression", **more):
    return TableModel("y", ["a", "b"], task=task, **QUICK, **more)


def written(frame, folder):
    path = folder / "rows.csv"
    frame.assign(y=Y).to_csv(path, index=False)
    return str(path)


# -- a file: every column and every row counts ------------------------------------------------


@pytest.mark.parametrize(("name", "column"), [("city", CITY), ("day", DAY)])
def test_a_column_of_a_file_is_not_dropped(name, column, tmp_path):
    frame = FRAME.assign(**{name: column})
    model = regressor().fit(Source([written(frame, tmp_path)]), "y")
    assert model.n_features_in_ == 3
    assert name in " ".join(model.encoder_.names)
    assert model.predict(frame).shape == (N,)


def test_a_row_of_a_file_with_a_gap_is_not_dropped(tmp_path):
    frame = FRAME.copy()
    frame.loc[:50, "b"] = np.nan
    found = regressor().fit(Source([written(frame, tmp_path)]), "y")
    assert "b is missing" in found.encoder_.names
    assert np.array_equal(found.predict(frame), regressor().fit(frame, Y).predict(frame))


def test_batches_may_have_gaps():
    holed = X.copy()
    holed[:50, 1] = np.nan
    model = regressor().fit([(holed[:150], Y[:150]), (holed[150:], Y[150:])])
    assert np.array_equal(model.predict(holed), regressor().fit(holed, Y).predict(holed))


def test_batches_files_and_partitions_have_several_outputs(tmp_path):
    both = np.column_stack([Y, Y**2])
    path = str(tmp_path / "two.csv")
    FRAME.assign(u=both[:, 0], v=both[:, 1]).to_csv(path, index=False, float_format="%.17g")
    expected = regressor().fit(FRAME, both).predict(FRAME)
    batches = [(FRAME[:150], both[:150]), (FRAME[150:], both[150:])]
    with ThreadPoolExecutor(1) as pool:
        partitions = DaskCOLKRegressor(client=pool, random_state=0, **QUICK)
        models = {
            "batches": regressor().fit(batches),
            "file": regressor().fit(Source([path]), ["u", "v"]),
            "arrays": partitions.fit(X, both).local_,
            "files": partitions.fit([path], ["u", "v"]).local_,
        }
    for name, model in models.items():
        points = X if name == "arrays" else FRAME
        np.testing.assert_allclose(model.predict(points), expected, rtol=1e-10, err_msg=name)


# -- what a door cannot take ------------------------------------------------------------------


@pytest.mark.parametrize("door", ["batches", "file"])
def test_weights_beside_batches_are_refused(door, tmp_path):
    with Source([written(FRAME, tmp_path)]) as source:
        given = (BATCHES, None) if door == "batches" else (source, "y")
        with pytest.raises(ValueError, match="sample_weight"):
            regressor().fit(*given, sample_weight=WEIGHTS)


def test_groups_beside_batches_are_refused():
    with pytest.raises(ValueError, match="groups"):
        regressor().fit(BATCHES, groups=GROUPS)


def test_groups_beside_another_risk_are_refused():
    with pytest.raises(ValueError, match="groups"):
        regressor().fit(X, Y, groups=GROUPS)


NEEDS_ALL_GROUPS = {
    "batches": lambda pool: regressor(risk="group").fit(BATCHES),
    "partial_fit": lambda pool: regressor(risk="group").partial_fit(X, Y),
    "TableModel": lambda pool: table(risk="group").fit([(COLUMNS, Y)]),
    "Dask": lambda pool: DaskCOLKRegressor(client=pool, risk="group", **QUICK).fit(X, Y),
}


@pytest.mark.parametrize("door", NEEDS_ALL_GROUPS)
def test_the_risk_of_groups_needs_all_rows_at_once(door):
    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="GroupRisk"):
        NEEDS_ALL_GROUPS[door](pool)


NEEDS_LABELS = {
    "data frame": lambda: regressor(risk="auc").fit(FRAME, Y),
    "batches": lambda: regressor(risk="auc").fit(BATCHES),
    "TableModel": lambda: table(risk="auc").fit([(COLUMNS, Y)]),
}


@pytest.mark.parametrize("door", NEEDS_LABELS)
def test_the_auc_needs_two_classes(door):
    with pytest.raises(ValueError, match="AUC"):
        NEEDS_LABELS[door]()


@pytest.mark.parametrize("risk", ["auc", AUC()], ids=str)
def test_a_table_has_no_auc(risk):
    with pytest.raises(ValueError, match="AUC"):
        table("classification", loss="logistic", risk=risk).fit([(COLUMNS, LABELS)])


@pytest.mark.parametrize(("risk", "name"), [("auc", "AUC"), ("group", "GroupRisk")])
def test_the_command_names_the_risk_that_it_refuses(risk, name, tmp_path, capsys):
    path = written(FRAME, tmp_path)
    line = ["fit", path, "--target=y", f"--risk={risk}", "--model", str(tmp_path / "m.colk")]
    assert main(line) == 2
    assert name in capsys.readouterr().err


def test_a_table_names_the_class_that_has_quantiles():
    with pytest.raises(ValueError, match="COLKQuantileRegressor"):
        table(loss=Quantiles((0.1, 0.9))).fit([(COLUMNS, Y)])


def test_a_table_names_the_class_that_has_several_outputs():
    with pytest.raises(TypeError, match="COLKRegressor"):
        TableModel(["u", "v"], ["a", "b"])


def test_a_source_needs_the_name_of_its_target(tmp_path):
    path, message = written(FRAME, tmp_path), "name of its target"
    with Source([path]) as source, pytest.raises(TypeError, match=message):
        regressor().fit(source)


def test_a_table_takes_weights_or_names_them():
    model = table()
    try:
        model.fit([(COLUMNS, Y, WEIGHTS)])
    except ValueError as error:
        assert "weight" in str(error)  # noqa: PT017  (the other outcome is a fit)
    else:
        expected = regressor().fit(FRAME, Y, WEIGHTS).predict(FRAME)
        assert np.allclose(model.predict(COLUMNS), expected, rtol=1e-10)


def test_partitions_cannot_leave_out_the_polish():
    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="polish"):
        DaskCOLKRegressor(client=pool, polish=False, **QUICK).fit(X, Y)


@pytest.mark.parametrize("kind", [COLKRegressor, COLKQuantileRegressor])
def test_an_iterator_is_refused(kind):
    with pytest.raises(TypeError, match="only once"):
        kind(**QUICK).fit(iter(BATCHES))
