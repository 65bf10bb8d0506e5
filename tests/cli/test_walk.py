"""A 50,000-row table through all commands, as a user would run them."""

import re

import numpy as np
import pandas as pd
import pytest
from orders_table import columns, write

import colk as package
from colk.cli.figures import features

N = 1500
# What these tests read does not depend on the kernel.
QUICK = ("--kernel", "laplacian", "--max-atoms", "100")


@pytest.fixture(scope="module")
def frame(tmp_path_factory):
    """Rows of the table of orders as a data frame, whose dates are text."""
    path = tmp_path_factory.mktemp("orders") / "orders.csv"
    write(path, columns(N, 5))
    return pd.read_csv(path)


@pytest.fixture(scope="module")
def model(frame, tmp_path_factory):
    from colk.cli import main

    folder = tmp_path_factory.mktemp("model")
    frame.to_csv(folder / "orders.csv", index=False)
    options = ["--target", "amount", "--id", "order", "--model", str(folder / "m.colk")]
    assert main(["fit", str(folder / "orders.csv"), *options]) == 0
    return folder / "m.colk"


@pytest.mark.parametrize("kind", ["text", "category"])
def test_text_dates_of_parquet_are_dates(colk, frame, tmp_path, model, kind):
    path = tmp_path / "orders.parquet"
    frame.astype({"when": kind} if kind == "category" else {}).to_parquet(path)
    options = ("--target", "amount", "--id", "order", "--model", tmp_path / "p.colk")
    _, out, _ = colk("fit", path, *options, *QUICK)
    assert re.search(r"when +dates +\d % +date: ", out)
    assert package.load(tmp_path / "p.colk").columns == package.load(model).columns
    table = frame.copy()
    table.loc[[3, 8], "when"] = "soon"
    table.to_parquet(path)
    rejects = tmp_path / "rejects.csv"
    code, out, error = colk("predict", tmp_path / "p.colk", path, "--rejects", rejects)
    assert (code, len(out.splitlines())) == (0, N + 1)
    assert "2 rows have no prediction" in error
    assert rejects.read_text().splitlines()[1:] == [
        f"{path},{row},\"when is 'soon', not a date or time\"" for row in (4, 9)
    ]
    assert out.splitlines()[4] == "3,"


def test_texts_that_are_no_dates_stay_categories(colk, frame, tmp_path):
    path = tmp_path / "orders.parquet"
    frame.assign(code=np.where(frame.index % 3, "12", "a")).to_parquet(path)
    options = ("--target", "amount", "--id", "order", "--model", tmp_path / "p.colk")
    _, out, _ = colk("fit", path, *options, *QUICK)
    assert re.search(r"code +text, 2 values +0 % +category", out)
    assert re.search(r"shop +text, 12 values +\d % +category", out)


def test_every_command_finds_the_format(colk, frame, tmp_path, model):
    usual, path = tmp_path / "usual.csv", tmp_path / "new.csv"
    frame.to_csv(usual, index=False)
    frame.to_csv(path, index=False, sep=";", decimal=",", encoding="utf-16")
    found = "--encoding utf-16 --delimiter ';' --decimal ,"
    code, out, error = colk("predict", model, path)
    assert (code, f"colk: found {found}\n") == (0, error)
    assert out == colk("predict", model, usual)[1]
    code, out, _ = colk("evaluate", model, path)
    assert code == 0
    assert f"found    {found}\n" in out
    assert out.split("\n\n")[1] == colk("evaluate", model, usual)[1].split("\n\n")[1]


def test_decimal_commas_are_noticed(colk, frame, tmp_path):
    path = tmp_path / "new.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",")
    options = ("--decimal", ".", "--model", tmp_path / "c.colk")
    code, _, error = colk("fit", path, "--target", "amount", *options)
    assert code == 2
    assert "the target amount has decimal commas; add --decimal ," in error
    frame.assign(amount=frame.amount.round()).astype({"amount": int}).to_csv(
        path, index=False, sep=";", decimal=","
    )
    _, out, _ = colk(
        "fit", path, "--target", "amount", *options, "--features", "price,shop", *QUICK
    )
    assert re.search(r"price +text, \d+ values +\d % +category; for decimal commas add", out)
    assert re.search(r"shop +text, 12 values +\d % +category\n", out)


def test_a_quantile_is_judged_by_its_loss(colk, frame, tmp_path):
    path, model = tmp_path / "orders.csv", tmp_path / "q.colk"
    frame.to_csv(path, index=False)
    options = ("--target", "amount", "--exclude", "order", "--loss", "pinball(0.9)")
    assert colk("fit", path, *options, "--model", model, *QUICK)[0] == 0
    page = tmp_path / "page.html"
    _, out, _ = colk("evaluate", model, path, "--report", page)
    head, found, *others = (re.split(r"  +", line) for line in out.split("\n\n")[1].splitlines())
    assert head[-2:] == ["pinball loss", "share below"]
    colk("predict", model, path, "--out", tmp_path / "p.csv")
    residuals = frame.amount - pd.read_csv(tmp_path / "p.csv").prediction
    loss = np.maximum(0.9 * residuals, -0.1 * residuals).mean()
    assert float(found[-2]) == pytest.approx(loss, rel=1e-3)
    assert float(found[-1]) == pytest.approx((residuals <= 0.0).mean(), abs=1e-4)
    assert all(float(other[-2]) > loss for other in others)
    assert "quantile of level 0.9" in page.read_text()


def test_changes_between_fit_and_predict(colk, frame, tmp_path, model):
    """A missing column or another type is one error; order and further columns do not matter."""
    path, out = tmp_path / "new.csv", tmp_path / "out.csv"

    def predict(table):
        table.to_csv(path, index=False)
        code, _, error = colk("predict", model, path, "--out", out)
        return code, error

    assert predict(frame)[0] == 0
    expected = out.read_text()
    assert predict(frame[frame.columns[::-1]].assign(more=1))[0] == 0
    assert out.read_text() == expected
    out.unlink()
    for changed, message in (
        (frame.drop(columns="shop"), "new.csv has no column 'shop'; it has order, when, product"),
        (frame.rename(columns={"shop": "Shop"}), "new.csv has no column 'shop'"),
        (frame.assign(price="cheap"), "no row could be predicted; first reason: "),
        (frame.assign(when=range(N)), "line 2: when is '0', not a date or time"),
    ):
        code, error = predict(changed)
        assert code == 2
        assert message in error
        assert not out.exists()
    assert predict(frame.assign(shop=range(N)))[0] == 0  # unknown values are "other"


def test_a_date_is_drawn_at_one_hour_of_the_day(model):
    """The amounts have a cycle of a day, whose few samples looked like slow waves."""
    from matplotlib.figure import Figure

    figure = Figure()
    features(package.load(model))[0](figure)
    panel = next(axes for axes in figure.axes if axes.get_xlabel() == "when")
    years, values = panel.lines[0].get_data()
    weeks = np.diff(years) * 365.2425 / 7.0
    np.testing.assert_allclose(weeks, np.round(weeks), atol=1e-6)
    turns = np.count_nonzero(np.diff(np.sign(np.diff(values))))
    assert turns < 12  # three years
